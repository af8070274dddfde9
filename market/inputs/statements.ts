// Inputs that are answers already: earnings, statements and peers of companies, one record a period or a peer
// (INTERFACE.md 1). The stock endpoints return their records as stored.
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import {
  type Input,
  type InputId,
  optionalProperty,
  requiredProperty,
  number,
  SYMBOL,
  text,
} from './inputRow.ts';

const BY_PERIOD: ColumnMapping = { key: 'symbol', subkey: 'period', date: 'reportDate' };

const PERIOD = requiredProperty(['period', 'string', 'quarterly', 'quarterly or annual.']);
const OF_REPORT = [
  SYMBOL,
  PERIOD,
  requiredProperty(['reportDate', 'date', '2026-01-29', 'Day of the report.']),
  optionalProperty(['fiscalDate', 'date', '2025-12-31', 'Last day of the period.']),
  text('currency', 'USD', 'Currency.'),
  text('filingType', '10-Q', 'Form of the filing.'),
  optionalProperty(['fiscalQuarter', 'integer', 4, 'Quarter; 0 for a year.']),
  optionalProperty(['fiscalYear', 'integer', 2025, 'Year.']),
];

/** Amounts of money in the currency; their names describe them. */
const amounts = (names: string) =>
  names.split(' ').map((name) => number(name, 1_000_000, `${wordsOf(name)}, in the currency.`));

