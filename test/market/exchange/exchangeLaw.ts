// Properties of an exchange with any seed: read back from its CSV, as a loader does, and added up again by
// plain independent loops.
import type { FilledId } from '../../../market/inputs/inputRow.ts';
import {
  type ExchangeShape,
  hoursOf,
  findSessionState,
} from '../../../market/exchange/exchange.ts';
import { recordLines } from '../../../market/exchange/records/records.ts';
import { addDays, type Day } from '../../../query/time/days.ts';

type Row = Readonly<Record<string, string>>;

const shapeOf = (seed: number, symbols: number): ExchangeShape => ({
  seed,
  symbols,
  years: 10,
  minuteDays: 9,
  minuteSymbols: symbols,
  tickSymbols: symbols,
});

/** The records of one input, without its quoted cells. */
export function rowsOf(
  input: FilledId,
  shape: ExchangeShape,
  nowMs: number,
  after?: Day,
): readonly Row[] {
  const session = findSessionState(nowMs);
  if (session === undefined) throw new Error(`nothing is sampled by ${nowMs}`);
  const [head = '', ...lines] = recordLines({ input, shape, session, after });
  const names = head.trim().split(',');
  return lines.map((line) =>
    Object.fromEntries(
      line
        .trim()
        .split(',')
        .map((value, at) => [names[at] ?? '', value]),
    ),
  );
}

const cents = (text: string | undefined): number => Math.round(Number(text) * 100);

export function grouped(rows: readonly Row[], ...names: readonly string[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = names.map((name) => row[name]).join(' ');
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [row]);
    else members.push(row);
  }
  return groups;
}

/** A bar computed from its parts, by the names of their columns. */
function barOf(parts: readonly Row[], from: readonly [string, string, string, string, string]) {
  const [open, high, low, close, volume] = from;
  return {
    open: cents(parts[0]?.[open]),
    high: Math.max(...parts.map((one) => cents(one[high]))),
    low: Math.min(...parts.map((one) => cents(one[low]))),
    close: cents(parts.at(-1)?.[close]),
    volume: parts.reduce((sum, one) => sum + Number(one[volume]), 0),
  };
}

const OF_BARS = ['open', 'high', 'low', 'close', 'volume'] as const;
const OF_TRADES = ['price', 'price', 'price', 'price', 'size'] as const;

interface LawReport {
  readonly failures: readonly string[];
  readonly days: number;
  readonly minutes: number;
  readonly trades: number;
  /** Minutes that were added up from trades. */
  readonly compared: number;
  readonly actions: number;
}

/** Checks `count` exchanges of a few symbols each, at an hour of some day between 2012 and 2029. */
export async function exchangeLaw(count: number, seed: number): Promise<LawReport> {
  const report = {
    failures: [] as string[],
    days: 0,
    minutes: 0,
    trades: 0,
    compared: 0,
    actions: 0,
  };
  for (let round = 0; round < count; round += 1) {
    const own = seed * 1_000 + round;
    const day = addDays('2012-01-03', (own * 7_919) % 6_300);
    const nowMs = Date.parse(`${day}T${String(10 + (own % 14)).padStart(2, '0')}:17:03Z`);
    oneExchange(own, nowMs, report);
  }
  return report;
}

type Report = { -readonly [Name in keyof LawReport]: LawReport[Name] } & { failures: string[] };

function oneExchange(seed: number, nowMs: number, report: Report): void {
  const shape = shapeOf(seed, 3);
  const read = (input: FilledId): readonly Row[] => rowsOf(input, shape, nowMs);
  const [days, minutes] = [read('HISTORICAL_PRICES'), read('INTRADAY_PRICES')];
  const [trades, quotes] = [read('TRADES'), read('QUOTES')];
  const actions = { splits: read('SPLITS'), dividends: read('DIVIDENDS') };
  const fail = (what: string): void => {
    report.failures.push(`seed ${seed} at ${new Date(nowMs).toISOString()}: ${what}`);
  };
  report.days += days.length;
  report.minutes += minutes.length;
  report.trades += trades.length;
  report.actions += actions.splits.length + actions.dividends.length;
  checkDays(days, actions, fail);
  checkMinutes(days, minutes, nowMs, fail);
  checkTicks(trades, quotes, nowMs, fail);
  checkStatements(
    { income: read('INCOME'), balance: read('BALANCE_SHEET'), cash: read('CASH_FLOW') },
    fail,
  );
  // Three days later the session is over: it has become minutes, and the earlier history is unchanged.
  const later = nowMs + 3 * 86_400_000;
  const grown = rowsOf('HISTORICAL_PRICES', shape, later);
  const rowByDay = new Map(
    grown.map((row) => [`${row['symbol']} ${row['date']}`, JSON.stringify(row)]),
  );
  for (const row of days) {
    const same = rowByDay.get(`${row['symbol']} ${row['date']}`);
    if (same !== undefined && same !== JSON.stringify(row)) fail(`history changed: ${same}`);
  }
  const laterMinutes = rowsOf('INTRADAY_PRICES', shape, later);
  report.compared += checkSession(trades, laterMinutes, fail);
}

