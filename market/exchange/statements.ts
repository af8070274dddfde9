// Statements of an invented company: quarters by double entry, so that assets equal liabilities and equity,
// cash changes by its flows, and years are the sums of their quarters.
import { addDays, type Day } from '../../query/time/days.ts';
import { type RandomNumbers, seededRandom } from './seededRandom.ts';
import type { Bar, History } from './history.ts';
import { FOUNDED, type Listing } from './listings.ts';

/** Amounts in whole dollars. */
export type Amounts = Readonly<Record<string, number>>;

export interface Report {
  readonly period: 'quarterly' | 'annual';
  readonly year: number;
  /** 1 to 4; 0 for a year. */
  readonly quarter: number;
  /** Last day of the period, and day of the report. */
  readonly ended: Day;
  readonly reported: Day;
  /** Shares at the end of the period. */
  readonly shares: number;
  readonly income: Amounts;
  readonly balance: Amounts;
  readonly cash: Amounts;
}

const ENDS = ['-03-31', '-06-30', '-09-30', '-12-31'] as const;
const TAX = 0.21;
/** Random stream of statements. */
const STREAM = 11;

/** Every quarter and year reported by a day, the oldest first. */
export function sampleReports(
  seed: number,
  listing: Listing,
  history: History,
  by: Day,
): readonly Report[] {
  const reports: Report[] = [];
  let before = opening(listing);
  let year: Report[] = [];
  const from = listing.firstDay > FOUNDED ? listing.firstDay : FOUNDED;
  for (let at = Number(from.slice(0, 4)); at <= Number(by.slice(0, 4)); at += 1) {
    year = [];
    for (const [place, end] of ENDS.entries()) {
      const ended = `${at}${end}`;
      const reported = addDays(ended, 28 + (listing.at % 17));
      const bar = barBy(history.bars, ended);
      if (ended <= from || reported > by || bar === undefined) continue;
      const shares = sharesAt(listing, history, ended);
      const quarter = place + 1;
      const statements = quarterOf({ seed, listing, shares, bar, before, year: at, quarter });
      before = statements.balance;
      const report = {
        ...statements,
        period: 'quarterly',
        year: at,
        quarter,
        ended,
        reported,
      } as const;
      reports.push({ ...report, shares });
      year.push({ ...report, shares });
    }
    const last = year.at(-1);
    if (year.length === ENDS.length && last !== undefined) reports.push(yearOf(year, last));
  }
  return reports;
}

/** The latest bar on or before a day. */
function barBy(bars: readonly Bar[], day: Day): Bar | undefined {
  let [from, to] = [0, bars.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((bars[middle]?.day ?? '') <= day) from = middle + 1;
    else to = middle;
  }
  return bars[from - 1];
}

export const sharesAt = (listing: Listing, { splits }: History, day: Day): number =>
  Math.round(
    splits
      .filter(({ exDay }) => exDay <= day)
      .reduce((sum, { from, to }) => (sum * to) / from, listing.shares),
  );

/** Balance sheet before the first quarter; the stock balances both sides. */
function opening({ at, firstCents, shares }: Listing): Amounts {
  const worth = (shares * firstCents) / 100;
  const share = (part: number): number => Math.round(worth * part);
  const sheet = {
    currentCash: share(0.05),
    shortTermInvestments: share(0.02),
    receivables: share(0.04),
    inventory: share(0.03),
    otherCurrentAssets: share(0.01),
    longTermInvestments: share(0.03),
    propertyPlantEquipment: share(0.2),
    goodwill: share(0.02 + (at % 5) / 100),
    intangibleAssets: share(0.02),
    otherAssets: share(0.01),
    accountsPayable: share(0.03),
    currentLongTermDebt: share(0.005),
    otherCurrentLiabilities: share(0.01),
    longTermDebt: share(0.1),
    otherLiabilities: share(0.02),
    minorityInterest: 0,
    commonStock: 0,
    retainedEarnings: 0,
    treasuryStock: 0,
    capitalSurplus: share(0.02),
  };
  const { assets, liabilities } = sidesOf(sheet);
  return summed({ ...sheet, commonStock: assets - liabilities - sheet.capitalSurplus });
}

type Sheet = Readonly<
  Record<(typeof CURRENT | typeof LASTING | typeof OWED | typeof OWN)[number], number>
>;

const CURRENT = [
  ...(['currentCash', 'shortTermInvestments', 'receivables', 'inventory'] as const),
  'otherCurrentAssets',
] as const;
const LASTING = [
  ...(['longTermInvestments', 'propertyPlantEquipment', 'goodwill', 'intangibleAssets'] as const),
  'otherAssets',
] as const;
const OWED = [
  ...(['accountsPayable', 'currentLongTermDebt', 'otherCurrentLiabilities'] as const),
  ...(['longTermDebt', 'otherLiabilities', 'minorityInterest'] as const),
] as const;
const OWN = ['commonStock', 'retainedEarnings', 'treasuryStock', 'capitalSurplus'] as const;

const sumOf = (sheet: Sheet, names: readonly (keyof Sheet)[]): number =>
  names.reduce((sum, name) => sum + sheet[name], 0);

const sidesOf = (sheet: Sheet) => ({
  assets: sumOf(sheet, [...CURRENT, ...LASTING]),
  liabilities: sumOf(sheet, OWED),
});