/** `costOfRevenue` as `Cost of revenue`. */
function wordsOf(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const statement = (id: InputId, title: string, weight: number, names: string): Input => ({
  id,
  title,
  weight,
  mapping: BY_PERIOD,
  properties: [...OF_REPORT, ...amounts(names)],
});

const EARNINGS: Input = {
  id: 'EARNINGS',
  title: 'Earnings per share, one record a period',
  mapping: { key: 'symbol', subkey: 'period', date: 'EPSReportDate' },
  weight: 1_000,
  properties: [
    SYMBOL,
    PERIOD,
    requiredProperty(['EPSReportDate', 'date', '2026-01-29', 'Day of the report.']),
    number('actualEPS', 1.2, 'Earnings per share, in the currency.'),
    number('consensusEPS', 1.1, 'What was expected.'),
    text('announceTime', 'AMC', 'BTO before the opening, DMT during the session, AMC after it.'),
    optionalProperty(['numberOfEstimates', 'integer', 12, 'Estimates of the consensus.']),
    number('EPSSurpriseDollar', 0.1, 'Actual less expected.'),
    number('EPSSurpriseDollarPercent', 0.09, 'The same as a share of what was expected.'),
    text('fiscalPeriod', 'Q4 2025', 'Quarter and year.'),
    optionalProperty(['fiscalEndDate', 'date', '2025-12-31', 'Last day of the period.']),
    number('yearAgo', 1, 'Earnings per share a year before.'),
    number('yearAgoChangePercent', 0.2, 'Change since, as a share of it.'),
    text('currency', 'USD', 'Currency.'),
    text('periodType', 'quarterly', 'As the period.'),
  ],
};

const PEERS: Input = {
  id: 'PEERS',
  title: 'Peers, one record each',
  mapping: { key: 'symbol', subkey: 'peer' },
  weight: 25,
  properties: [SYMBOL, requiredProperty(['peer', 'string', 'GOOG', 'Symbol of a peer.'])],
};

/** Members of each statement, by their names. */
const STATEMENT_NAMES = {
  INCOME:
    'totalRevenue costOfRevenue grossProfit researchAndDevelopment sellingGeneralAndAdmin ' +
    'operatingExpense operatingIncome otherIncomeExpenseNet ebit interestIncome pretaxIncome ' +
    'incomeTax minorityInterest netIncome netIncomeBasic',
  BALANCE_SHEET:
    'currentCash shortTermInvestments receivables inventory otherCurrentAssets currentAssets ' +
    'longTermInvestments propertyPlantEquipment goodwill intangibleAssets otherAssets totalAssets ' +
    'accountsPayable currentLongTermDebt otherCurrentLiabilities totalCurrentLiabilities ' +
    'longTermDebt otherLiabilities minorityInterest totalLiabilities commonStock ' +
    'retainedEarnings treasuryStock capitalSurplus shareholderEquity netTangibleAssets',
  CASH_FLOW:
    'netIncome depreciation changesInReceivables changesInInventories cashChange cashFlow ' +
    'capitalExpenditures investments investingActivityOther totalInvestingCashFlows ' +
    'dividendsPaid netBorrowings otherFinancingCashFlows cashFlowFinancing exchangeRateEffect',
} as const;

/** All three statements at once, each name once, with derived values. */
const ALL_NAMES = [
  ...new Set([
    ...Object.values(STATEMENT_NAMES).flatMap((names) => names.split(' ')),
    'operatingRevenue',
    'currentDebt',
    'shortTermDebt',
    'totalCash',
    'totalDebt',
    'EBITDA',
  ]),
].join(' ');

const FUNDAMENTAL_VALUATIONS: Input = {
  id: 'FUNDAMENTAL_VALUATIONS',
  title: 'Ratios of price and statements, one record a period',
  mapping: { key: 'symbol', subkey: 'period', date: 'date' },
  weight: 5_000,
  properties: [
    SYMBOL,
    PERIOD,
    requiredProperty(['date', 'date', '2025-12-31', 'Day that they hold for.']),
    text('currency', 'USD', 'Currency.'),
    ...(
      'marketCap enterpriseValue peRatio pToE pToBv pToSales evToEbitda evToSales dividendYield ' +
      'earningsYield freeCashFlow freeCashFlowToRevenue debtToEquity debtToAssets currentRatio ' +
      'quickRatio grossMargin operatingMargin netMargin roa roce roe roic'
    )
      .split(' ')
      .map((name) => number(name, 12.5, `${wordsOf(name)}.`)),
  ],
};

const REPORTED_FINANCIALS: Input = {
  id: 'REPORTED_FINANCIALS',
  title: 'Filings as they were reported, one record each; further properties are their own',
  mapping: { key: 'symbol', subkey: 'formType', date: 'dateFiled' },
  weight: 5_000,
  properties: [
    SYMBOL,
    requiredProperty(['formType', 'string', '10-K', 'Form of the filing: 10-K, 10-Q, 20-F, 40-F.']),
    requiredProperty(['dateFiled', 'date', '2026-01-29', 'Day of the filing.']),
    optionalProperty(['formFiscalYear', 'integer', 2025, 'Year.']),
    optionalProperty(['formFiscalQuarter', 'integer', 4, 'Quarter; 0 for a year.']),
    text('version', 'us-gaap', 'Taxonomy of its names.'),
    optionalProperty(['periodStart', 'date', '2025-10-01', 'First day of the period.']),
    optionalProperty(['periodEnd', 'date', '2025-12-31', 'Last day of the period.']),
    text('reportLink', 'https://example.com/10-K', 'Where the filing is.'),
    ...amounts('Revenues NetIncomeLoss Assets Liabilities StockholdersEquity'),
  ],
};

export const STATEMENTS: readonly Input[] = [
  EARNINGS,
  statement('INCOME', 'Income statements, one record a period', 1_000, STATEMENT_NAMES.INCOME),
  statement(
    'BALANCE_SHEET',
    'Balance sheets, one record a period',
    3_000,
    STATEMENT_NAMES.BALANCE_SHEET,
  ),
  statement(
    'CASH_FLOW',
    'Cash flow statements, one record a period',
    1_000,
    STATEMENT_NAMES.CASH_FLOW,
  ),
  statement('FINANCIALS', 'All statements together, one record a period', 5_000, ALL_NAMES),
  statement('FUNDAMENTALS', 'All statements together, as fundamentals', 5_000, ALL_NAMES),
  FUNDAMENTAL_VALUATIONS,
  REPORTED_FINANCIALS,
  PEERS,
];
