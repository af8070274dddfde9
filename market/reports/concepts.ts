// The us-gaap concepts of each member of a statement. For each member the first formula is used that a filing
// covers completely: a sum of concepts (they begin with a capital), of members, and of optional terms (with a
// question mark). Companies choose among concepts, and taxonomies change.

import { lookupTable } from '../../store/base/lookupTable.ts';

export const STATEMENT_IDS = ['INCOME', 'BALANCE_SHEET', 'CASH_FLOW'] as const;
export type StatementId = (typeof STATEMENT_IDS)[number];

type Members = Readonly<Record<string, readonly string[]>>;

const INCOME: Members = {
  totalRevenue: [
    'Revenues',
    'RevenueFromContractWithCustomerExcludingAssessedTax',
    'RevenueFromContractWithCustomerIncludingAssessedTax',
    'SalesRevenueNet',
    'RevenuesNetOfInterestExpense',
    'SalesRevenueGoodsNet + SalesRevenueServicesNet?',
    'SalesRevenueServicesNet',
    'RegulatedAndUnregulatedOperatingRevenue',
    'InterestAndDividendIncomeOperating + NoninterestIncome?',
  ],
  costOfRevenue: [
    'CostOfRevenue',
    'CostOfGoodsAndServicesSold',
    'CostOfGoodsSold + CostOfServices?',
    'CostOfServices',
    'totalRevenue - GrossProfit',
  ],
  grossProfit: ['GrossProfit', 'totalRevenue - costOfRevenue'],
  researchAndDevelopment: [
    'ResearchAndDevelopmentExpense',
    'ResearchAndDevelopmentExpenseExcludingAcquiredInProcessCost',
  ],
  sellingGeneralAndAdmin: [
    'SellingGeneralAndAdministrativeExpense',
    'SellingAndMarketingExpense + GeneralAndAdministrativeExpense',
    'GeneralAndAdministrativeExpense',
  ],
  operatingExpense: [
    'totalRevenue - operatingIncome',
    'CostsAndExpenses',
    'costOfRevenue + OperatingExpenses',
    'OperatingExpenses',
  ],
  operatingIncome: [
    'OperatingIncomeLoss',
    'totalRevenue - CostsAndExpenses',
    'grossProfit - OperatingExpenses',
  ],
  otherIncomeExpenseNet: [
    'pretaxIncome - operatingIncome - interestIncome?',
    'NonoperatingIncomeExpense',
    'OtherNonoperatingIncomeExpense',
  ],
  ebit: ['operatingIncome + otherIncomeExpenseNet?', 'pretaxIncome - interestIncome?'],
  interestIncome: [
    'InterestIncomeExpenseNet',
    'InterestIncomeExpenseNonoperatingNet',
    'InvestmentIncomeInterest - InterestExpense?',
    '-InterestExpense',
    '-InterestExpenseNonoperating',
  ],
  pretaxIncome: [
    'IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest',
    'IncomeLossFromContinuingOperationsBeforeIncomeTaxesMinorityInterestAndIncome' +
      'LossFromEquityMethodInvestments',
    'ProfitLoss + IncomeTaxExpenseBenefit',
    'NetIncomeLoss + IncomeTaxExpenseBenefit',
  ],
  incomeTax: ['IncomeTaxExpenseBenefit'],
  minorityInterest: [
    'NetIncomeLossAttributableToNoncontrollingInterest',
    'ProfitLoss - NetIncomeLoss',
  ],
  netIncome: [
    'NetIncomeLoss',
    'ProfitLoss - NetIncomeLossAttributableToNoncontrollingInterest?',
    'NetIncomeLossAvailableToCommonStockholdersBasic',
  ],
  netIncomeBasic: ['NetIncomeLossAvailableToCommonStockholdersBasic', 'netIncome'],
};

