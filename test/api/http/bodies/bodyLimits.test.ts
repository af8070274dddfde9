// Bodies that are too long, too wide or too deep are refused before any work, with a sentence that names the
// member and the limit.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'vitest';
import { CONTROL_BYTES_MAX, DATASET_BYTES_MAX } from '../../../../reads/request/bodyLimits.ts';
import { loaded, read, send } from '../../../base/client.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

const ADMIN = 'ak_00000000000000000000000000000003';
const LOGS = [{ method: 'logs', frequency: 60 }];

const rule = (count: number): object => ({
  ruleSet: 'AAA',
  ruleName: 'r',
  outputs: LOGS,
  conditions: Array.from({ length: count }, () => ['latestPrice', '>', 1]),
});
const dataset = (members: object): object => ({
  dataset: { schema: { properties: { a: { type: 'number' } } }, ...members },
});
const range = (property: unknown): object => ({ range: { property, min: 1 } });
const filled = <Item>(length: number, item: Item): readonly Item[] =>
  Array.from({ length }, () => item);

interface Refused {
  readonly name: string;
  readonly path: string;
  readonly body: object | string;
  readonly status: number;
  readonly pattern: RegExp;
}

const nested = `${'['.repeat(200)}1${']'.repeat(200)}`;

const REFUSED: readonly Refused[] = [
  {
    name: 'a rule of 40,000 conditions',
    path: '/rules/create',
    body: rule(4e4),
    status: 413,
    pattern: /the body is over 65536 bytes, the most that this request may have/,
  },
  {
    name: 'a rule of 101 conditions',
    path: '/rules/create',
    body: rule(101),
    status: 400,
    pattern: /^conditions must not have more than 100 items/,
  },
  {
    name: 'a dataset of 40,000 expectations',
    path: '/datasets/WS/D',
    body: dataset({ expectations: filled(4e4, range('a')) }),
    status: 413,
    pattern: /the body is over 1048576 bytes/,
  },
  {
    name: 'a dataset of 101 expectations with faults',
    path: '/datasets/WS/D',
    body: dataset({ expectations: filled(101, range(1)) }),
    status: 400,
    pattern: /"dataset\.expectations must not have more than 100 items \(/,
  },
  {
    name: '100 expectations with a fault each',
    path: '/datasets/WS/D',
    body: dataset({ expectations: filled(100, range(1)) }),
    status: 400,
    pattern:
      /expectations\.0\.range\.property must be string; .*expectations\.2\..*; and 97 more \(/,
  },
  {
    name: 'a body with too many values',
    path: '/datasets/WS/D',
    body: dataset({ required: filled(25e3, 1) }),
    status: 400,
    pattern: /the body has more than 20000 values/,
  },
  {
    name: 'a deeply nested output of a rule',
    path: '/rules/create',
    body: JSON.stringify({
      ...rule(1),
      outputs: [{ method: 'HOLE' }],
    }).replace('"HOLE"', nested),
    status: 400,
    pattern: /the body is nested more than 32 levels deep/,
  },
  {
    name: 'a form of many members',
    path: '/rules/pause',
    body: Object.fromEntries(filled(1001, 1).map((value, at) => [`m${at}`, value])),
    status: 400,
    pattern: /the body must have at most 1000 members/,
  },
  {
    name: 'a batch of an agent',
    path: '/../mcp',
    body: filled(21, {
      jsonrpc: '2.0',
      id: 1,
      method: 'ping',
    }),
    status: 400,
    pattern: /a batch has at most 20 messages/,
  },
  {
    name: 'a nested message of an agent',
    path: '/../mcp',
    body: nested,
    status: 400,
    pattern: /the body is nested more than 32 levels deep/,
  },
];

async function sent(server: TestServer, path: string, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const url = new URL(`/v1${path}`, server.base);
  return fetch(url, { method: 'POST', headers, body });
}

test('a body that is too long, too wide or too deep is refused with the member and the limit', async () => {
  await using server = await startServer();
  for (const { body, name, path, pattern, status } of REFUSED) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await sent(server, path, text);
    const errorText = await answer.text();
    assert.equal(answer.status, status, `${name}: ${errorText.slice(0, 300)}`);
    assert.match(errorText, pattern, name);
    assert.ok(errorText.length < 1_000, `${name}: ${errorText.length} characters`);
  }
});

/** The status line and body of the answer to a body without a length header. */
async function sentInPieces(server: TestServer, path: string, body: string): Promise<string> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const { promise, reject, resolve } = Promise.withResolvers<string>();
  const url = new URL(`/v1${path}`, server.base);
  const outgoing = request(url, { method: 'POST', headers }, (answer) => {
    textOf(answer).then((text) => resolve(`${answer.statusCode} ${text}`), reject);
  });
  outgoing.on('error', reject).flushHeaders();
  outgoing.end(body);
  return promise;
}

test('the length of a body without a header is checked while it is read', async () => {
  await using server = await startServer();
  const padded = (bytes: number): string => {
    const body = JSON.stringify(rule(1));
    return body + ' '.repeat(bytes - body.length);
  };
  const path = '/rules/create';
  assert.match(await sentInPieces(server, path, padded(CONTROL_BYTES_MAX)), /^200 \{"id"/);
  assert.match(
    await sentInPieces(server, path, padded(CONTROL_BYTES_MAX + 1)),
    /^413 .*65536 bytes/,
  );
});

test('a dataset of the maximum width is created', async () => {
  await using server = await startServer();
  const names = Array.from({ length: 1_000 }, (_, at) => `property ${at} ${'x'.repeat(100)}`);
  const decimal = { type: 'number', format: 'decimal', precision: 10, scale: 2 };
  const properties = Object.fromEntries(names.map((name) => [name, decimal]));
  const values = Array.from({ length: 100 }, (_, at) => at);
  const expectations = names.slice(0, 100).map((property) => ({ oneOf: { property, values } }));
  const body = { dataset: { schema: { properties }, expectations } };
  assert.ok(JSON.stringify(body).length < DATASET_BYTES_MAX);
  const { status, text } = await send(server, 'POST', '/datasets/WS/WIDE', body);
  assert.equal(status, 200, text);
});

test('a push of records that are too deep or too many becomes a load', async () => {
  await using server = await startServer();
  await loaded(server, 'D', 'symbol,date,v\nA,2024-01-01,1\n');
  const records = Array.from({ length: 15_000 }, (_, v) => ({
    symbol: 'B',
    date: '2024-01-02',
    v,
  }));
  const many = await send(server, 'POST', '/record/WS/D?duplicates=keep-all', records);
  assert.equal(many.status, 200, many.text);
  assert.match(many.text, /"stored":15000/);
  const deep = `[{"symbol":"C","date":"2024-01-02","v":1,"w":${nested}}]`;
  const answer = await sent(server, '/record/WS/D', deep);
  const answerText = await answer.text();
  assert.equal(answer.status, 200, answerText);
  assert.match(await read(server, '/data/WS/D/C'), /"v":1/);
});

test('an invalid folder path holds no backup', async () => {
  await using server = await startServer({ settings: { TAPEDECK_ADMIN_TOKEN: ADMIN } });
  for (const from of ['\0', 'x'.repeat(4_000), '/etc/passwd']) {
    const headers = { authorization: `Bearer ${ADMIN}` };
    const url = `${server.base}/v1/admin/heal`;
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ from }) });
    const errorText = await answer.text();
    assert.equal(answer.status, 400, errorText);
    assert.match(errorText, /holds no backup: nothing was healed/);
  }
});
