// Properties of insiders, holders and analysts of an exchange with any seed: read back from its CSV, and
// compared with its bars.
import { EXCHANGE } from '../../../market/exchange/exchange.ts';
import type { FilledId } from '../../../market/inputs/inputRow.ts';
import { addDays } from '../../../query/time/days.ts';
import { grouped, rowsOf } from './exchangeLaw.ts';

type Row = ReturnType<typeof rowsOf>[number];

interface OwnersReport {
  readonly failures: readonly string[];
  readonly trades: number;
}

/** Checks `count` exchanges of a few symbols each, at an hour of some day between 2014 and 2029. */
export function ownersLaw(count: number, seed: number): OwnersReport {
  const failures: string[] = [];
  let trades = 0;
  for (let round = 0; round < count; round += 1) {
    const own = seed * 1_000 + round;
    const day = addDays('2014-01-03', (own * 6_011) % 5_600);
    const nowMs = Date.parse(`${day}T${String(10 + (own % 14)).padStart(2, '0')}:41:00Z`);
    const fail = (what: string): number => failures.push(`seed ${own} at ${day}: ${what}`);
    const shape = { ...EXCHANGE, seed: own, symbols: 4 };
    const read = (input: FilledId, atMs = nowMs): readonly Row[] => rowsOf(input, shape, atMs);
    const traded = read('INSIDER_TRANSACTIONS');
    trades += traded.length;
    const bars = grouped(read('HISTORICAL_PRICES'), 'symbol', 'date');
    for (const row of traded) {
      const { effectiveDate = '', filingDate = '', symbol = '' } = row;
      const place = `${symbol} ${effectiveDate.slice(0, 10)}`;
      if (filingDate > day) fail(`${place} is filed in the future`);
      if (bars.get(place)?.[0]?.['close'] !== row['tranPrice']) fail(`${place} has another price`);
    }
    checkSums(traded, read('INSIDER_SUMMARY'), fail);
    // A hundred days later earlier trades are the same.
    const later = new Set(
      read('INSIDER_TRANSACTIONS', nowMs + 100 * 86_400_000).map((row) => JSON.stringify(row)),
    );
    const since = addDays(day, -600);
    for (const row of traded) {
      const isKept = String(row['effectiveDate']) > since;
      if (isKept && !later.has(JSON.stringify(row))) fail(`${JSON.stringify(row)} changed`);
    }
    for (const { priceTargetAverage, priceTargetHigh, priceTargetLow } of read('PRICE_TARGET')) {
      const [low, average, high] = [priceTargetLow, priceTargetAverage, priceTargetHigh].map(
        Number,
      );
      if (!(Number(low) < Number(average) && Number(average) < Number(high)))
        fail('a target is not between the lowest and the highest');
    }
    if (read('IPOS').every(({ offeringDate = '' }) => offeringDate <= day)) fail('no offering');
    for (const input of ['FUND_OWNERSHIP', 'INSTITUTIONAL_OWNERSHIP'] as const)
      if (read(input).some(({ reportDate = '' }) => reportDate > day))
        fail(`${input} of the future`);
  }
  return { failures, trades };
}

/** A summary has the sums of its half year: each is that of the latest trades of the insider. */
function checkSums(
  trades: readonly Row[],
  summaries: readonly Row[],
  fail: (what: string) => void,
): void {
  const byInsider = grouped(trades, 'symbol', 'fullName');
  for (const { fullName, netTransacted, symbol, totalBought, totalSold } of summaries) {
    const own = byInsider.get(`${symbol} ${fullName}`) ?? [];
    const sums = own.map((_, at) =>
      own.slice(at).reduce((sum, row) => sum + Number(row['transactionShares']), 0),
    );
    if (!sums.includes(Number(netTransacted))) fail(`${symbol} ${fullName}: no such sum`);
    if (Number(totalBought) + Number(totalSold) !== Number(netTransacted))
      fail(`${symbol} ${fullName}: what was bought and sold is not the net`);
  }
}
