// Law: key figures equal those of a naive oracle over the same bars: 52 weeks, averages, windows, beta; and a
// quote's change is its latest price minus its previous close.
import assert from 'node:assert/strict';
import { adjustBars, type Bar } from '../../../market/derive/adjust.ts';
import { buildQuote, selectQuoteParts } from '../../../market/derive/quote.ts';
import { anchorDays, computeStats } from '../../../market/derive/stats.ts';
import type { Row } from '../../../market/derive/values.ts';
import { addMonths } from '../../../query/time/days.ts';
import { type Report, type Seeded, seeded } from '../../soak/crash/rounds/seeded.ts';
import { type History, historyOf } from './histories.ts';

interface LawOptions {
  readonly seed: number;
  readonly count: number;
}

const NEWEST = 270;

export function figuresLaw({ count, seed }: LawOptions): Report {
  const random = seeded(seed);
  const failures: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const own = historyOf(random);
    const other = historyOf(random);
    const benchmark = own.rows.map((row, place) => ({
      ...row,
      close: other.rows[place % other.rows.length]?.['close'] ?? 1,
    }));
    const figures = figuresOf(own, benchmark, random);
    if (figures === undefined) continue;
    for (const [name, oracleValue] of Object.entries(expected(own, benchmark))) {
      const got = figures[name];
      const isSame =
        got === oracleValue ||
        (typeof got === 'number' &&
          typeof oracleValue === 'number' &&
          Math.abs(got - oracleValue) <= 1e-5 * Math.max(1, Math.abs(oracleValue)));
      if (!isSame)
        failures.push(`history ${at}: ${name} is ${String(got)}, not ${String(oracleValue)}`);
    }
  }
  return { seed, count, failures: failures.slice(0, 10), notes: [] };
}

function figuresOf(own: History, benchmark: readonly Row[], random: Seeded): Row | undefined {
  const { rows, today } = own;
  // Well after today's close.
  const nowMs = Date.parse(`${today}T23:00:00Z`);
  const anchors = [
    ...rows.slice(0, 1),
    ...anchorDays(today).flatMap((day) => {
      const anchor = rows.findLast((row) => String(row['date']) <= day);
      return anchor === undefined ? [] : [anchor];
    }),
  ];
  const inputs = {
    ...own,
    days: rows.slice(-NEWEST),
    anchors,
    company: undefined,
    symbol: undefined,
    trades: [],
    minutes: [],
    quotes: [],
    benchmark: benchmark.slice(-NEWEST),
    benchmarkSplits: [],
    benchmarkDividends: [],
  };
  const moment = { nowMs, untilMs: nowMs, today };
  const stats = computeStats(inputs, moment);
  const quote = buildQuote('X', inputs, moment);
  // A partial quote has the requested members.
  const some = Object.keys(quote ?? {}).filter(() => random.chance(0.05));
  const partly = buildQuote('X', inputs, moment, selectQuoteParts(new Set(some)));
  for (const name of some) assert.equal(partly?.[name], quote?.[name], name);
  return stats === undefined || quote === undefined ? undefined : { ...quote, ...stats };
}

/** Computed over all bars, even those that a server does not read. */
function expected(own: History, benchmark: readonly Row[]): Row {
  const { rows, today } = own;
  const bars = adjustBars(rows, own, today);
  const newest = bars.at(-1);
  const price = newest?.split.close ?? NaN;
  const year = bars.filter(({ date }) => date > addMonths(today, -12));
  const at = (day: string): number | undefined =>
    bars.findLast(({ date }) => date <= day)?.split.close ?? undefined;
  const share = (from: number | undefined): number | null =>
    from === undefined ? null : price / from - 1;
  const mean = (some: readonly Bar[]): number | null =>
    some.length === 0
      ? null
      : some.reduce((sum, { split }) => sum + (split.close ?? 0), 0) / some.length;
  const before = bars.at(-2)?.split.close;
  return {
    latestPrice: price,
    change: before === undefined || before === null ? null : price - before,
    week52highSplitAdjustOnly: Math.max(...year.map(({ split }) => split.high ?? 0)),
    week52lowSplitAdjustOnly: Math.min(...year.map(({ split }) => split.low ?? 0)),
    week52high: Math.max(...year.map(({ full }) => full.high ?? 0)),
    day50MovingAvg: bars.length < 50 ? null : mean(bars.slice(-50)),
    day200MovingAvg: bars.length < 200 ? null : mean(bars.slice(-200)),
    maxChangePercent: share(bars[0]?.split.close ?? undefined),
    year2ChangePercent: share(at(addMonths(today, -24))),
    year1ChangePercent: share(at(addMonths(today, -12))),
    month3ChangePercent: share(at(addMonths(today, -3))),
    beta: betaOf(bars, adjustBars(benchmark, { splits: [], dividends: [] }, today)),
  };
}

function betaOf(own: readonly Bar[], market: readonly Bar[]): number | null {
  const pairs: [number, number][] = [];
  for (let at = 1; at < own.length; at += 1) {
    const gain = (bars: readonly Bar[]): number =>
      (bars[at]?.full.close ?? NaN) / (bars[at - 1]?.full.close ?? NaN) - 1;
    pairs.push([gain(own), gain(market)]);
  }
  const year = pairs.slice(-252);
  if (year.length < 20) return null;
  const n = year.length;
  const [sumX, sumY] = [year.reduce((s, [x]) => s + x, 0), year.reduce((s, [, y]) => s + y, 0)];
  const sumXY = year.reduce((s, [x, y]) => s + x * y, 0);
  const sumYY = year.reduce((s, [, y]) => s + y * y, 0);
  return (n * sumXY - sumX * sumY) / (n * sumYY - sumY ** 2);
}
