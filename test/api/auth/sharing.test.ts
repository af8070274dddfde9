// A dataset that its owner shares with another account: it is readable at every endpoint under the owner's
// terms, and by no third account. An unshared dataset does not exist for others.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loaded, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
/** Tokens of the account with the share, and of one without it. */
let reader = { accountId: '', token: '', publishable: '' };
let stranger = { accountId: '', token: '', publishable: '' };
beforeAll(async () => {
  server = await startServer({ seams: { watch: false } });
  const rows = ['A,2024-01-02,1', 'A,2024-01-03,2', 'B,2024-01-02,3'];
  for (const id of ['PRICES', 'OTHER']) {
    await loaded(server, id, `symbol,date,v\n${rows.join('\n')}\n`);
  }
  reader = await account('Blue Fund', 'launch');
  stranger = await account('Red Fund', 'launch');
});
afterAll(() => server.close());

async function account(name: string, tier: string): Promise<typeof reader> {
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount(name, tier);
  const { text: token } = await accounts.createToken(accountId, 'secret');
  const { text: publishable } = await accounts.createToken(accountId, 'publishable');
  return { accountId, token, publishable };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly messages: string | null;
}

async function ask(path: string, token = reader.token): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.base}/v1${path}`, { headers });
  const messages = answer.headers.get('svccloud-messages-used');
  return { status: answer.status, text: await answer.text(), messages };
}

const sql = (query: string, token?: string): Promise<Answer> =>
  ask(`/sql-query/CORE?sqlQuery=${encodeURIComponent(query)}`, token);

const share = async (accounts: readonly object[]): Promise<string> => {
  const access = { level: 'open', accounts };
  const { status, text } = await send(server, 'PATCH', '/datasets/WS/PRICES', { access });
  return status === 200 ? '' : `${status} ${text}`;
};

const DOORS = [
  '/data/WS/PRICES/A?last=9',
  '/time-series/WS.PRICES/A?last=9',
  '/datasets/WS/PRICES/versions',
  '/data-points/WS/PRICES',
];

test('a shared dataset is read at its price; an unshared one does not exist', async () => {
  const { accountId, token } = reader;
  const before = await ask('/data/WS/PRICES/A?last=9');
  expect(before.status).toBe(404);
  expect(await share([{ accountId, weight: 5 }])).toBe('');
  expect(await ask('/data/WS/PRICES/A?last=9')).toMatchObject({ status: 200, messages: '10' });
  expect(await ask('/time-series/ws.prices/A?last=9')).toMatchObject({
    status: 200,
    messages: '10',
  });
  const summed = await sql('SELECT sum(v) AS v FROM WS.PRICES');
  expect(summed).toMatchObject({ status: 200, text: '[{"v":6}]', messages: '15' });
  // Columns that are named by values would reveal the values before they are paid for.
  const pivot = await sql('PIVOT WS.PRICES ON symbol USING sum(v)');
  expect([pivot.status, pivot.text]).toEqual([400, expect.stringContaining('names its columns')]);
  const named = await sql(`PIVOT WS.PRICES ON symbol IN ('A') USING sum(v) GROUP BY date`);
  expect(named.status).toBe(200);
  expect((await ask('/data/WS/PRICES/A?last=9', server.secret)).messages).toBe('2');
  expect((await ask('/data/WS/PRICES', stranger.token)).status).toBe(404);
  expect((await sql('SELECT * FROM WS.PRICES', stranger.token)).text).toContain('no dataset');
  expect(server.tapedeck.services.ledger.balance(accountId).used).toBe(35 + Number(named.messages));
  expect(await share([])).toBe('');
  expect(await ask('/data/WS/PRICES/A?last=9')).toEqual(before);
  expect((await sql('SELECT * FROM WS.PRICES', token)).status).toBe(400);
});

test('nothing else of the workspace is visible or changeable', async () => {
  const { accountId } = reader;
  await share([{ accountId }]);
  for (const path of DOORS) {
    const other = path.replace('PRICES', 'OTHER');
    const none = path.replace('PRICES', 'NOTHING');
    const answers = [await ask(other), await ask(none)].map(({ status, text }) => [
      status,
      text.replace(/\([0-9A-F]+\)/, '').replaceAll('OTHER', 'NOTHING'),
    ]);
    expect([path, answers[0]]).toEqual([path, answers[1]]);
  }
  const changes: readonly (readonly [string, string, string])[] = [
    ['POST', '/data/WS/PRICES', 'symbol,date,v\nC,2024-01-02,1\n'],
    ['DELETE', '/data/WS/PRICES/A', ''],
    ['DELETE', '/datasets/WS/PRICES', ''],
    ['PATCH', '/datasets/WS/PRICES', '{"title":"mine"}'],
    ['POST', '/record/WS/PRICES', '[{"symbol":"C","date":"2024-01-02","v":1}]'],
  ];
  for (const [method, path, body] of changes) {
    const changed = async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` };
      const bodyInit = body === '' ? {} : { body };
      return (await fetch(`${server.base}/v1${path}`, { method, headers, ...bodyInit })).status;
    };
    const statuses = [await changed(reader.token), await changed(stranger.token)];
    expect([method, path, ...statuses]).toEqual([method, path, 404, 404]);
  }
  const listed = await ask('/data/WS');
  const names = (JSON.parse(listed.text) as { datasetId: string }[]).map((one) => one.datasetId);
  expect(names).toEqual(['PRICES']);
  expect(listed.text).not.toContain(accountId);
  const schemas = await sql(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = 'WS'`,
  );
  expect(schemas.text).toBe('[{"table_name":"PRICES"}]');
  expect((await ask('/datasets/WS/PRICES')).status).toBe(404);
});

test('its versions name no account and no job of the owner to its readers', async () => {
  const { accountId } = reader;
  const owner = server.tapedeck.accountId;
  await share([{ accountId }, { accountId: stranger.accountId }]);
  type Versions = readonly { readonly author: string; readonly jobId: string | null }[];
  const versionsFor = async (token: string): Promise<Versions> =>
    JSON.parse((await ask('/datasets/WS/PRICES/versions', token)).text) as Versions;
  const own = await versionsFor(server.secret);
  expect(own.some(({ author, jobId }) => author !== '' && jobId !== null)).toBe(true);
  const read = await versionsFor(reader.token);
  expect(read).toEqual(own.map((version) => ({ ...version, author: '', jobId: null })));
  for (const path of ['/data/WS', '/data/WS/PRICES?last=1', '/meta/WS/PRICES', ...DOORS]) {
    const { text } = await ask(path);
    for (const secret of [owner, stranger.accountId, ...own.map(({ jobId }) => jobId)]) {
      if (secret !== null) expect([path, text.includes(secret)]).toEqual([path, false]);
    }
  }
  await share([{ accountId }]);
});

test('a tier, a delay, and rights of the token', async () => {
  const { accountId, publishable, token } = reader;
  const { accounts } = server.tapedeck.services;
  await share([{ accountId, tier: 'grow' }]);
  expect((await ask('/data/WS/PRICES')).status).toBe(402);
  await accounts.changeAccount(accountId, { tier: 'grow' });
  expect((await ask('/data/WS/PRICES')).status).toBe(200);
  await share([{ accountId, delayMinutes: 10_080 }]);
  await loaded(server, 'PRICES', `symbol,date,v\nA,${new Date().toISOString().slice(0, 10)},9\n`);
  const late = await ask('/data/WS/PRICES/A?last=9');
  expect(JSON.parse(late.text)).toHaveLength(2);
  expect((await sql('SELECT max(v) AS v FROM WS.PRICES')).text).toBe('[{"v":3}]');
  await share([{ accountId }]);
  expect(JSON.parse((await ask('/data/WS/PRICES/A?last=9')).text)).toHaveLength(3);
  // A publishable token reads the datasets of its grants.
  expect((await ask('/data/WS/PRICES', publishable)).status).toBe(401);
  const grants = [{ datasets: 'WS.PRICES', rights: ['read'] as const }];
  const granted = await accounts.createToken(accountId, 'publishable', { grants });
  expect((await ask('/data/WS/PRICES?limit=1', granted.text)).status).toBe(200);
  expect((await ask('/data/WS/PRICES?limit=1', token)).status).toBe(200);
});

test('a stream of it ends when the share is removed', async () => {
  const { accountId, token } = reader;
  await share([{ accountId }]);
  const url = `${server.base}/v1/stream/WS/PRICES?token=${token}&heartbeat=1&events=true`;
  const stream = await fetch(url);
  expect(stream.status).toBe(200);
  await share([]);
  const text = await stream.text();
  expect(text).toContain('event: end');
}, 30_000);

test('the accounts with which a dataset may be shared', async () => {
  const { accountId } = reader;
  expect(await share([{ accountId: 'none' }])).toMatch(/^400 .*there is no such account/);
  expect(await share([{ accountId: server.tapedeck.accountId }])).toContain('the owner');
  expect(await share([{ accountId }, { accountId }])).toContain('twice');
  expect(await share([{ accountId, weight: -1 }])).toMatch(/^400 /);
  const core = { datasetId: 'SHARED', access: { level: 'open', accounts: [{ accountId }] } };
  const schema = { type: 'object', properties: { symbol: { type: 'string' } } };
  const creation = await send(server, 'POST', '/datasets/CORE', { dataset: { ...core, schema } });
  expect([creation.status, creation.text]).toEqual([400, expect.stringContaining('not for CORE')]);
});
