// Properties of options, sentiment and sums of an exchange with any seed: read back from its CSV.
// Prices are checked for arbitrage, not against the formula that computed them.
import { EXCHANGE, findSessionState } from '../../../market/exchange/exchange.ts';
import { RATE } from '../../../market/exchange/optionPrices.ts';
import type { FilledId } from '../../../market/inputs/inputRow.ts';
import { isSession } from '../../../query/time/calendar.ts';
import { addDays, numberOfDay } from '../../../query/time/days.ts';
import { grouped, rowsOf } from './exchangeLaw.ts';

type Row = ReturnType<typeof rowsOf>[number];
type Fail = (what: string) => void;

interface LawReport {
  readonly failures: readonly string[];
  readonly contracts: number;
  readonly moods: number;
  readonly days: number;
}

/** Checks `count` exchanges of a few symbols each, at an hour of some day between 2012 and 2029. */
export async function optionsLaw(count: number, seed: number): Promise<LawReport> {
  const failures: string[] = [];
  let [contracts, moods, days] = [0, 0, 0];
  for (let round = 0; round < count; round += 1) {
    const own = seed * 1_000 + round;
    const day = addDays('2012-01-03', (own * 6_997) % 6_300);
    const nowMs = Date.parse(`${day}T${String(10 + (own % 14)).padStart(2, '0')}:41:00Z`);
    const fail = (what: string): number => failures.push(`seed ${own} at ${day}: ${what}`);
    const shape = { ...EXCHANGE, seed: own, symbols: 4, minuteDays: 9 };
    const read = (input: FilledId): readonly Row[] => rowsOf(input, shape, nowMs);
    const [bars, chains] = [read('HISTORICAL_PRICES'), read('OPTIONS')];
    const [minutes, sums] = [read('SENTIMENT_MINUTES'), read('EXCHANGE_STATS')];
    checkChains(chains, bars, findSessionState(nowMs)?.closed ?? '', fail);
    checkMoods(minutes, read('SENTIMENT'), fail);
    checkSums(sums, bars, fail);
    contracts += chains.length;
    moods += minutes.length;
    days += sums.length;
  }
  return { failures, contracts, moods, days };
}

const cents = (row: Row | undefined, name: string): number => Math.round(Number(row?.[name]) * 100);

function checkChains(chains: readonly Row[], bars: readonly Row[], day: string, fail: Fail): void {
  if (new Set(chains.map(({ id }) => id)).size !== chains.length) fail('a contract is not unique');
  const closes = new Map(
    bars.filter(({ date }) => date === day).map((row) => [row['symbol'], cents(row, 'close')]),
  );
  for (const [symbol, own] of grouped(chains, 'symbol')) {
    const spot = closes.get(symbol) ?? Number.NaN;
    const expirations = grouped(own, 'expirationDate');
    if (expirations.size !== 4) fail(`${symbol} has ${expirations.size} expirations`);
    for (const [expiration, rows] of expirations) {
      if (expiration <= day || !isSession(expiration)) fail(`${symbol} expires on ${expiration}`);
      if (rows.some((row) => row['lastUpdated'] !== day)) fail(`${symbol} is not of ${day}`);
      const years = (numberOfDay(expiration) - numberOfDay(day)) / 365;
      checkChain(`${symbol} ${expiration}`, rows, spot, Math.exp(-RATE * years), fail);
    }
    checkCalendar(symbol, own, fail);
  }
}

/** Checks one expiration. @param worth present value of a payment on that day */
function checkChain(
  place: string,
  rows: readonly Row[],
  spot: number,
  worth: number,
  fail: Fail,
): void {
  const [calls = [], puts = []] = ['call', 'put'].map((side) =>
    rows.filter((row) => row['side'] === side),
  );
  if (calls.length !== puts.length || calls.length < 6) fail(`${place}: ${calls.length} strikes`);
  for (const [at, call] of calls.entries()) {
    const [putOption, strike] = [puts[at], cents(call, 'strikePrice')];
    if (strike !== cents(putOption, 'strikePrice')) fail(`${place}: strikes differ at ${strike}`);
    const [up, down] = [cents(call, 'closingPrice'), cents(putOption, 'closingPrice')];
    const parity = up - down - (spot - strike * worth);
    if (!(Math.abs(parity) <= 1)) fail(`${place} ${strike}: parity is off by ${parity} cents`);
    if (up < spot - strike - 1 || up > spot || down > strike) fail(`${place} ${strike}: bounds`);
    for (const one of [call, putOption]) {
      const [bid, close, ask] = ['bid', 'closingPrice', 'ask'].map((name) => cents(one, name));
      if (!(0 <= bid! && bid! <= close! && close! < ask!)) fail(`${one?.['id']}: ${bid} ${ask}`);
    }
    checkNext([calls[at - 1], call], [puts[at - 1], putOption], `${place} ${strike}`, fail);
  }
}

