// Earnings, statements and peers of the invented companies as CSV.
import { inputOf } from '../../inputs/inputs.ts';
import { addDays, addMonths, type Day, numberOfDay } from '../../../query/time/days.ts';
import { mergeStatements } from '../../reports/financials.ts';
import { type SampledMarket, histories } from '../sampledMarket.ts';
import type { Listing } from '../listings.ts';
import { type Amounts, type Report, sampleReports } from '../statements.ts';
import { analystsOf } from './analystRecords.ts';

/** Quarters and years with retained statements. */
const QUARTERS_KEPT = 12;
const YEARS_KEPT = 4;
const PEERS_MOST = 5;

interface Reported {
  readonly listing: Listing;
  readonly report: Report;
  /** The same period a year before. */
  readonly yearAgo: Report | undefined;
}

/** The latest reports of each company; the fund has none. */
function* reports(market: SampledMarket): Generator<Reported> {
  const { shape, session } = market;
  for (const [listing, history] of histories(market)) {
    if (listing.sector === undefined) continue;
    const all = sampleReports(shape.seed, listing, history, session.closed);
    for (const [period, keptCount] of [
      ['quarterly', QUARTERS_KEPT],
      ['annual', YEARS_KEPT],
    ] as const) {
      const own = all.filter((report) => report.period === period);
      const before = period === 'quarterly' ? 4 : 1;
      for (const [at, report] of own.entries()) {
        if (at < own.length - keptCount) continue;
        yield { listing, report, yearAgo: own[at - before] };
      }
    }
  }
}

function* statementLines(
  market: SampledMarket,
  id: 'BALANCE_SHEET' | 'CASH_FLOW' | 'FINANCIALS' | 'INCOME',
  of: (report: Report) => Amounts,
): Generator<string> {
  const names = inputOf(id)?.properties.map(({ name }) => name) ?? [];
  yield `${names.join(',')}\n`;
  for (const { listing, report } of reports(market)) {
    const { ended, period, quarter, reported, year } = report;
    const values: Readonly<Record<string, string | number>> = {
      symbol: listing.symbol,
      period,
      reportDate: reported,
      fiscalDate: ended,
      currency: 'USD',
      filingType: quarter === 0 ? '10-K' : '10-Q',
      fiscalQuarter: quarter,
      fiscalYear: year,
      ...of(report),
    };
    yield `${names.map((name) => values[name] ?? '').join(',')}\n`;
  }
}

export const incomeLines = (market: SampledMarket): Generator<string> =>
  statementLines(market, 'INCOME', ({ income }) => income);
export const balanceLines = (market: SampledMarket): Generator<string> =>
  statementLines(market, 'BALANCE_SHEET', ({ balance }) => balance);
export const cashLines = (market: SampledMarket): Generator<string> =>
  statementLines(market, 'CASH_FLOW', ({ cash }) => cash);

export const financialsLines = (market: SampledMarket): Generator<string> =>
  statementLines(market, 'FINANCIALS', ({ balance, cash, income }) =>
    mergeStatements([income, balance, cash]),
  );

const perShare = ({ income, shares }: Report): number =>
  Math.round(((income['netIncome'] ?? 0) / shares) * 100) / 100;

/** Estimate of analysts before the report. */
const expectedOf = (actual: number, { at }: Listing, { quarter, year }: Report): number =>
  cents(actual * (0.94 + ((at * 7 + year * 3 + quarter) % 13) / 100));

const announcedAt = ({ at }: Listing): string => (at % 2 === 0 ? 'AMC' : 'BTO');
const cents = (value: number): number => Math.round(value * 100) / 100;
const share = (value: number, of: number): number | '' =>
  of === 0 ? '' : Math.round((value / of) * 10_000) / 10_000;

export function* earningsLines(market: SampledMarket): Generator<string> {
  yield (
    'symbol,period,EPSReportDate,actualEPS,consensusEPS,announceTime,numberOfEstimates,' +
    'EPSSurpriseDollar,EPSSurpriseDollarPercent,fiscalPeriod,fiscalEndDate,yearAgo,' +
    'yearAgoChangePercent,currency,periodType\n'
  );
  for (const { listing, report, yearAgo } of reports(market)) {
    const { ended, period, quarter, reported, year } = report;
    const actual = perShare(report);
    const expected = expectedOf(actual, listing, report);
    const surprise = cents(actual - expected);
    const before = yearAgo === undefined ? undefined : perShare(yearAgo);
    const values = [
      listing.symbol,
      period,
      reported,
      actual,
      expected,
      announcedAt(listing),
      analystsOf(listing),
      surprise,
      share(surprise, expected),
      quarter === 0 ? `FY ${year}` : `Q${quarter} ${year}`,
      ended,
      before ?? '',
      before === undefined ? '' : share(actual - before, before),
      'USD',
      period,
    ];
    yield `${values.join(',')}\n`;
  }
}

interface NextReport {
  readonly listing: Listing;
  /** Last day of the period. */
  readonly ended: Day;
  readonly reportDate: Day;
  readonly fiscalPeriod: string;
  readonly consensus: number;
}

/** The next quarter to be reported by each company. */
function* nextReports(market: SampledMarket): Generator<NextReport> {
  const last = new Map<string, Reported>();
  for (const one of reports(market)) {
    if (one.report.period === 'quarterly') last.set(one.listing.symbol, one);
  }
  for (const { listing, report, yearAgo } of last.values()) {
    const year = report.quarter === 4 ? report.year + 1 : report.year;
    const next = { ...report, year, quarter: (report.quarter % 4) + 1 };
    // A quarter ends with a month: the day after it is the first of one.
    const ended = addDays(addMonths(addDays(report.ended, 1), 3), -1);
    yield {
      listing,
      ended,
      reportDate: addDays(ended, daysUntil(report)),
      fiscalPeriod: `Q${next.quarter} ${next.year}`,
      consensus: expectedOf(perShare(yearAgo ?? report), listing, next),
    };
  }
}

export function* estimateLines(market: SampledMarket): Generator<string> {
  yield (
    'symbol,period,reportDate,consensusEPS,announceTime,numberOfEstimates,fiscalPeriod,' +
    'fiscalEndDate,currency\n'
  );
  for (const { consensus, ended, fiscalPeriod, listing, reportDate } of nextReports(market)) {
    const head = [listing.symbol, 'quarterly', reportDate, consensus, announcedAt(listing)];
    yield `${[...head, analystsOf(listing), fiscalPeriod, ended, 'USD'].join(',')}\n`;
  }
}

export function* calendarLines(market: SampledMarket): Generator<string> {
  yield 'symbol,reportDate,announceTime,fiscalPeriod\n';
  for (const { fiscalPeriod, listing, reportDate } of nextReports(market)) {
    yield `${[listing.symbol, reportDate, announcedAt(listing), fiscalPeriod].join(',')}\n`;
  }
}

/** Days from the end of a period to its report. */
const daysUntil = ({ ended, reported }: Report): number =>
  numberOfDay(reported) - numberOfDay(ended);

export function* peerLines({ listings }: SampledMarket): Generator<string> {
  yield 'symbol,peer\n';
  for (const { at, sector, symbol } of listings) {
    if (sector === undefined) continue;
    const others = listings.filter((one) => one.sector !== undefined && one.at !== at);
    // Companies of its own sector first.
    const farOf = (one: Listing): number =>
      Math.abs(one.at - at) + (one.sector === sector ? 0 : listings.length);
    const near = others.sort((one, other) => farOf(one) - farOf(other));
    for (const peer of near.slice(0, PEERS_MOST)) yield `${symbol},${peer.symbol}\n`;
  }
}