type Fail = (what: string) => void;

function checkDays(
  days: readonly Row[],
  { dividends, splits }: { readonly dividends: readonly Row[]; readonly splits: readonly Row[] },
  fail: Fail,
): void {
  const ratios = new Map(splits.map((one) => [`${one['symbol']} ${one['exDate']}`, one]));
  const paid = new Map(dividends.map((one) => [`${one['symbol']} ${one['exDate']}`, one]));
  for (const [symbol, bars] of grouped(days, 'symbol')) {
    for (const [at, bar] of bars.entries()) {
      const { close, high, low, open } = barOf([bar], OF_BARS);
      const place = `${symbol} ${bar['date']}`;
      if (low < 1 || low > Math.min(open, close) || high < Math.max(open, close)) {
        fail(`${place} is no bar: ${JSON.stringify(bar)}`);
      }
      if (!/^[1-9]\d*$/.test(bar['volume'] ?? '')) fail(`${place} volume ${bar['volume']}`);
      const before = bars[at - 1];
      if (before === undefined) continue;
      const ratio = Number(ratios.get(place)?.['ratio'] ?? 1);
      const dividend = cents(paid.get(place)?.['amount'] ?? '0');
      const expected = (cents(before['close']) - dividend) * ratio;
      // A day's own return is far below a split of 2 for 1, whose logarithm is 0.69.
      const rest = Math.abs(Math.log(close / expected));
      if (rest > 0.35) fail(`${place} moves by ${rest} beside its actions`);
    }
  }
}

/** The open session has the minutes that are over; every other session has all minutes of its bar. */
function checkMinutes(
  days: readonly Row[],
  minutes: readonly Row[],
  nowMs: number,
  fail: Fail,
): void {
  const byDay = grouped(days, 'symbol', 'date');
  const { closed, opened } = findSessionState(nowMs) ?? { closed: '', opened: '' };
  const isOver = Math.floor((nowMs - hoursOf(opened).openMs) / 60_000);
  for (const [place, parts] of grouped(minutes, 'symbol', 'date')) {
    const day = byDay.get(place);
    if (opened !== closed && place.endsWith(opened)) {
      if (parts.length !== isOver) fail(`${place} has ${parts.length} of ${isOver} minutes`);
      continue;
    }
    if (day === undefined) fail(`${place} has minutes and no day`);
    else sameBar(barOf(parts, OF_BARS), barOf(day, OF_BARS), place, fail);
    const times = parts.map((one) => one['minute'] ?? '');
    if (times[0] !== '09:30' || ![390, 210].includes(times.length)) {
      fail(`${place} has ${times.length} minutes from ${times[0]}`);
    }
  }
}

function sameBar(actual: object, expected: object, place: string, fail: Fail): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  fail(`${place}: ${JSON.stringify(actual)} of its parts, ${JSON.stringify(expected)} expected`);
}

function checkTicks(
  trades: readonly Row[],
  quotes: readonly Row[],
  nowMs: number,
  fail: Fail,
): void {
  const offers = grouped(quotes, 'symbol', 'sequence');
  for (const trade of trades) {
    const place = `${trade['symbol']} ${trade['tradeId']}`;
    if (Date.parse(trade['time'] ?? '') >= nowMs) fail(`${place} is not yet made`);
    const [offer] = offers.get(place) ?? [];
    const [bid, ask] = [cents(offer?.['bidPrice']), cents(offer?.['askPrice'])];
    const price = cents(trade['price']);
    if (!(bid < ask && bid <= price && price <= ask)) fail(`${place} at ${price}: ${bid} ${ask}`);
    if ((offer?.['time'] ?? '~') > (trade['time'] ?? '')) fail(`${place} before its offer`);
  }
  for (const [symbol, own] of grouped(trades, 'symbol')) {
    const times = own.map((one) => one['time'] ?? '');
    if (times.join() !== times.toSorted().join()) fail(`${symbol}: trades go back in time`);
  }
}