type Pair = readonly [before: Row | undefined, row: Row | undefined];

/** A higher strike makes calls cheaper and puts more expensive, at most by its own step; offers too. */
function checkNext(calls: Pair, puts: Pair, place: string, fail: Fail): void {
  if (calls[0] === undefined) return;
  const step = cents(calls[1], 'strikePrice') - cents(calls[0], 'strikePrice');
  if (step <= 0) fail(`${place}: strikes go back`);
  for (const name of ['closingPrice', 'bid', 'ask']) {
    const [call, putChange] = [calls, puts].map(
      ([before, row]) => cents(row, name) - cents(before, name),
    );
    if (!(call! <= 0 && putChange! >= 0)) fail(`${place}: ${name} goes the wrong way`);
    const most = name === 'closingPrice' ? step + 1 : step * 1.02 + 2;
    if (-call! > most || putChange! > most) fail(`${place}: ${name} goes further than its strike`);
  }
}

/** A call with a later expiration is worth no less. */
function checkCalendar(symbol: string, rows: readonly Row[], fail: Fail): void {
  for (const [strike, own] of grouped(rows, 'strikePrice')) {
    const calls = own
      .filter(({ side }) => side === 'call')
      .map((row) => cents(row, 'closingPrice'));
    if (calls.some((price, at) => price < (calls[at - 1] ?? 0)))
      fail(`${symbol} ${strike}: ${calls}`);
  }
}

/** Minutes of a day add up to its messages and to its sentiment. */
function checkMoods(minutes: readonly Row[], days: readonly Row[], fail: Fail): void {
  const byDay = grouped(days, 'symbol', 'date');
  for (const [place, rows] of grouped(minutes, 'symbol', 'date')) {
    const [day] = byDay.get(place) ?? [];
    const sum = (name: string): number =>
      rows.reduce((all, row) => all + Number(row[name]) * Number(row['totalScores']), 0);
    const scores = rows.reduce((all, row) => all + Number(row['totalScores']), 0);
    if (scores !== Number(day?.['totalScores'])) fail(`${place}: ${scores} messages`);
    for (const name of ['sentiment', 'positive', 'negative']) {
      const rest = sum(name) / scores - Number(day?.[name]);
      if (!(Math.abs(rest) < 0.000_01)) fail(`${place}: ${name} is off by ${rest}`);
    }
    const times = rows.map((row) => row['minute'] ?? '');
    if (times.join() !== times.toSorted().join()) fail(`${place}: minutes go back`);
    if (rows.some((row) => Math.abs(Number(row['sentiment'])) > 1)) fail(`${place}: sentiment`);
  }
}

/** A day of the exchange is the sum of its symbols' days. */
function checkSums(sums: readonly Row[], bars: readonly Row[], fail: Fail): void {
  const byDay = grouped(bars, 'date');
  if (byDay.size !== sums.length) fail(`${sums.length} days of ${byDay.size}`);
  for (const sum of sums) {
    const rows = byDay.get(sum['date'] ?? '') ?? [];
    const volume = rows.reduce((all, row) => all + Number(row['volume']), 0);
    const least = rows.reduce((all, row) => all + Number(row['volume']) * cents(row, 'low'), 0);
    const most = rows.reduce((all, row) => all + Number(row['volume']) * cents(row, 'high'), 0);
    const notional = cents(sum, 'notional');
    const isSum = volume === Number(sum['volume']) && rows.length === Number(sum['symbolsTraded']);
    if (!isSum) fail(`${sum['date']}: ${volume} of ${rows.length}`);
    if (notional < least - rows.length || notional > most + rows.length) {
      fail(`${sum['date']}: ${notional} is not between ${least} and ${most}`);
    }
  }
}
