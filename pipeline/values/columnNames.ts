// Infers the type of a column by its name where its values are inconclusive: an identifier is text even if
// this file has only digits in it, a price is a number even if this file has no decimals. A later file may
// have both.
import type { Relation, SourceColumn } from './relation.ts';

/**
 * Names of identifiers, in lower case without punctuation. Each of them has leading zeros, letters or signs
 * in some file: 0005.HK, 037833100, 2330, `TRUE`, `NA`. PERMNO is not included, a number of five digits
 * from 10000 on; `id` and `code` are too general.
 */
const IDENTIFIERS: ReadonlySet<string> = new Set([
  'symbol',
  'symbols',
  'ticker',
  'tickers',
  'tickersymbol',
  'stocksymbol',
  'actsymbol',
  'key',
  'cqssymbol',
  'nasdaqsymbol',
  'localsymbol',
  'localcode',
  'stockcode',
  'securitycode',
  'ric',
  'bloombergticker',
  'contractsymbol',
  'optionsymbol',
  'occsymbol',
  'root',
  'underlying',
  'cusip',
  'cusip6',
  'cusip8',
  'cusip9',
  'isin',
  'isincode',
  'sedol',
  'sedol7',
  'wkn',
  'valor',
  'figi',
  'compositefigi',
  'shareclassfigi',
  'bbgid',
  'bbgglobalid',
  'cinsid',
  'mic',
  'cfi',
  'cik',
  'ciknumber',
  'cikstr',
  'lei',
  'leicode',
  'ein',
  'irsnumber',
  'taxid',
  'duns',
  'gvkey',
  'accession',
  'accessionno',
  'accessionnumber',
  'adsh',
  'secid',
  'securityid',
  'instrumentid',
  'account',
  'accountid',
  'accountno',
  'accountnumber',
  'acct',
  'acctid',
  'iban',
  'bic',
  'swift',
  'orderid',
  'ordernumber',
  'clordid',
  'clientorderid',
  'parentorderid',
  'execid',
  'tradeid',
  'transactionid',
  'clientid',
  'customerid',
  'counterpartyid',
  'portfolioid',
  'fundid',
  'invoiceid',
  'seriesid',
  'currency',
  'currencycode',
  'country',
  'countrycode',
  'iso2',
  'iso3',
  'fips',
  'fipscode',
  'zip',
  'zipcode',
  'postalcode',
  'postcode',
  'plz',
  'phone',
  'phonenumber',
  'telephone',
  'fax',
  'sic',
  'siccode',
  'naics',
  'naicscode',
  'nace',
  'nacecode',
  'gics',
  'gicscode',
  'hscode',
]);

/** Names of prices and other measures, in lower case without punctuation. */
const MEASURES: ReadonlySet<string> = new Set([
  'open',
  'high',
  'low',
  'close',
  'adjclose',
  'adjustedclose',
  'closelast',
  'settle',
  'settlement',
  'fopen',
  'fhigh',
  'flow',
  'fclose',
  'uopen',
  'uhigh',
  'ulow',
  'uclose',
  'previousclose',
  'prevclose',
  'openprice',
  'highprice',
  'lowprice',
  'closeprice',
  'lastprice',
  'latestprice',
  'price',
  'bid',
  'ask',
  'mid',
  'last',
  'bidprice',
  'askprice',
  'midprice',
  'limitprice',
  'stopprice',
  'averageprice',
  'avgprice',
  'strike',
  'strikeprice',
  'vwap',
  'twap',
  'nav',
  'yield',
  'rate',
  'value',
  'amount',
  'change',
  'changepercent',
  'changepct',
  'percentchange',
  'dividend',
  'dividends',
  'eps',
  'fee',
  'fees',
  'commission',
  'pnl',
  'cost',
  'notional',
  'marketvalue',
  'balance',
  'weight',
  'ratio',
  'beta',
  'volatility',
  'delta',
  'gamma',
  'theta',
  'vega',
  'coupon',
  'premium',
  'spread',
  'return',
]);

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Whether a property may become text for a code of a later file: its digits are not a quantity. */
export const isCodeName = (name: string): boolean =>
  /(?:^|[^a-z])(?:id|code|no|nr|number|ref|reference)$/i.test(name) ||
  /[a-z](?:Id|Code|No)$/.test(name);

/**
 * The relation with types inferred from the names of its columns. Parquet has its own types, and JSON marks
 * its own texts.
 */
export function withNamedTypes(relation: Relation): Relation {
  if (relation.kind === 'parquet') return relation;
  const named = (column: SourceColumn): SourceColumn => {
    const names = [bare(column.name), bare(column.from ?? '')];
    const { property } = column.inferred;
    const isText = relation.kind === 'csv' && names.some((name) => IDENTIFIERS.has(name));
    if (isText && column.constant === undefined) return asText(column);
    const isMeasure = property.type === 'integer' && names.some((name) => MEASURES.has(name));
    return isMeasure ? asNumber(column) : column;
  };
  return { ...relation, columns: relation.columns.map(named) };
}

function asText(column: SourceColumn): SourceColumn {
  const { open: _, ...inferred } = column.inferred;
  return {
    ...column,
    inferred: { ...inferred, property: { type: 'string' }, spelling: undefined },
  };
}

const asNumber = (column: SourceColumn): SourceColumn => ({
  ...column,
  inferred: { ...column.inferred, property: { type: 'number' } },
});