/** Compares trades of a session with the minutes that it had when it was over. */
function checkSession(trades: readonly Row[], minutes: readonly Row[], fail: Fail): number {
  let compared = 0;
  const bars = grouped(minutes, 'symbol', 'date', 'minute');
  for (const [symbol, own] of grouped(trades, 'symbol')) {
    const session = (own[0]?.['time'] ?? '').slice(0, 10);
    const opened = Date.parse(own[0]?.['time'] ?? '');
    const parts = new Map<number, Row[]>();
    for (const trade of own) {
      const minute = Math.floor((Date.parse(trade['time'] ?? '') - opened) / 60_000);
      parts.set(minute, [...(parts.get(minute) ?? []), trade]);
    }
    // The last minute may not be over.
    const whole = [...parts.entries()].slice(0, -1);
    for (const [minute, some] of whole) {
      const clock = 570 + minute;
      const [hour, rest] = [Math.floor(clock / 60), clock % 60].map((one) =>
        String(one).padStart(2, '0'),
      );
      const time = `${hour}:${rest}`;
      const place = `${symbol} ${session} ${time}`;
      const bar = bars.get(place);
      if (bar === undefined) continue;
      compared += 1;
      sameBar(barOf(some, OF_TRADES), barOf(bar, OF_BARS), place, fail);
      const notional = some.reduce(
        (sum, one) => sum + cents(one['price']) * Number(one['size']),
        0,
      );
      if (Math.abs(notional - cents(bar[0]?.['notional'])) > 1) fail(`${place}: notional`);
      if (String(some.length) !== bar[0]?.['numberOfTrades']) fail(`${place}: trades`);
    }
  }
  return compared;
}

interface Statements {
  readonly income: readonly Row[];
  readonly balance: readonly Row[];
  readonly cash: readonly Row[];
}

const sum = (row: Row, names: string): number =>
  names.split(' ').reduce((total, name) => total + Number(row[name]), 0);

/** Sums of each statement, by names: a total and its parts. */
const SUMS: readonly (readonly [keyof Statements, total: string, parts: string])[] = [
  ['income', 'totalRevenue', 'costOfRevenue grossProfit'],
  ['income', 'grossProfit', 'operatingIncome researchAndDevelopment sellingGeneralAndAdmin'],
  ['income', 'pretaxIncome', 'operatingIncome otherIncomeExpenseNet interestIncome'],
  ['income', 'pretaxIncome', 'netIncome incomeTax'],
  ['balance', 'totalAssets', 'totalLiabilities shareholderEquity'],
  [
    'balance',
    'currentAssets',
    'currentCash shortTermInvestments receivables inventory otherCurrentAssets',
  ],
  [
    'balance',
    'totalAssets',
    'currentAssets longTermInvestments propertyPlantEquipment goodwill intangibleAssets otherAssets',
  ],
  ['balance', 'shareholderEquity', 'commonStock retainedEarnings treasuryStock capitalSurplus'],
  ['cash', 'cashFlow', 'netIncome depreciation changesInReceivables changesInInventories'],
  ['cash', 'cashChange', 'cashFlow totalInvestingCashFlows cashFlowFinancing exchangeRateEffect'],
];

/** Statements add up, alone and together: within a period, from one to the next, and within a year. */
function checkStatements(statements: Statements, fail: (what: string) => void): void {
  for (const [of, total, parts] of SUMS) {
    for (const row of statements[of]) {
      if (Number(row[total]) !== sum(row, parts)) fail(`${of} ${total}: ${JSON.stringify(row)}`);
    }
  }
  const [income, balance, cash] = (['income', 'balance', 'cash'] as const).map((of) =>
    grouped(statements[of], 'symbol', 'period', 'fiscalDate'),
  );
  for (const [period, [row]] of income ?? []) {
    const flows = cash?.get(period)?.[0];
    if (row?.['netIncome'] !== flows?.['netIncome']) fail(`net income of ${period}`);
    if (balance?.get(period) === undefined) fail(`no balance of ${period}`);
  }
  const quarters = statements.balance.filter((row) => row['period'] === 'quarterly');
  for (const [symbol, rows] of grouped(quarters, 'symbol')) {
    for (const [at, row] of rows.entries()) {
      const before = rows[at - 1];
      if (before === undefined) continue;
      const flows = cash?.get(`${symbol} quarterly ${row['fiscalDate']}`)?.[0];
      const change = Number(row['currentCash']) - Number(before['currentCash']);
      if (change !== Number(flows?.['cashChange'])) fail(`cash of ${symbol} ${row['fiscalDate']}`);
    }
  }
  for (const row of statements.income.filter(({ period }) => period === 'annual')) {
    const own = statements.income.filter(
      (one) =>
        one['period'] === 'quarterly' &&
        one['symbol'] === row['symbol'] &&
        one['fiscalYear'] === row['fiscalYear'],
    );
    const earned = own.reduce((total, one) => total + Number(one['netIncome']), 0);
    // For older years not all quarters are stored.
    if (own.length === 4 && earned !== Number(row['netIncome'])) fail(`year ${row['fiscalDate']}`);
  }
}
