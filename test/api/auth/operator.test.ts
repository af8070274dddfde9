// A request with the operator's token beside an account's token costs nothing, needs no budget, and is still
// recorded in the journal.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await loaded(server, 'P', 'symbol,v\nA,1\nB,2\nC,3\n');
});
afterAll(() => server.close());

interface Answer {
  readonly status: number;
  readonly messages: string | null;
  readonly text: string;
}

async function ask(path: string, operator?: string): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${server.secret}`,
    ...(operator === undefined ? {} : { 'x-tapedeck-operator': operator }),
  };
  const answer = await fetch(`${server.base}/v1${path}`, { headers });
  const messages = answer.headers.get('svccloud-messages-used');
  return { status: answer.status, messages, text: await answer.text() };
}

const QUERY = `/sql-query/WS?sqlQuery=${encodeURIComponent('SELECT v FROM P')}`;

test('reads and queries cost the operator nothing, at any budget of the account', async () => {
  const { accountId, services } = server.tapedeck;
  const { accounts, adminToken, ledger } = services;
  expect(await ask('/data/WS/P?limit=9')).toMatchObject({ status: 200, messages: '3' });
  expect(await ask('/data/WS/P?limit=9', adminToken)).toMatchObject({ status: 200, messages: '0' });
  expect(await ask(QUERY, adminToken)).toMatchObject({ status: 200, messages: '0' });
  expect(ledger.balance(accountId)).toEqual({ used: 3, held: 0 });
  const price = await ask('/data/WS/P?limit=9&estimate=true', adminToken);
  expect(JSON.parse(price.text)).toMatchObject({ messages: 3 });
  await accounts.changeAccount(accountId, { budget: 3 });
  expect((await ask('/data/WS/P?limit=9')).status).toBe(402);
  expect(await ask(QUERY, adminToken)).toMatchObject({ status: 200, messages: '0' });
  await ledger.flush();
  const { database } = services;
  const rows = await database.selectFrom('journal').select('lines').execute();
  const lines = rows.flatMap((row) => row.lines.trim().split('\n'));
  const entries = lines.map((line) => JSON.parse(line) as { messages: number; objects: number });
  expect(entries.map(({ messages, objects }) => [messages, objects])).toEqual([
    [3, 3],
    [0, 3],
    [0, 3],
    [0, 3],
  ]);
});

test('a header that is not the operator’s token is refused, and gives no rights', async () => {
  const { adminToken } = server.tapedeck.services;
  for (const wrong of ['', 'ak_0000000000000000', server.secret, `${adminToken}0`]) {
    expect([wrong, (await ask('/data/WS/P', wrong)).status]).toEqual([wrong, 403]);
  }
  const alone = await fetch(`${server.base}/v1/data/WS/P`, {
    headers: { 'x-tapedeck-operator': adminToken },
  });
  expect(alone.status).toBe(401);
  const foreign = await ask('/data/OTHER/P', adminToken);
  expect(foreign.status).toBe(404);
});
