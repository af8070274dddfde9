// The synthetic exchange alone: laws with seeds, and properties of the exchange that fills CORE.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { cusipOf, figiOf, isinOf } from '../../../market/exchange/identifiers.ts';
import { BENCHMARK, listingsOf, SYMBOLS_MAX } from '../../../market/exchange/listings.ts';
import { EXCHANGE, findSessionState } from '../../../market/exchange/exchange.ts';
import { seedsOf } from '../../base/seeds.ts';
import { note } from '../../base/notes.ts';
import { exchangeLaw, rowsOf } from './exchangeLaw.ts';

test('trades add up to minutes, minutes to days, and corporate actions move prices', async (context) => {
  for (const seed of seedsOf(context)) {
    const { failures, ...counts } = await exchangeLaw(3, seed);
    note(context, JSON.stringify(counts));
    assert.deepEqual(failures.slice(0, 5), []);
    assert.ok(
      counts.minutes > 3_000 && counts.compared > 300 && counts.days > 1_000 && counts.trades > 500,
    );
  }
});

test('300 symbols differ from each other and from real ones', () => {
  const listings = listingsOf(EXCHANGE.seed, SYMBOLS_MAX);
  assert.equal(listings[0]?.symbol, BENCHMARK);
  for (const member of ['symbol', 'name', 'figi', 'isin', 'cusip', 'cik'] as const) {
    assert.equal(new Set(listings.map((one) => one[member])).size, SYMBOLS_MAX, member);
  }
  // Tickers of US exchanges have five letters at most.
  assert.ok(listings.every(({ symbol }) => /^[A-Z]{6}$/.test(symbol)));
  assert.ok(listings.every(({ name }) => /synthetic/i.test(name)));
  assert.deepEqual(listingsOf(EXCHANGE.seed, 7), listings.slice(0, 7));
});

/** Checks the last digit of a CUSIP or FIGI by the standards: from the right, every other one is doubled. */
function isWellFormed(text: string): boolean {
  const [last = '', ...rest] = [...text].toReversed();
  const digits = rest.flatMap((character, at) => [
    ...String(Number.parseInt(character, 36) * ((rest.length - at) % 2 === 0 ? 2 : 1)),
  ]);
  const sum = digits.reduce((total, digit) => total + Number(digit), 0);
  return (sum + Number(last)) % 10 === 0;
}

test('check digits are those of the standards', () => {
  // Identifiers of real securities.
  assert.equal(isinOf('037833100'), 'US0378331005');
  assert.deepEqual(['037833100', 'BBG000B9XRY4', 'BBG000B9XRY5'].map(isWellFormed), [
    true,
    true,
    false,
  ]);
  for (const at of [0, 1, 42, 299]) {
    assert.match(cusipOf(at), /^\d{3}99\d10\d$/);
    assert.match(figiOf(at), /^ZZG[B-DF-HJ-NP-TV-Z]{2}\d{6}\d$/);
    assert.deepEqual([cusipOf(at), figiOf(at)].filter(isWellFormed).length, 2);
  }
});

test('measured betas match the declared ones', () => {
  const shape = { ...EXCHANGE, symbols: 12 };
  const rows = rowsOf('HISTORICAL_PRICES', shape, Date.parse('2026-06-30T22:00:00Z'));
  const returns = (symbol: string): readonly number[] => {
    const closes = rows
      .filter((one) => one['symbol'] === symbol)
      .map((one) => Number(one['close']));
    return closes.slice(-500).flatMap((close, at, all) => {
      const change = at === 0 ? 0 : Math.log(close / (all[at - 1] ?? close));
      return [Math.abs(change) > 0.35 ? 0 : change];
    });
  };
  const fund = returns(BENCHMARK);
  const variance = fund.reduce((sum, one) => sum + one * one, 0);
  for (const { at, beta, symbol } of listingsOf(shape.seed, 10).slice(1)) {
    const covariance = returns(symbol).reduce((sum, one, day) => sum + one * (fund[day] ?? 0), 0);
    assert.ok(
      Math.abs(covariance / variance - beta) < 0.4,
      `${at}: ${covariance / variance} ${beta}`,
    );
  }
});

test('a session counts when it has closed, and its trades from the opening on', () => {
  const at = (iso: string): object => {
    const { closed, opened } = findSessionState(Date.parse(iso)) ?? { closed: '', opened: '' };
    return { closed, opened };
  };
  assert.deepEqual(at('2026-01-30T14:29:00Z'), { closed: '2026-01-29', opened: '2026-01-29' });
  assert.deepEqual(at('2026-01-30T15:00:00Z'), { closed: '2026-01-29', opened: '2026-01-30' });
  assert.deepEqual(at('2026-01-30T21:00:00Z'), { closed: '2026-01-30', opened: '2026-01-30' });
  assert.deepEqual(at('2026-02-01T15:00:00Z'), { closed: '2026-01-30', opened: '2026-01-30' });
  assert.equal(findSessionState(Date.parse('2009-06-01T00:00:00Z')), undefined);
  assert.deepEqual(at('2035-01-30T15:00:00Z'), { closed: '2030-06-28', opened: '2030-06-28' });
});
