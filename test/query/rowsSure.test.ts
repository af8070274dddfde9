// A query that certainly has many rows is streamed while it runs, any other one is buffered first: both
// return the same.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { minAnswerRows } from '../../query/sql/run/rowMinimum.ts';
import { loaded } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';

/** More rows than are ever buffered. */
const ROWS = 120_000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  const rows = Array.from(
    { length: ROWS },
    (_, at) => `S${at % 7},${new Date(Date.UTC(2024, 0, 1) + at * 1_001).toISOString()},${at / 8}`,
  );
  const index = { key: 'symbol', date: 'time' };
  await loaded(server, 'TICKS', `symbol,time,price\n${rows.join('\n')}\n`, index);
});
afterAll(() => server.close());

async function ask(
  sql: string,
  format: string,
): Promise<{ text: string; messages: string | null }> {
  const url = `${server.base}/v1/sql-query/WS?format=${format}&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: sql });
  const text = await answer.text();
  assert.equal(answer.status, 200, text.slice(0, 200));
  return { text, messages: answer.headers.get('svccloud-messages-used') };
}

for (const format of ['csv', 'psv', 'json', 'jsonl']) {
  test(`many rows as ${format} are the same bytes at the same price, buffered or not`, async () => {
    const cut = 'ORDER BY time LIMIT 115000 OFFSET 1';
    const direct = await ask(`SELECT *, price * 2 AS twice FROM TICKS ${cut}`, format);
    // The number of rows that match a condition is not known before the query runs.
    const bufferedAnswer = await ask(
      `SELECT *, price * 2 AS twice FROM TICKS WHERE 1 = 1 ${cut}`,
      format,
    );
    assert.ok(direct.text === bufferedAnswer.text, 'the texts differ');
    assert.equal(direct.messages, bufferedAnswer.messages);
    assert.ok(direct.text.split('\n').length >= 115_000);
  });
}

test('a query that filters, aggregates or joins records has no minimum of rows', () => {
  const table = { kind: 'dataset', visibility: { kind: 'all' }, table: { records: ROWS } };
  const plain = {
    kind: 'select',
    from: {
      kind: 'table',
      index: 0,
    },
    items: [],
    distinctOn: [],
    groups: [],
    groupSets: [],
    groupAll: false,
    distinct: false,
    order: [],
    common: [],
  };
  const sure = (query: object, tables: readonly object[] = [table]): number =>
    minAnswerRows({ plan: { query: { ...plain, ...query } }, tables } as never);
  assert.equal(sure({}), ROWS);
  assert.equal(sure({ limit: 10 }), 10);
  assert.equal(sure({ offset: ROWS - 5, limit: 10 }), 5);
  assert.equal(sure({ offset: ROWS + 5 }), 0);
  assert.equal(sure({ where: { kind: 'truth', value: true } }), 0);
  assert.equal(sure({ distinct: true }), 0);
  assert.equal(sure({ groupAll: true }), 0);
  assert.equal(sure({ from: { kind: 'join' } }), 0);
  assert.equal(sure({}, [{ ...table, visibility: { kind: 'before' } }]), 0);
  assert.equal(sure({}, [{ kind: 'view' }]), 0);
});