const BALANCE_SHEET: Members = {
  currentCash: [
    'CashAndCashEquivalentsAtCarryingValue',
    'CashCashEquivalentsAndFederalFundsSold',
    'CashAndDueFromBanks',
    'Cash',
    'CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents',
  ],
  shortTermInvestments: [
    'ShortTermInvestments',
    'MarketableSecuritiesCurrent',
    'AvailableForSaleSecuritiesDebtSecuritiesCurrent',
    'AvailableForSaleSecuritiesCurrent',
    'OtherShortTermInvestments',
  ],
  receivables: [
    'AccountsReceivableNetCurrent',
    'ReceivablesNetCurrent',
    'AccountsNotesAndLoansReceivableNetCurrent',
    'AccountsAndOtherReceivablesNetCurrent',
  ],
  inventory: ['InventoryNet', 'InventoryNetOfAllowancesCustomerAdvancesAndProgressBillings'],
  otherCurrentAssets: ['OtherAssetsCurrent', 'PrepaidExpenseAndOtherAssetsCurrent'],
  currentAssets: ['AssetsCurrent'],
  longTermInvestments: [
    'LongTermInvestments',
    'MarketableSecuritiesNoncurrent',
    'AvailableForSaleSecuritiesDebtSecuritiesNoncurrent',
    'AvailableForSaleSecuritiesNoncurrent',
    'EquityMethodInvestments',
  ],
  propertyPlantEquipment: [
    'PropertyPlantAndEquipmentNet',
    'PropertyPlantAndEquipmentAndFinanceLeaseRightOfUseAssetAfterAccumulatedDepreciationAndAmortization',
  ],
  goodwill: ['Goodwill'],
  intangibleAssets: [
    'IntangibleAssetsNetExcludingGoodwill',
    'FiniteLivedIntangibleAssetsNet + IndefiniteLivedIntangibleAssetsExcludingGoodwill?',
  ],
  otherAssets: ['OtherAssetsNoncurrent', 'OtherAssets'],
  totalAssets: ['Assets', 'LiabilitiesAndStockholdersEquity'],
  accountsPayable: [
    'AccountsPayableCurrent',
    'AccountsPayableTradeCurrent',
    'AccountsPayableAndAccruedLiabilitiesCurrent',
  ],
  currentLongTermDebt: [
    'LongTermDebtCurrent',
    'LongTermDebtAndCapitalLeaseObligationsCurrent',
    'DebtCurrent',
  ],
  otherCurrentLiabilities: ['OtherLiabilitiesCurrent', 'AccruedLiabilitiesCurrent'],
  totalCurrentLiabilities: ['LiabilitiesCurrent'],
  longTermDebt: [
    'LongTermDebtNoncurrent',
    'LongTermDebtAndCapitalLeaseObligations',
    'LongTermDebt',
    'LongTermNotesPayable',
  ],
  otherLiabilities: ['OtherLiabilitiesNoncurrent', 'OtherLiabilities'],
  minorityInterest: [
    'MinorityInterest + RedeemableNoncontrollingInterestEquityCarryingAmount?',
    'RedeemableNoncontrollingInterestEquityCarryingAmount',
    'StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest - StockholdersEquity',
  ],
  totalLiabilities: [
    'Liabilities',
    'totalAssets - shareholderEquity - minorityInterest? - TemporaryEquityCarrying' +
      'AmountAttributableToParent?',
  ],
  commonStock: ['CommonStockValue', 'CommonStocksIncludingAdditionalPaidInCapital'],
  retainedEarnings: ['RetainedEarningsAccumulatedDeficit'],
  treasuryStock: ['-TreasuryStockValue', '-TreasuryStockCommonValue'],
  capitalSurplus: ['AdditionalPaidInCapital', 'AdditionalPaidInCapitalCommonStock'],
  shareholderEquity: [
    'StockholdersEquity',
    'StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest - MinorityInterest?',
    'PartnersCapital',
    'MembersEquity',
    'Assets - Liabilities',
  ],
  netTangibleAssets: ['shareholderEquity - goodwill? - intangibleAssets?'],
};

