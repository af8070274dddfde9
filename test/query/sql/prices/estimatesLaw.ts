// The price of a query that `explain` and `estimate` report is never below the charge.
import assert from 'node:assert/strict';
import { seeded } from '../../../soak/crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';
import { askServer } from '../door.ts';
import { randomSelect } from '../random/randomSelects.ts';
import { fillServer } from '../shelves.ts';

interface EstimatesReport {
  readonly failures: readonly string[];
  readonly selects: number;
  readonly messages: number;
  /** Selects with an exact estimate before the run. */
  readonly exact: number;
}

export async function estimatesLaw(count: number, seed: number): Promise<EstimatesReport> {
  await using server = await startServer({ seams: { watch: false } });
  await fillServer(server);
  const report = { failures: [] as string[], selects: 0, messages: 0, exact: 0 };
  for (let at = 0; at < count; at += 1) {
    const sql = randomSelect(seeded(seed * 1_000_003 + at));
    const { messages, status } = await askServer(server, sql);
    if (status !== 200) continue;
    const explained = (await priceOf(server, sql, 'explain')) as { readonly estimate: Price };
    const estimated = (await priceOf(server, sql, 'estimate')) as Price;
    const most = explained.estimate.messages;
    const spent = messages ?? 0;
    report.selects += 1;
    report.messages += spent;
    if (most === spent) report.exact += 1;
    if (most >= spent && estimated.messages === most) continue;
    const prices = `${spent} messages, explained ${most}, estimated ${estimated.messages}`;
    report.failures.push(`seed ${seed}, select ${at}: ${prices}\n${sql}`);
  }
  return report;
}

interface Price {
  readonly messages: number;
}

async function priceOf(
  { base, publishable }: TestServer,
  sql: string,
  how: 'explain' | 'estimate',
): Promise<unknown> {
  const url = `${base}/v1/sql-query/WS?${how}=true&token=${publishable}`;
  const answer = await fetch(url, { method: 'POST', body: sql });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${how}: ${text}\n${sql}`);
  return JSON.parse(text);
}
