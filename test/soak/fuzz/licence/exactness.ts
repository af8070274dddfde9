// An aggregate charges every record that its answer depends on. The dependency is measured: the values of
// one record after the other are changed, and the query is repeated.
import assert from 'node:assert/strict';
import { seeded } from '../../crash/rounds/seeded.ts';
import { foldedQuery } from './foldedQueries.ts';
import { askSql, type Bar, openShop, type Shop, WEIGHTS } from './shop.ts';

interface Exactness {
  readonly failures: readonly string[];
  readonly queries: number;
  /** Messages paid, and the price of the records that answers depend on. */
  readonly paid: number;
  readonly learnt: number;
}

interface QueryRun {
  readonly sql: string;
  readonly body: string;
  readonly used: number;
  readonly changed: Set<number>;
}

/** A small shop, three symbols on three days, so that each record can be changed. */
const SYMBOLS = 3;
const DAYS = 3;

export async function exactnessLaw(count: number, seed: number): Promise<Exactness> {
  await using shop = await openShop(seed, undefined, { TAPEDECK_SQL_CHILDREN: '2' }, [
    SYMBOLS,
    DAYS,
  ]);
  const queries: QueryRun[] = [];
  const failures: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const sql = foldedQuery(seeded(seed * 1_000_003 + at));
    const { body, status, used } = await askSql(shop, sql);
    if (status === 500) failures.push(`${body}\n${sql}`);
    if (status === 200) queries.push({ sql, body, used, changed: new Set() });
  }
  for (const [at, bar] of shop.bars.entries()) {
    // Beyond every bound that a query may have, and between them.
    for (const close of [1, 399.5, 100_000]) {
      await push(shop, { ...bar, close, up: !bar.up, note: `other ${close}`, volume: 1 });
      for (const one of queries) {
        if (one.changed.has(at)) continue;
        const { body, status } = await askSql(shop, one.sql);
        // A time-out of a busy machine reveals nothing about a record.
        if (!BUSY.has(status) && body !== one.body) one.changed.add(at);
      }
    }
    await push(shop, bar);
  }
  let [paid, learnt] = [0, 0];
  for (const { changed, sql, used } of queries) {
    paid += used;
    learnt += changed.size * WEIGHTS.BARS;
    if (used >= changed.size * WEIGHTS.BARS) continue;
    const which = [...changed].map((at) => `${shop.bars[at]?.symbol} ${shop.bars[at]?.date}`);
    failures.push(`${used} messages for ${changed.size} records (${which.join(', ')})\n${sql}`);
  }
  return { failures, queries: queries.length, paid, learnt };
}

/** Statuses of a busy server. */
const BUSY: ReadonlySet<number> = new Set([408, 429, 503, 504]);

async function push({ server }: Shop, bar: Bar): Promise<void> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const url = `${server.base}/v1/record/CORE/BARS?duplicateKeyHandling=replace`;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify([bar]) });
  assert.equal(answer.status, 200, await answer.text());
}
