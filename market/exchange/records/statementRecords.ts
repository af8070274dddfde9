// Earnings, statements and peers of the invented companies as CSV.
import { inputOf } from '../../inputs/inputs.ts';
import { addDays, addMonths, numberOfDay } from '../../../query/time/days.ts';
import { financialsOf } from '../../reports/financials.ts';
import { type Drawn, histories } from '../drawn.ts';
import type { Listing } from '../listings.ts';
import { type Amounts, type Report, reportsOf } from '../statements.ts';

/** Quarters and years of which statements are kept. */
const QUARTERS_KEPT = 12;
const YEARS_KEPT = 4;
const PEERS_MOST = 5;

interface Reported {
  readonly listing: Listing;
  readonly report: Report;
  /** The same period a year before. */
  readonly yearAgo: Report | undefined;
}

/** The newest reports of each company; the fund makes none. */
function* reports(drawn: Drawn): Generator<Reported> {
  const { shape, standing } = drawn;
  for (const [listing, history] of histories(drawn)) {
    if (listing.sector === undefined) continue;
    const all = reportsOf(shape.seed, listing, history, standing.closed);
    for (const [period, kept] of [
      ['quarterly', QUARTERS_KEPT],
      ['annual', YEARS_KEPT],
    ] as const) {
      const own = all.filter((report) => report.period === period);
      const before = period === 'quarterly' ? 4 : 1;
      for (const [at, report] of own.entries()) {
        if (at < own.length - kept) continue;
        yield { listing, report, yearAgo: own[at - before] };
      }
    }
  }
}

function* statementLines(
  drawn: Drawn,
  id: 'BALANCE_SHEET' | 'CASH_FLOW' | 'FINANCIALS' | 'INCOME',
  of: (report: Report) => Amounts,
): Generator<string> {
  const names = inputOf(id)?.properties.map(({ name }) => name) ?? [];
  yield `${names.join(',')}\n`;
  for (const { listing, report } of reports(drawn)) {
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

export const incomeLines = (drawn: Drawn): Generator<string> =>
  statementLines(drawn, 'INCOME', ({ income }) => income);
export const balanceLines = (drawn: Drawn): Generator<string> =>
  statementLines(drawn, 'BALANCE_SHEET', ({ balance }) => balance);
export const cashLines = (drawn: Drawn): Generator<string> =>
  statementLines(drawn, 'CASH_FLOW', ({ cash }) => cash);

export const financialsLines = (drawn: Drawn): Generator<string> =>
  statementLines(drawn, 'FINANCIALS', ({ balance, cash, income }) =>
    financialsOf([income, balance, cash]),
  );

const perShare = ({ income, shares }: Report): number =>
  Math.round(((income['netIncome'] ?? 0) / shares) * 100) / 100;

/** What analysts thought of it beforehand. */
const expectedOf = (actual: number, { at }: Listing, { quarter, year }: Report): number =>
  cents(actual * (0.94 + ((at * 7 + year * 3 + quarter) % 13) / 100));

const announcedAt = ({ at }: Listing): string => (at % 2 === 0 ? 'AMC' : 'BTO');
const analystsOf = ({ at }: Listing): number => 3 + (at % 20);

const cents = (value: number): number => Math.round(value * 100) / 100;
const share = (value: number, of: number): number | '' =>
  of === 0 ? '' : Math.round((value / of) * 10_000) / 10_000;

export function* earningsLines(drawn: Drawn): Generator<string> {
  yield (
    'symbol,period,EPSReportDate,actualEPS,consensusEPS,announceTime,numberOfEstimates,' +
    'EPSSurpriseDollar,EPSSurpriseDollarPercent,fiscalPeriod,fiscalEndDate,yearAgo,' +
    'yearAgoChangePercent,currency,periodType\n'
  );
  for (const { listing, report, yearAgo } of reports(drawn)) {
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

/** Of each company the quarter that it reports next. */
export function* estimateLines(drawn: Drawn): Generator<string> {
  yield (
    'symbol,period,reportDate,consensusEPS,announceTime,numberOfEstimates,fiscalPeriod,' +
    'fiscalEndDate,currency\n'
  );
  const last = new Map<string, Reported>();
  for (const one of reports(drawn)) {
    if (one.report.period === 'quarterly') last.set(one.listing.symbol, one);
  }
  for (const [symbol, { listing, report, yearAgo }] of last) {
    const year = report.quarter === 4 ? report.year + 1 : report.year;
    const next = { ...report, year, quarter: (report.quarter % 4) + 1 };
    // A quarter ends with a month: the day after it is the first of one.
    const ended = addDays(addMonths(addDays(report.ended, 1), 3), -1);
    const values = [
      symbol,
      'quarterly',
      addDays(ended, daysUntil(report)),
      expectedOf(perShare(yearAgo ?? report), listing, next),
      announcedAt(listing),
      analystsOf(listing),
      `Q${next.quarter} ${next.year}`,
      ended,
      'USD',
    ];
    yield `${values.join(',')}\n`;
  }
}

/** How long after its end a period is reported. */
const daysUntil = ({ ended, reported }: Report): number =>
  numberOfDay(reported) - numberOfDay(ended);

export function* peerLines({ listings }: Drawn): Generator<string> {
  yield 'symbol,peer\n';
  for (const { at, sector, symbol } of listings) {
    if (sector === undefined) continue;
    const others = listings.filter((one) => one.sector !== undefined && one.at !== at);
    // Of its own sector first.
    const farOf = (one: Listing): number =>
      Math.abs(one.at - at) + (one.sector === sector ? 0 : listings.length);
    const near = others.sort((one, other) => farOf(one) - farOf(other));
    for (const peer of near.slice(0, PEERS_MOST)) yield `${symbol},${peer.symbol}\n`;
  }
}