/** A sheet with its sums. */
function summed(sheet: Sheet): Sheet & Amounts {
  const { assets, liabilities } = sidesOf(sheet);
  const equity = sumOf(sheet, OWN);
  return {
    ...sheet,
    currentAssets: sumOf(sheet, CURRENT),
    totalAssets: assets,
    totalCurrentLiabilities: sumOf(sheet, OWED.slice(0, 3)),
    totalLiabilities: liabilities,
    shareholderEquity: equity,
    netTangibleAssets: equity - sheet.goodwill - sheet.intangibleAssets,
  };
}

interface Quarter {
  readonly seed: number;
  readonly listing: Listing;
  readonly shares: number;
  readonly bar: Bar;
  readonly before: Amounts;
  readonly year: number;
  readonly quarter: number;
}

function quarterOf(input: Quarter) {
  const { before, listing, quarter, seed, year } = input;
  const draws = seededRandom(seed, listing.at, year * 4 + quarter, STREAM);
  const was = before as Sheet & Amounts;
  const income = incomeOf(input, was, draws);
  const { netIncome } = income;
  const cash = cashOf(input, was, income, draws);
  const balance = summed({
    ...was,
    currentCash: was.currentCash + cash.cashChange,
    receivables: was.receivables - cash.changesInReceivables,
    inventory: was.inventory - cash.changesInInventories,
    propertyPlantEquipment:
      was.propertyPlantEquipment - cash.capitalExpenditures - cash.depreciation,
    longTermDebt: was.longTermDebt + cash.netBorrowings,
    retainedEarnings: was.retainedEarnings + netIncome + cash.dividendsPaid,
  });
  return { income, balance, cash };
}

function incomeOf(
  { bar, listing, shares }: Quarter,
  was: Sheet,
  { normal, uniform }: RandomNumbers,
) {
  // A price of 12 to 31 times the earnings of a year.
  const worth = (shares * bar.close) / 100;
  const aim = (worth / (12 + (listing.at % 20)) / 4) * Math.exp(0.1 * normal());
  const margin = 0.06 + ((listing.at * 13) % 17) / 100;
  const totalRevenue = Math.max(1, Math.round(aim / margin));
  const part = (share: number): number => Math.round(totalRevenue * share);
  const interestIncome = -Math.round(was.longTermDebt * 0.01);
  const otherIncomeExpenseNet = part(0.002 * normal());
  const pretaxIncome = Math.round(aim / (1 - TAX));
  const operatingIncome = pretaxIncome - interestIncome - otherIncomeExpenseNet;
  const researchAndDevelopment = part(0.02 + uniform() * 0.05);
  const sellingGeneralAndAdmin = part(0.08 + uniform() * 0.06);
  const grossProfit = operatingIncome + researchAndDevelopment + sellingGeneralAndAdmin;
  const incomeTax = Math.round(pretaxIncome * TAX);
  const netIncome = pretaxIncome - incomeTax;
  return {
    totalRevenue,
    costOfRevenue: totalRevenue - grossProfit,
    grossProfit,
    researchAndDevelopment,
    sellingGeneralAndAdmin,
    operatingExpense: totalRevenue - operatingIncome,
    operatingIncome,
    otherIncomeExpenseNet,
    ebit: operatingIncome + otherIncomeExpenseNet,
    interestIncome,
    pretaxIncome,
    incomeTax,
    minorityInterest: 0,
    netIncome,
    netIncomeBasic: netIncome,
  };
}

function cashOf(
  { listing }: Quarter,
  was: Sheet,
  { netIncome, totalRevenue }: ReturnType<typeof incomeOf>,
  { normal, uniform }: RandomNumbers,
) {
  const part = (share: number): number => Math.round(totalRevenue * share);
  const depreciation = Math.round(was.propertyPlantEquipment * 0.02);
  const changesInReceivables = -part(0.005 * (1 + normal()));
  const changesInInventories = -part(0.004 * (1 + normal()));
  const cashFlow = netIncome + depreciation + changesInReceivables + changesInInventories;
  const capitalExpenditures = -Math.round(depreciation * (0.9 + uniform() * 0.4));
  const dividendsPaid = -Math.round(netIncome * (listing.dividendYield > 0 ? 0.4 : 0));
  const netBorrowings = Math.round(was.longTermDebt * 0.01 * normal());
  const cashFlowFinancing = dividendsPaid + netBorrowings;
  const cashChange = cashFlow + capitalExpenditures + cashFlowFinancing;
  return {
    netIncome,
    depreciation,
    changesInReceivables,
    changesInInventories,
    cashChange,
    cashFlow,
    capitalExpenditures,
    investments: 0,
    investingActivityOther: 0,
    totalInvestingCashFlows: capitalExpenditures,
    dividendsPaid,
    netBorrowings,
    otherFinancingCashFlows: 0,
    cashFlowFinancing,
    exchangeRateEffect: 0,
  };
}

/** A year: sums of flows, with the balance of its end. */
function yearOf(quarters: readonly Report[], last: Report): Report {
  const added = (of: (report: Report) => Amounts): Amounts =>
    Object.fromEntries(
      Object.keys(of(last)).map((name) => [
        name,
        quarters.reduce((sum, report) => sum + (of(report)[name] ?? 0), 0),
      ]),
    );
  return {
    ...last,
    period: 'annual',
    quarter: 0,
    income: added(({ income }) => income),
    cash: added(({ cash }) => cash),
  };
}
