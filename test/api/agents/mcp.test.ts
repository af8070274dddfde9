// Agents through the protocol's own client: what they find, query and pay, and where they are refused.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startServer, type TestServer } from '../../base/server.ts';
import { loaded, send } from '../../base/client.ts';
import { READ_ALL } from '../../../store/accounts/tokens.ts';
import { test } from '../../base/fixtures.ts';

interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  readonly messages: number;
  readonly left: number | null;
}

interface Agent extends AsyncDisposable {
  readonly client: Client;
  readonly call: (name: string, input?: Readonly<Record<string, unknown>>) => Promise<ToolAnswer>;
}

async function agentOf(server: TestServer, token: string): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${token}` };
  const url = new URL(`${server.base}/mcp`);
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  // The SDK's own type does not allow for exact optional members.
  await client.connect(transport);
  const call: Agent['call'] = async (name, input = {}) => {
    const answer = await client.callTool({ name, arguments: input });
    const [first] = answer.content as readonly { readonly text: string }[];
    const usage = answer._meta as {
      readonly messages: number;
      readonly messagesLeft: number | null;
    };
    const isError = answer.isError === true;
    return { text: first?.text ?? '', isError, messages: usage.messages, left: usage.messagesLeft };
  };
  return { client, call, [Symbol.asyncDispose]: () => client.close() };
}

const ROWS = Array.from(
  { length: 40 },
  (_, at) => `A,2024-01-${String(1 + (at % 28)).padStart(2, '0')},${at}`,
);

async function withPrices(server: TestServer): Promise<void> {
  const days = [...new Map(ROWS.map((row) => [row.slice(0, 12), row])).values()];
  await loaded(server, 'PRICES', `symbol,date,close\n${days.join('\n')}\n`, {
    key: 'symbol',
    date: 'date',
  });
}

test('tools and prompts are listed, each with its schema', async ({ server }) => {
  await using agent = await agentOf(server, server.publishable);
  const { tools } = await agent.client.listTools();
  assert.equal(tools.length, 12);
  for (const { annotations, description = '', inputSchema } of tools) {
    assert.equal(inputSchema.type, 'object');
    assert.ok(description.length > 20);
    assert.equal(annotations?.readOnlyHint, true);
  }
  const { prompts } = await agent.client.listPrompts();
  assert.ok(prompts.some(({ name }) => name === 'explore_dataset'));
  const prompt = await agent.client.getPrompt({
    name: 'explore_dataset',
    arguments: { workspace: 'WS', dataset: 'PRICES' },
  });
  assert.match(JSON.stringify(prompt.messages), /WS\.PRICES/);
  await assert.rejects(agent.client.getPrompt({ name: 'explore_dataset', arguments: {} }));
  assert.match(agent.client.getInstructions() ?? '', /estimate/);
});

test('an agent searches, samples, estimates, queries and reads, and is charged the reported cost', async ({
  server,
}) => {
  await withPrices(server);
  await using agent = await agentOf(server, server.secret);
  const searchResult = await agent.call('search_datasets', { text: 'close symbol' });
  assert.match(searchResult.text, /^WS\.PRICES \(1 a record; key=symbol date=date\)/);
  assert.equal(searchResult.messages, 0);
  const described = await agent.call('describe_dataset', { workspace: 'ws', dataset: 'prices' });
  assert.match(described.text, /"close"/);
  const sample = await agent.call('sample_records', {
    workspace: 'WS',
    dataset: 'PRICES',
    count: 2,
  });
  assert.equal(sample.messages, 2);
  const sql = 'SELECT count(*) AS n, max(close) AS top FROM PRICES';
  const estimated = await agent.call('estimate_cost', { workspace: 'WS', sql });
  assert.equal(estimated.messages, 0);
  assert.match(estimated.text, /"messages":1/);
  const queryResult = await agent.call('query_sql', { workspace: 'WS', sql });
  assert.match(queryResult.text, /^n,top\n28,39\n\ncost: 1 messages/);
  const series = await agent.call('read_series', {
    workspace: 'WS',
    dataset: 'PRICES',
    key: 'A',
    from: '2024-01-03',
    to: '2024-01-05',
    columns: 'date,close',
  });
  assert.equal(series.messages, 3);
  assert.equal(series.text.split('\n')[0], 'date,close');
  const usage = await send(server, 'GET', '/account/usage/messages');
  const { monthlyUsage } = JSON.parse(usage.text) as { readonly monthlyUsage: number };
  assert.equal(monthlyUsage, 2 + 1 + 3);
});

test('rows that do not fit are cut, and their count is reported', async ({ server }) => {
  await withPrices(server);
  await using agent = await agentOf(server, server.publishable);
  const input = { workspace: 'WS', sql: 'SELECT * FROM PRICES ORDER BY date', rows: 5 };
  const { messages, text } = await agent.call('query_sql', input);
  assert.equal(messages, 28);
  assert.match(text, /… 23 more of 28 rows were charged, and are not shown/);
  const short = await agent.call('query_sql', { ...input, rows: 100, characters: 200 });
  assert.ok(short.text.length < 500, short.text);
});

test("a token's limit applies to the agent: a call above it is refused with the reason", async ({
  server,
}) => {
  await withPrices(server);
  const { accounts } = server.tapedeck.services;
  const limitedToken = await accounts.createToken(server.tapedeck.accountId, 'publishable', {
    grants: READ_ALL,
    messageLimit: 10,
  });
  await using agent = await agentOf(server, limitedToken.text);
  const first = await agent.call('sample_records', {
    workspace: 'WS',
    dataset: 'PRICES',
    count: 8,
  });
  assert.equal(first.left, 2);
  assert.match(first.text, /cost: 8 messages; left: 2 of 10 messages this month$/);
  const second = await agent.call('sample_records', {
    workspace: 'WS',
    dataset: 'PRICES',
    count: 8,
  });
  assert.equal(second.isError, true);
  assert.match(second.text, /limit of this token/);
  assert.equal(second.messages, 0);
  const dear = await agent.call('query_sql', {
    workspace: 'WS',
    sql: 'SELECT * FROM PRICES',
    maxMessages: 5,
  });
  assert.match(dear.text, /maxMessages/);
  assert.equal(
    (await agent.call('allowance')).text.split('\n')[0],
    'left: 2 of 10 messages this month',
  );
});

test('an error is a sentence for the agent', async ({ server }) => {
  await using agent = await agentOf(server, server.publishable);
  for (const [name, input, pattern] of [
    ['query_sql', { workspace: 'WS', sql: 'DELETE FROM PRICES' }, /SELECT/],
    ['query_sql', { workspace: 'WS', sql: 'SELECT * FROM NONE' }, /there is no dataset WS\.NONE/],
    ['query_sql', { workspace: 'WS' }, /sql/],
    ['query_sql', { workspace: 'WS', sql: 'SELECT 1', odd: 1 }, /odd/],
    ['read_series', { workspace: '../..', dataset: 'x' }, /refused/],
    ['test_rule', { symbol: 'A', conditions: [['latestPrice', '>', 1]] }, /secret/i],
    ['no_tool', {}, /there is no tool no_tool/],
    ['listen_once', { stream: 'a/b', symbols: ['A'] }, /stream/],
    ['describe_dataset', { workspace: 'WS', dataset: 'NONE' }, /there is no dataset WS\.NONE/],
  ] as const) {
    const { isError, messages, text } = await agent.call(name, input);
    assert.equal(isError, true, `${name}: ${text}`);
    assert.match(text, pattern);
    assert.equal(messages, 0);
  }
});

test('without a token, or with a wrong one, no data is returned', async ({ server }) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const post = (headers: Readonly<Record<string, string>>, text = body): Promise<Response> =>
    fetch(`${server.base}/mcp`, { method: 'POST', headers, body: text });
  const none = await post({});
  assert.equal(none.status, 401);
  assert.equal(none.headers.get('www-authenticate'), 'Bearer');
  assert.equal((await post({ authorization: 'Bearer pk_0000000000000000' })).status, 403);
  const good = { authorization: `Bearer ${server.publishable}` };
  assert.equal((await post(good, 'no json')).status, 400);
  assert.equal((await post(good, 'x'.repeat(5_000_000))).status, 413);
  assert.equal((await fetch(`${server.base}/mcp`)).status, 405);
});

test('an agent listens for a moment', async ({ server }) => {
  await using agent = await agentOf(server, server.secret);
  const input = { stream: 'last', symbols: ['NONE'], seconds: 1 };
  const { text } = await agent.call('listen_once', input);
  assert.match(text, /^nothing happened/);
  const { board } = server.tapedeck.services.streams;
  const trade = { kind: 'trade', symbol: 'HEARD', price: 9.5, size: 1, tradeId: '1' } as const;
  board.apply({ ...trade, timeMs: Date.now() });
  const heard = await agent.call('listen_once', { ...input, symbols: ['HEARD'] });
  assert.match(heard.text, /"price":9\.5/);
});

test('quotes name the unknown symbols', async ({ server }) => {
  const url = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}`;
  const body = 'symbol,date,close\nAAA,2024-01-02,5\n';
  assert.equal((await fetch(url, { method: 'POST', body })).status, 200);
  await using agent = await agentOf(server, server.secret);
  const { text } = await agent.call('get_quotes', { symbols: ['aaa', 'NOSUCH'] });
  assert.match(text, /"latestPrice":5/);
  assert.match(text, /^unknown symbols: NOSUCH$/m);
});

