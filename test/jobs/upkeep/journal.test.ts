// Reasons of charges: each message has a line immediately, the line remains when it becomes Parquet, and any
// change of the ledger is found.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { rollJournal } from '../../../jobs/upkeep/journalRoll.ts';
import { verifyLedger } from '../../../jobs/upkeep/verifyLedger.ts';
import { survive } from '../../../store/base/crashPoints.ts';
import { parseLines } from '../../../store/ledger/journal.ts';
import { Ledger } from '../../../store/ledger/ledger.ts';
import { get, loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const DAY_MS = 86_400_000;

let server: TestServer;
let nowMs = Date.UTC(2026, 0, 31, 12);
beforeAll(async () => {
  server = await startServer({ seams: { clock: () => nowMs } });
  const rows = Array.from({ length: 9 }, (_, at) => `K${at % 3},2020-01-0${1 + at},${at}`);
  await loaded(server, 'PRICES', `symbol,date,v\n${rows.join('\n')}\n`);
});
afterAll(() => server.close());

interface Line {
  readonly requestId: string;
  readonly time: number;
  readonly endpoint: string;
  readonly token: string;
  readonly key: string;
  readonly objects: number;
  readonly weight: number;
  readonly messages: number;
  readonly premiumMessages: number;
}

async function calls(query = ''): Promise<readonly Line[]> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const answer = await fetch(`${server.base}/v1/account/usage/calls?limit=1000${query}`, {
    headers,
  });
  assert.equal(answer.status, 200);
  return (await answer.json()) as readonly Line[];
}

const read = async (path: string): Promise<string> => {
  const answer = await get(server, path);
  assert.equal(answer.status, 200);
  await answer.arrayBuffer();
  return answer.headers.get('x-request-id') ?? '';
};

test('every charge has its line: time, endpoint, objects, weight, request; Parquet or not', async () => {
  const first = await read('/data/WS/PRICES?last=4');
  nowMs += 1_000;
  const second = await read('/time-series/PRICES/K1?last=9');
  const expected = [
    { requestId: second, time: nowMs, endpoint: 'getTimeSeries', objects: 3, messages: 3 },
    { requestId: first, time: nowMs - 1_000, endpoint: 'queryData', objects: 4, messages: 4 },
  ].map((line) => ({
    ...line,
    token: server.publishable,
    key: 'WS.PRICES',
    weight: 1,
    premiumMessages: 0,
  }));
  const sorted = (lines: readonly object[]): readonly object[] =>
    lines.map((line) => Object.fromEntries(Object.entries(line).toSorted()));
  assert.deepEqual(sorted(await calls()), sorted(expected));
  const { journal } = server.tapedeck.services;
  assert.equal(await rollJournal(journal), 2);
  assert.deepEqual(sorted(await calls()), sorted(expected), 'the same from Parquet');
  nowMs += DAY_MS;
  const third = await read('/data/WS/PRICES');
  const days = (await calls('&from=2026-02-01')).map(({ requestId }) => requestId);
  assert.deepEqual(days, [third]);
  assert.equal((await calls('&to=2026-01-31')).length, 2);
  assert.equal((await calls()).length, 3);
});

test('the journal is a dataset; each account reads its own lines', async () => {
  const { accounts, journal, ledger } = server.tapedeck.services;
  await ledger.flush();
  await rollJournal(journal);
  const readJournal = async (
    token: string,
  ): Promise<readonly [number, readonly { messages: number }[]]> => {
    const url = `${server.base}/v1/data/_SYSTEM/CALLS?limit=100&token=${token}`;
    const answer = await fetch(url);
    const rows = answer.status === 200 ? await answer.json() : [];
    return [answer.status, rows as readonly { messages: number }[]];
  };
  const [status, rows] = await readJournal(server.secret);
  assert.equal(status, 200);
  assert.deepEqual(rows.map(({ messages }) => messages).toSorted(), [1, 3, 4]);
  const other = await accounts.createAccount('other', 'scale');
  const { text } = await accounts.createToken(other, 'secret');
  assert.deepEqual(await readJournal(text), [200, []]);
  assert.equal((await readJournal(server.publishable))[0], 401);
});

interface Plant {
  readonly name: string;
  /** Changes the ledger by so many messages. */
  readonly change: (more: number) => Promise<unknown>;
  readonly faultPattern: RegExp;
}

