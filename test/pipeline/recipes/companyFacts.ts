// The format in which the SEC returns all facts of one company: the values of its 10-Qs and 10-Ks, each
// with the comparative periods, the year to date, and cash flows of the year to date alone.

interface Fact {
  readonly start?: string;
  readonly end: string;
  readonly val: number;
  readonly accn: string;
  readonly fy: number;
  readonly fp: string;
  readonly form: string;
  readonly filed: string;
  readonly frame?: string;
}

type Facts = Record<string, Record<string, { label: string; units: Record<string, Fact[]> }>>;

/** Millions of one quarter. */
interface Quarter {
  readonly revenue: number;
  readonly cost: number;
  readonly expenses: number;
  readonly tax: number;
}

const STARTS = ['01-01', '04-01', '07-01', '10-01'] as const;
const ENDS = ['03-31', '06-30', '09-30', '12-31'] as const;
const FILED = ['05-05', '08-04', '11-03', '02-10'] as const;

export const MILLION = 1_000_000;

interface Company {
  /** Four for each year, from `firstYear` on. */
  readonly firstYear: number;
  readonly quarters: readonly Quarter[];
  /** The first year in which revenue has its newer concept. */
  readonly newConceptFrom: number;
}

const netOf = ({ cost, expenses, revenue, tax }: Quarter): number =>
  revenue - cost - expenses - tax;

const total = (quarters: readonly Quarter[], of: (one: Quarter) => number): number =>
  quarters.reduce((sum, one) => sum + of(one), 0) * MILLION;

/** The balance sheet after `count` quarters: earned cash, a plant, a debt. */
export function sheetAfter({ quarters }: Company, count: number) {
  const earned = total(quarters.slice(0, count), netOf);
  const [plant, debt, paid] = [500 * MILLION, 300 * MILLION, 700 * MILLION];
  const cash = 500 * MILLION + earned;
  return { cash, plant, debt, paid, earned, assets: cash + plant };
}

/** The document with the filings of the first `by` quarters. */
export function companyFactsOf(company: Company, by = company.quarters.length): Facts {
  const facts: Facts = { dei: {}, 'us-gaap': {} };
  const addFact = (concept: string, unit: string, fact: Fact): void => {
    const taxonomy = concept.startsWith('Entity') ? 'dei' : 'us-gaap';
    const all = (facts[taxonomy] ??= {});
    const { units } = (all[concept] ??= { label: concept, units: {} });
    (units[unit] ??= []).push(fact);
  };
  for (let at = 0; at < by; at += 1) file(company, at, addFact);
  return facts;
}

type Put = (concept: string, unit: string, fact: Fact) => void;

/** A filing and the company that it belongs to. */
interface Filed {
  readonly company: Company;
  readonly addFact: Put;
  readonly filing: Pick<Fact, 'accn' | 'fy' | 'fp' | 'form' | 'filed'>;
  readonly revenue: string;
}

/** Adds one filing: its quarter, that of a year ago, both years to date; a 10-K has no last quarter. */
function file(company: Company, at: number, addFact: Put): void {
  const { firstYear, newConceptFrom } = company;
  const [year, quarter] = [firstYear + Math.floor(at / 4), at % 4];
  const isYear = quarter === 3;
  const filing = {
    accn: `0000320193-${String(year - 2000)}-${String(at).padStart(6, '0')}`,
    fy: year,
    fp: isYear ? 'FY' : `Q${quarter + 1}`,
    form: isYear ? '10-K' : '10-Q',
    filed: `${isYear ? year + 1 : year}-${FILED[quarter]}`,
  };
  const isNew = year >= newConceptFrom;
  const revenue = isNew ? 'RevenueFromContractWithCustomerExcludingAssessedTax' : 'SalesRevenueNet';
  const filed = { company, addFact, filing, revenue };
  for (const last of [at, at - 4]) {
    if (last < 0) continue;
    if (!isYear && quarter > 0) flows(filed, last, last, false);
    flows(filed, last - quarter, last, true);
    // In a quarter's filing the sheet of a year ago is that of the year's end.
    if (last === at || isYear) sheet(filed, last);
  }
  const cover = { end: filing.filed, val: 100 * MILLION, ...filing, frame: `CY${year}Q4I` };
  addFact('EntityCommonStockSharesOutstanding', 'shares', cover);
}

const dayOf = (company: Company, at: number, days: readonly string[]): string =>
  `${company.firstYear + Math.floor(at / 4)}-${days[at % 4]}`;

function flows(filed: Filed, first: number, last: number, isWithCash: boolean): void {
  const { company, filing, addFact, revenue } = filed;
  const some = company.quarters.slice(first, last + 1);
  const [start, end] = [dayOf(company, first, STARTS), dayOf(company, last, ENDS)];
  const net = total(some, netOf);
  const flowValues = {
    [revenue]: total(some, (one) => one.revenue),
    CostOfRevenue: total(some, ({ cost }) => cost),
    SellingGeneralAndAdministrativeExpense: total(some, ({ expenses }) => expenses),
    OperatingIncomeLoss: total(some, (one) => netOf(one) + one.tax),
    IncomeTaxExpenseBenefit: total(some, ({ tax }) => tax),
    NetIncomeLoss: net,
  };
  const cash = {
    NetCashProvidedByUsedInOperatingActivities: net,
    CashAndCashEquivalentsPeriodIncreaseDecrease: net,
    PaymentsToAcquirePropertyPlantAndEquipment: 0,
  };
  for (const [concept, val] of Object.entries(
    isWithCash ? { ...flowValues, ...cash } : flowValues,
  )) {
    addFact(concept, 'USD', { start, end, val, ...filing });
  }
  const share = { start, end, val: net / (100 * MILLION), ...filing };
  addFact('EarningsPerShareDiluted', 'USD/shares', share);
}

function sheet({ company, filing, addFact }: Filed, last: number): void {
  const { assets, cash, debt, earned, paid, plant } = sheetAfter(company, last + 1);
  const sheetValues = {
    Assets: assets,
    CashAndCashEquivalentsAtCarryingValue: cash,
    PropertyPlantAndEquipmentNet: plant,
    LongTermDebtNoncurrent: debt,
    LiabilitiesAndStockholdersEquity: assets,
    RetainedEarningsAccumulatedDeficit: earned,
    StockholdersEquity: paid + earned,
  };
  for (const [concept, val] of Object.entries(sheetValues)) {
    addFact(concept, 'USD', { end: dayOf(company, last, ENDS), val, ...filing });
  }
}

export const companyDocument = (facts: object): string =>
  JSON.stringify({ cik: 320193, entityName: 'TAPE & DECK CORP', facts });

/** Three years of a company that grows. */
export const GROWING: Company = {
  firstYear: 2021,
  newConceptFrom: 2023,
  quarters: Array.from({ length: 12 }, (_, at) => ({
    revenue: 100 + at * 10,
    cost: 40 + at * 3,
    expenses: 20 + at,
    tax: 5 + at,
  })),
};