test('address and referrer limits of a token apply to the agent, not to the server', async ({
  server,
}) => {
  await withPrices(server);
  const { accounts } = server.tapedeck.services;
  const { accountId } = server.tapedeck;
  const grants = READ_ALL;
  const sample = { workspace: 'WS', dataset: 'PRICES', count: 1 };
  const elsewhere = await accounts.createToken(accountId, 'publishable', {
    grants,
    addresses: ['192.0.2.1'],
  });
  const page = await accounts.createToken(accountId, 'publishable', {
    grants,
    referrers: ['https://good.example/*'],
  });
  for (const { text } of [elsewhere, page]) {
    await using agent = await agentOf(server, text);
    for (const [tool, input] of [
      ['sample_records', sample],
      ['listen_once', { stream: 'last', symbols: ['A'], seconds: 1 }],
    ] as const) {
      const result = await agent.call(tool, input);
      assert.equal(result.isError, true, result.text);
      assert.equal(result.messages, 0);
    }
  }
});

test('two concurrent agents share a limit, and do not exceed it together', async ({ server }) => {
  await withPrices(server);
  const { accounts, ledger } = server.tapedeck.services;
  const limitedToken = await accounts.createToken(server.tapedeck.accountId, 'publishable', {
    grants: READ_ALL,
    messageLimit: 20,
  });
  await using one = await agentOf(server, limitedToken.text);
  await using other = await agentOf(server, limitedToken.text);
  const input = { workspace: 'WS', dataset: 'PRICES', count: 7 };
  const calls = [one, other, one, other, one, other];
  const results = await Promise.all(calls.map((agent) => agent.call('sample_records', input)));
  const paid = results.reduce((sum, { messages }) => sum + messages, 0);
  assert.ok(paid <= 20, String(paid));
  await ledger.flush();
  assert.equal(ledger.allowance(accounts.callerById(limitedToken.tokenId)).used, paid);
});