/** One error for each part of the ledger: counters, balances, the journal itself. */
async function plants(): Promise<readonly Plant[]> {
  const { database } = server.tapedeck.services;
  const read = database.selectFrom('usage').selectAll().where('usage_key', '=', 'WS.PRICES');
  const counter = await read.orderBy('hour', 'desc').executeTakeFirstOrThrow();
  const { sequence, lines } = await database
    .selectFrom('journal')
    .selectAll()
    .executeTakeFirstOrThrow();
  return [
    {
      name: 'a counter',
      faultPattern: new RegExp(
        `hour ${counter.hour}: the counter has ${counter.messages + 1} messages`,
      ),
      change: (more) =>
        database
          .updateTable('usage')
          .set((row) => ({ messages: row('messages', '+', more) }))
          .where('hour', '=', counter.hour)
          .where('usage_key', '=', 'WS.PRICES')
          .execute(),
    },
    {
      name: 'a balance',
      faultPattern:
        /month 202602: the balance has \d+ messages and 0 premium ones, the journal \d+ and 0/,
      change: (more) =>
        database
          .updateTable('balance')
          .set((row) => ({ messages: row('messages', '+', more) }))
          .where('month', '=', '202602')
          .execute(),
    },
    {
      name: 'a line',
      faultPattern:
        /request [0-9a-f]{16} \(journal \d+\): 6 messages charged for 5 objects of weight 1/,
      change: (more) => {
        const changed = parseLines(lines).map((line) =>
          JSON.stringify({ ...line, messages: line.messages + more }),
        );
        const text = more > 0 ? changed.join('\n') : lines;
        return database
          .updateTable('journal')
          .set({ lines: text })
          .where('sequence', '=', sequence)
          .execute();
      },
    },
  ];
}

test('the ledger adds up, and a planted error is found by its line', async () => {
  const { journal, ledger } = server.tapedeck.services;
  await ledger.flush();
  await rollJournal(journal);
  await read('/data/WS/PRICES?last=5');
  await ledger.flush();
  const good = await verifyLedger(journal);
  assert.deepEqual(good.faults, []);
  assert.ok(good.calls >= 4);
  for (const { name, change, faultPattern } of await plants()) {
    await change(+1);
    const { faults } = await verifyLedger(journal);
    assert.ok(
      faults.some((fault) => faultPattern.test(fault)),
      `${name}: ${faults.join('\n')}`,
    );
    await change(-1);
    assert.deepEqual((await verifyLedger(journal)).faults, [], `${name} is restored`);
  }
});

test('a month that was opened twice is found, although counters, balances and journal agree', async () => {
  const { accounts, database, journal, ledger } = server.tapedeck.services;
  const accountId = await accounts.createAccount('twice', 'free');
  const { text } = await accounts.createToken(accountId, 'secret');
  const order = { requestId: 'r', endpoint: 'e', usageKey: 'WS.PRICES', premium: false };
  const spend = (from: Ledger): void => {
    const all = { ...order, weight: 50_000 };
    from.settle(from.hold(accounts.identify(text), all, 1), 1).confirm();
  };
  spend(ledger);
  await ledger.flush();
  assert.deepEqual((await verifyLedger(journal, ledger)).faults, []);
  // A ledger without the earlier charges.
  const [at, onFault] = [survive, assert.ifError];
  const { clock, days } = server.tapedeck.services;
  const balances = await database.selectFrom('balance').selectAll().execute();
  await database.deleteFrom('balance').execute();
  const forgetful = await Ledger.open({ database, clock, days, at, onFault });
  await database.insertInto('balance').values(balances).execute();
  assert.match(
    (await verifyLedger(journal, forgetful)).faults.join(),
    new RegExp(`${accountId}, month 202602: the ledger has \\d+ messages .* of 50000`),
  );
  spend(forgetful);
  await forgetful.flush();
  const { faults } = await verifyLedger(journal, ledger);
  const twice = 'month 202602: 100000 messages were charged, 50000 is the most it may spend';
  assert.ok(
    faults.some((fault) => fault.includes(`account ${accountId}, ${twice}`)),
    faults.join(),
  );
  await database.deleteFrom('balance').where('account_id', '=', accountId).execute();
  await database.deleteFrom('usage').where('account_id', '=', accountId).execute();
  await database.deleteFrom('journal').execute();
});

test('expired months are removed, and the rest still adds up', async () => {
  const { journal, ledger } = server.tapedeck.services;
  await ledger.flush();
  await rollJournal(journal);
  nowMs += 430 * DAY_MS;
  const late = await read('/data/WS/PRICES');
  await ledger.flush();
  await rollJournal(journal);
  await rollJournal(journal);
  assert.deepEqual(
    (await calls()).map(({ requestId }) => requestId),
    [late],
  );
  assert.deepEqual((await verifyLedger(journal)).faults, []);
});
