// The effect of one account's SQL on other accounts, and the cost of its failed queries.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createWorkspace } from '../../../store/lake/datasetEdits.ts';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const rows = Array.from({ length: 3_000 }, (_, at) => `K${at},2024-01-01,${at}`).join('\n');
/** A query of hours with one number as its answer. */
const JOINS = 'SELECT count(*) AS n FROM T a, T b, T c, T d WHERE a.v * b.v % 7 = c.v * d.v % 11';

const sqlUrl = ({ base }: TestServer, workspace: string, token: string, query: string): string =>
  `${base}/v1/sql-query/${workspace}?${new URLSearchParams({ token, sqlQuery: query })}`;

/** Another account with a workspace of its own. */
async function neighbour({ tapedeck }: TestServer, tier: string): Promise<string> {
  const { accounts, lake } = tapedeck.services;
  const accountId = await accounts.createAccount(`a ${tier} neighbour`, tier);
  await createWorkspace(lake, 'NEXT', accountId, 0);
  return (await accounts.createToken(accountId, 'secret')).text;
}

test('six cross joins of one account: SELECT 1 of another is answered immediately', async () => {
  await using server = await startServer();
  await loaded(server, 'T', `symbol,date,v\n${rows}\n`);
  const token = await neighbour(server, 'launch');
  const one = sqlUrl(server, 'NEXT', token, 'SELECT 1 AS one');
  assert.equal((await fetch(one)).status, 200);
  const stop = new AbortController();
  const { signal } = stop;
  const joins = Array.from({ length: 6 }, () =>
    fetch(sqlUrl(server, 'WS', server.secret, JOINS), { signal }).catch(() => undefined),
  );
  const { pool } = server.tapedeck.services.sql;
  while (pool.load().running < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  const began = performance.now();
  const answer = await fetch(sqlUrl(server, 'NEXT', token, 'SELECT 2 AS two'));
  assert.equal(await answer.text(), '[{"two":2}]');
  const ms = performance.now() - began;
  assert.ok(ms < 10_000, `it waited ${ms} ms`);
  stop.abort();
  await Promise.all(joins);
});

/** A quarter of the free tier's budget, so that the test takes a quarter of the time. */
function lowerBudget({ tapedeck }: TestServer, token: string): void {
  const { accounts } = tapedeck.services;
  const caller = accounts.identify(token);
  const { sql, ...tier } = caller.tier;
  const lower = { ...tier, sql: { ...sql, failedMsPerMinute: sql.failedMsPerMinute / 4 } };
  for (const tierHolder of [caller, accounts.account(caller.accountId)]) {
    Object.assign(tierHolder as { tier: object }, { tier: lower });
  }
}

test('failed queries spend a budget; above it 429 includes the time to retry', async () => {
  await using server = await startServer({ settings: { TAPEDECK_SQL_TIMEOUT: '250' } });
  const token = await neighbour(server, 'free');
  lowerBudget(server, token);
  const body = `symbol,date,v\n${rows}\n`;
  const url = `${server.base}/v1/data/NEXT/T?wait=true&token=${token}`;
  assert.equal((await fetch(url, { method: 'POST', body })).status, 200);
  const statuses = new Map<number, number>();
  let refused: Response | undefined;
  let failedMs = 0;
  for (let round = 0; round < 30 && refused === undefined; round += 1) {
    const began = performance.now();
    const requests = [1, 2].map(async () => {
      const answer = await fetch(sqlUrl(server, 'NEXT', token, JOINS));
      if (answer.status === 504) failedMs += performance.now() - began;
      return answer;
    });
    for (const answer of await Promise.all(requests)) {
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 429) refused = answer;
    }
  }
  assert.ok(refused !== undefined, JSON.stringify([...statuses]));
  // Each takes at least 250 ms, and longer on a busy machine: the budget counts time.
  assert.ok((statuses.get(504) ?? 0) >= 5, JSON.stringify([...statuses]));
  assert.ok(failedMs >= 5_000, `refused after ${failedMs} ms`);
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assert.match(await refused.text(), /failed queries of this account: its tier allows 5 s/);
  assert.equal((await fetch(sqlUrl(server, 'NEXT', token, 'SELECT 1 AS one'))).status, 429);
  const other = await fetch(sqlUrl(server, 'WS', server.secret, 'SELECT 1 AS one'));
  assert.equal(other.status, 200);
});
