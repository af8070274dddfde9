// Inputs that are answers already: earnings, statements and peers of companies, a record a period or a
// peer (INTERFACE.md 1). The stock door serves their records as they stand.
import type { ColumnMapping } from '../../store/datasets/datasets.ts';
import { type Input, type InputId, known, needed, number, SYMBOL, text } from './inputRow.ts';

const BY_PERIOD: ColumnMapping = { key: 'symbol', subkey: 'period', date: 'reportDate' };

const PERIOD = needed(['period', 'string', 'quarterly', 'quarterly or annual.']);
const OF_REPORT = [
  SYMBOL,
  PERIOD,
  needed(['reportDate', 'date', '2026-01-29', 'Day of the report.']),
  known(['fiscalDate', 'date', '2025-12-31', 'Last day of the period.']),
  text('currency', 'USD', 'Currency.'),
  text('filingType', '10-Q', 'Form of the filing.'),
  known(['fiscalQuarter', 'integer', 4, 'Quarter; 0 for a year.']),
  known(['fiscalYear', 'integer', 2025, 'Year.']),
];

/** Amounts of money in the currency, by their names: what they are stands in the names. */
const amounts = (names: string) =>
  names.split(' ').map((name) => number(name, 1_000_000, `${wordsOf(name)}, in the currency.`));

/** `costOfRevenue` as `Cost of revenue`. */
function wordsOf(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const statement = (id: InputId, title: string, weight: number, names: string): Input => ({
  ...{ id, title, weight, mapping: BY_PERIOD, properties: [...OF_REPORT, ...amounts(names)] },
});

const EARNINGS: Input = {
  id: 'EARNINGS',
  title: 'Earnings per share, one record a period',
  mapping: { key: 'symbol', subkey: 'period', date: 'EPSReportDate' },
  weight: 1_000,
  properties: [
    SYMBOL,
    PERIOD,
    needed(['EPSReportDate', 'date', '2026-01-29', 'Day of the report.']),
    number('actualEPS', 1.2, 'Earnings per share, in the currency.'),
    number('consensusEPS', 1.1, 'What was expected.'),
    text('announceTime', 'AMC', 'BTO before the opening, DMT during the session, AMC after it.'),
    known(['numberOfEstimates', 'integer', 12, 'Estimates of the consensus.']),
    number('EPSSurpriseDollar', 0.1, 'Actual less expected.'),
    number('EPSSurpriseDollarPercent', 0.09, 'The same as a share of what was expected.'),
    text('fiscalPeriod', 'Q4 2025', 'Quarter and year.'),
    known(['fiscalEndDate', 'date', '2025-12-31', 'Last day of the period.']),
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
  properties: [SYMBOL, needed(['peer', 'string', 'GOOG', 'Symbol of a peer.'])],
};

export const STATEMENTS: readonly Input[] = [
  EARNINGS,
  statement(
    'INCOME',
    'Income statements, one record a period',
    1_000,
    'totalRevenue costOfRevenue grossProfit researchAndDevelopment sellingGeneralAndAdmin ' +
      'operatingExpense operatingIncome otherIncomeExpenseNet ebit interestIncome pretaxIncome ' +
      'incomeTax minorityInterest netIncome netIncomeBasic',
  ),
  statement(
    'BALANCE_SHEET',
    'Balance sheets, one record a period',
    3_000,
    'currentCash shortTermInvestments receivables inventory otherCurrentAssets currentAssets ' +
      'longTermInvestments propertyPlantEquipment goodwill intangibleAssets otherAssets totalAssets ' +
      'accountsPayable currentLongTermDebt otherCurrentLiabilities totalCurrentLiabilities ' +
      'longTermDebt otherLiabilities minorityInterest totalLiabilities commonStock ' +
      'retainedEarnings treasuryStock capitalSurplus shareholderEquity netTangibleAssets',
  ),
  statement(
    'CASH_FLOW',
    'Cash flow statements, one record a period',
    1_000,
    'netIncome depreciation changesInReceivables changesInInventories cashChange cashFlow ' +
      'capitalExpenditures investments investingActivityOther totalInvestingCashFlows ' +
      'dividendsPaid netBorrowings otherFinancingCashFlows cashFlowFinancing exchangeRateEffect',
  ),
  PEERS,
];