const CASH_FLOW: Members = {
  netIncome: ['NetIncomeLoss', 'ProfitLoss'],
  depreciation: [
    'DepreciationDepletionAndAmortization',
    'DepreciationAmortizationAndAccretionNet',
    'DepreciationAndAmortization',
    'Depreciation + AmortizationOfIntangibleAssets?',
  ],
  changesInReceivables: [
    '-IncreaseDecreaseInAccountsReceivable',
    '-IncreaseDecreaseInReceivables',
    '-IncreaseDecreaseInAccountsAndOtherReceivables',
  ],
  changesInInventories: [
    '-IncreaseDecreaseInInventories',
    '-IncreaseDecreaseInRetailRelatedInventories',
  ],
  cashChange: [
    'CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalentsPeriodIncrease' +
      'DecreaseIncludingExchangeRateEffect',
    'CashAndCashEquivalentsPeriodIncreaseDecrease',
    'cashFlow + totalInvestingCashFlows + cashFlowFinancing + exchangeRateEffect?',
  ],
  cashFlow: [
    'NetCashProvidedByUsedInOperatingActivities',
    'NetCashProvidedByUsedInOperatingActivitiesContinuingOperations',
  ],
  capitalExpenditures: [
    '-PaymentsToAcquirePropertyPlantAndEquipment',
    '-PaymentsToAcquireProductiveAssets',
    '-PaymentsForCapitalImprovements',
  ],
  investments: [
    '-PaymentsForProceedsFromInvestments',
    'ProceedsFromSaleMaturityAndCollectionsOfInvestments? - PaymentsToAcquireInvestments',
    'ProceedsFromMaturitiesPrepaymentsAndCallsOfAvailableForSaleSecurities? ' +
      '+ ProceedsFromSaleOfAvailableForSaleSecuritiesDebt? ' +
      '- PaymentsToAcquireAvailableForSaleSecuritiesDebt',
  ],
  investingActivityOther: ['-PaymentsForProceedsFromOtherInvestingActivities'],
  totalInvestingCashFlows: [
    'NetCashProvidedByUsedInInvestingActivities',
    'NetCashProvidedByUsedInInvestingActivitiesContinuingOperations',
  ],
  dividendsPaid: [
    '-PaymentsOfDividends',
    '-PaymentsOfDividendsCommonStock - PaymentsOfDividendsPreferredStockAndPreferenceStock?',
    '-PaymentsOfOrdinaryDividends',
  ],
  netBorrowings: [
    'ProceedsFromRepaymentsOfDebt',
    'ProceedsFromIssuanceOfLongTermDebt - RepaymentsOfLongTermDebt? ' +
      '+ ProceedsFromRepaymentsOfShortTermDebt? + ProceedsFromRepaymentsOfCommercialPaper?',
    'ProceedsFromIssuanceOfDebt - RepaymentsOfDebt?',
    'ProceedsFromRepaymentsOfShortTermDebt? + ProceedsFromRepaymentsOfCommercialPaper? ' +
      '- RepaymentsOfLongTermDebt',
    '-RepaymentsOfDebt',
    'ProceedsFromRepaymentsOfShortTermDebt',
    'ProceedsFromRepaymentsOfCommercialPaper',
  ],
  otherFinancingCashFlows: ['ProceedsFromPaymentsForOtherFinancingActivities'],
  cashFlowFinancing: [
    'NetCashProvidedByUsedInFinancingActivities',
    'NetCashProvidedByUsedInFinancingActivitiesContinuingOperations',
  ],
  exchangeRateEffect: [
    'EffectOfExchangeRateOnCashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents',
    'EffectOfExchangeRateOnCashAndCashEquivalents',
  ],
};

export const STATEMENT_MEMBERS: Readonly<Record<StatementId, Members>> = {
  INCOME,
  BALANCE_SHEET,
  CASH_FLOW,
};

/**
 * Parts of a total. Some companies use the concept of a total for one segment: a total far below one of its
 * parts is ignored.
 */
export const PARTS_OF = lookupTable<readonly string[]>({
  Revenues: [
    'RevenueFromContractWithCustomerExcludingAssessedTax',
    'RevenueFromContractWithCustomerIncludingAssessedTax',
    'SalesRevenueNet',
  ],
  CostOfRevenue: ['CostOfGoodsAndServicesSold', 'CostOfGoodsSold'],
});

/** Members that every such statement has: a filing with one of them for a period contains that statement. */
export const ANCHORS: Readonly<Record<StatementId, readonly string[]>> = {
  INCOME: ['NetIncomeLoss', 'ProfitLoss'],
  BALANCE_SHEET: ['Assets', 'LiabilitiesAndStockholdersEquity'],
  CASH_FLOW: [
    'NetCashProvidedByUsedInOperatingActivities',
    'NetCashProvidedByUsedInOperatingActivitiesContinuingOperations',
  ],
};