test('pages of other origins are refused', async ({ server }) => {
  const { host, port } = new URL(server.base);
  const post = async (headers: Readonly<Record<string, string>>, method = 'POST') =>
    new Promise<number>((resolve, reject) => {
      const authorization = `Bearer ${server.publishable}`;
      const sent = request(`${server.base}/mcp`, {
        method,
        headers: { authorization, ...headers },
      });
      sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
      sent.on('error', reject);
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }));
    });
  assert.equal(await post({}), 200, 'a program sends no origin');
  assert.equal(await post({ origin: server.base }), 200, 'a page of the server');
  const local = `localhost:${port}`;
  assert.equal(await post({ origin: `http://${local}`, host: local }), 200);
  const rebound = `rebound.example:${port}`;
  assert.equal(await post({ origin: `http://${rebound}`, host: rebound }), 403, 'DNS rebinding');
  for (const origin of [
    'https://other.example',
    'null',
    `http://${local}`,
    'http://',
    `ftp://${host}x`,
  ]) {
    assert.equal(await post({ origin }), 403, origin);
    assert.equal(await post({ origin }, 'GET'), 403, origin);
  }
  assert.equal(await post({}, 'GET'), 405);
});

test('an origin that the operator allows is answered', async () => {
  const allowed = 'https://app.example.com, http://localhost:3000';
  await using server = await startServer({ settings: { TAPEDECK_MCP_ORIGINS: allowed } });
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const status = async (origin: string): Promise<number> => {
    const headers = { authorization: `Bearer ${server.publishable}`, origin };
    return (await fetch(`${server.base}/mcp`, { method: 'POST', headers, body: ping })).status;
  };
  assert.equal(await status('https://app.example.com'), 200);
  assert.equal(await status('http://localhost:3000'), 200);
  assert.equal(await status('http://localhost:3001'), 403);
});
