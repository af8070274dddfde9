// Law: adjusted x factor = traded, at every date, with factors computed the slow way: each action separately.
import { adjustBars } from '../../../market/derive/adjust.ts';
import { dayIn, numberIn, type Row } from '../../../market/derive/values.ts';
import { type Report, seeded } from '../../soak/crash/rounds/seeded.ts';
import { type History, historyOf } from './histories.ts';

interface LawOptions {
  readonly seed: number;
  readonly count: number;
}

export function adjustLaw({ count, seed }: LawOptions): Report {
  const random = seeded(seed);
  const failures: string[] = [];
  let compared = 0;
  for (let at = 0; at < count; at += 1) {
    const history = historyOf(random);
    const bars = adjustBars(history.rows, history, history.today);
    for (const [place, bar] of bars.entries()) {
      compared += 1;
      const [split, full] = factorsAt(history, bar.date);
      const traded = numberIn(history.rows[place], 'close') ?? Number.NaN;
      const expected = [traded, traded * split, traded * split * full];
      const got = [bar.raw.close, bar.split.close, bar.full.close];
      const isOff = got.some((value, i) => Math.abs((value ?? NaN) - (expected[i] ?? NaN)) > 2e-6);
      if (isOff)
        failures.push(`history ${at} on ${bar.date}: ${got.join(' ')}, not ${expected.join(' ')}`);
    }
  }
  return { seed, count, failures: failures.slice(0, 10), notes: [`${compared} bars compared`] };
}

/** The factors of a day's price: for splits, and additionally for dividends. */
function factorsAt({ dividends, rows, splits, today }: History, date: string): [number, number] {
  const later = (row: Row): boolean => dayIn(row, 'exDate') > date && dayIn(row, 'exDate') <= today;
  const ratio = (row: Row): number => Number(row['fromFactor']) / Number(row['toFactor']);
  const split = splits.filter(later).reduce((product, row) => product * ratio(row), 1);
  const days = new Set(dividends.filter(later).map((row) => dayIn(row, 'exDate')));
  let full = 1;
  for (const day of days) {
    const before = rows.findLast((row) => dayIn(row, 'date') < day);
    const sum = dividends
      .filter((row) => dayIn(row, 'exDate') === day)
      .reduce((total, row) => total + Number(row['amount']), 0);
    const same = splits
      .filter((row) => dayIn(row, 'exDate') === day)
      .reduce((product, row) => product * ratio(row), 1);
    const left = 1 - sum / (Number(before?.['close']) * same);
    if (left > 0) full *= left;
  }
  return [split, full];
}
