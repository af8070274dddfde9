// docs/reference/market.md: generates the computed types and their inputs from the tables of market/.
import { INDICATORS } from '../../market/indicators/indicators.ts';
import { LIST_NAMES } from '../../market/board/board.ts';
import { computeExample, exampleRow, listMembers } from '../../market/types/example.ts';
import { MARKET_TYPES, type MarketType } from '../../market/types/marketTypes.ts';
import type { Input, InputProperty } from '../../market/inputs/inputRow.ts';
import { INPUTS, propertyTypeOf } from '../../market/inputs/inputs.ts';

const INTRODUCTION = `# Market types and inputs

Generated from the tables of \`market/\` by \`npm run docs\`; do not edit.

\`\`\`sh
cat > bars.csv <<'END'
symbol,date,open,high,low,close,volume
AAPL,2024-01-30,190.9,191.8,187.5,188,55859400
AAPL,2024-01-31,187.0,187.1,184.4,184.4,55467800
END
curl --data-binary @bars.csv -H 'Authorization: Bearer sk_…' \\
  'http://127.0.0.1:8080/v1/data/CORE/HISTORICAL_PRICES?wait=true'
curl 'http://127.0.0.1:8080/v1/stock/AAPL/quote/latestPrice?token=pk_…'
\`\`\`

Load daily bars as traded into workspace \`CORE\`, and minutes, trades, splits, dividends and companies if
you have them. \`/stock/{symbol}/{type}\` computes the types below at every request. Nothing is stored
twice, and no loaded price is changed.

- **Adjusted prices.** \`open\`, \`high\`, \`low\`, \`close\` and \`volume\` are adjusted for splits.
  \`uClose\` is as traded, \`fClose\` is adjusted for dividends too. Loaded values of these names are
  returned unchanged. For prices that are already split-adjusted, set \`isSplitAdjusted\` to true.
- **Known actions.** A split adjusts all bars before its ex-date, from that date on. With \`asOf\` only
  splits that were loaded by then count.
- **Missing values are null.** Without companies a quote has no market capitalisation. Without minutes and
  trades its latest price is the last close. A daily bar without a price is skipped.
- **Inputs.** The first load of an input creates all its properties. Names are matched in any case, and
  other columns are kept. [Files of vendors](../guides/vendors.md) need no mapping.
- **Loaded answers.** A dataset of \`CORE\` with the name in the last column replaces the computation: its
  latest record is the answer ([stock endpoints](stock.md)).
- **Attributes** of each type are in \`GET /v1/openapi-doc?part=market\`
  ([openapi-market.json](openapi-market.json)).
- **Symbols** are stored in upper case, class shares as \`BRK.B\`, preferred shares as \`BAC-PL\`. \`brk
  b\`, \`BRK/B\` and \`BRK-B\` are the same symbol, and so are \`BAC PRL\`, \`BAC.PR.L\`, \`BAC$L\` and
  \`BACpL\`. \`BAC-L\` stays as it is. Requests may use any of these spellings, or the FIGI, ISIN, CUSIP or
  CIK of \`SYMBOLS\`.
- \`chartIEXOnly\` and \`chartIEXWhenNull\` are accepted without effect: there is one feed.
`;

const STATEMENTS = `## Statements

\`\`\`text
npx tapedeck recipe add nasdaq-symbols
npx tapedeck recipe add sec-company-facts --set symbol=AAPL --set cik=320193 \\
  --set 'contact=Jane Doe jane@example.com'
\`\`\`

\`INCOME\`, \`BALANCE_SHEET\` and \`CASH_FLOW\` have a record for each quarter or year. \`FINANCIALS\` and
\`FUNDAMENTALS\` combine all three. Load the file of a vendor, or compute them from facts that a company
reported to the SEC. The recipes above provide \`/search/apple\`, \`/stock/AAPL/company\`, \`/income\`,
\`/balance-sheet\`, \`/cash-flow\`, \`/financials\` and, with prices, \`/advanced-stats\`.

Load a file of facts with \`tapedeck core load CIK0000320193.json --as INCOME --facts --symbol AAPL\`. Any
list (CSV, JSON, Parquet) works that has the columns \`concept\`, \`unit\`, \`start\`, \`end\`, \`val\`,
\`accn\`, \`fy\`, \`fp\`, \`form\` and \`filed\`.

- A record covers the period of a 10-K, 10-Q, 20-F or 40-F. \`reportDate\` is the day of its first filing.
- Values are those of the latest such form that contains the whole statement, so that they add up. A
  restatement replaces them; \`asOf\` reads the earlier ones. Other filings count only if no such form has
  the value.
- A value that is a thousand or a million times that of other filings is an error of scale and is left out.
  So is a total below half of one of its parts. The notes of the load count scale errors.
- A quarter that is reported only within longer periods is the year to date minus the previous quarters.
- \`market/reports/concepts.ts\` maps concepts to members. Members that a company does not report are null.
  Amounts are in the currency of most values.
- Inflows are positive and outflows negative: \`capitalExpenditures\`, \`dividendsPaid\`. \`totalAssets\`
  equals \`totalLiabilities\` + \`minorityInterest\` + \`shareholderEquity\`.
- Only us-gaap concepts are read. Companies that report by IFRS have none.
`;

const WIDE = `## Whole-market endpoints

| path | answer | messages |
| --- | --- | --- |
| \`/stock/market/list/{list}\` | quotes of the first \`listLimit\` (10) symbols of ${LIST_NAMES.map((name) => `\`${name}\``).join(', ')} | 2 each |
| \`/stock/market/ohlc\`, \`/stock/market/previous\` | the last day of every symbol; the last day before today | 2 each |
| \`/stock/market/volume\` | volume of the latest day of trades by venue | 1 a row |
| \`/stock/market/collection/{kind}?collectionName=\` | quotes of a sector, a tag or a list, at most 500 | 1 each |
| \`/stock/market/sector-performance\` | change of each sector, weighted by market value if known | 1 a row |
| \`/stock/market/today-earnings\` | EARNINGS dated today with quotes, by time of announcement | 1,001 each |
| \`/stock/market/upcoming-events\` | upcoming events of all companies; \`exactDate\` selects a day | by type |
| \`/stats/recent\`, \`/stats/records\`, \`/stats/historical\`, \`/stats/historical/daily\` | days of \`EXCHANGE_STATS\`; unknown values are null | 0 |
| \`/stats/intraday\` | sums of the latest day of \`TRADES\` | 0 |
| \`/hist\` | published captures \`TOPS\`, \`DEEP\`, \`DPLS\` by date; a numeric tag is the version of the feed | 0 |
| \`/ref-data/options/symbols\`, \`/ref-data/options/symbols/{symbol}/{expiration}\` | months by symbol; contracts (\`includeExpired\`) | 100 |
| \`/options/{contract}/chart\` | the time series of a contract | its weight |
| \`/ref-data/us/dates/{trade or holiday}/{next or last}/{n}/{YYYYMMDD}\` | trading days and holidays | 1 |

Lists of the exchange itself contain the whole market. Lists before and after trading hours are empty.
`;

/** The page of all computed types and of their inputs. */
export const marketPage = (): string =>
  [
    INTRODUCTION,
    '## Types',
    '',
    '| type | answer | computed from | messages | loaded as |',
    '|---|---|---|---|---|',
    ...MARKET_TYPES.map(rowOf),
    '',
    ...MARKET_TYPES.flatMap(sectionOf),
    ...indicatorsSection(),
    STATEMENTS,
    WIDE,
    '## Inputs',
    '',
    'Names of properties are matched in any case. Other columns are stored, but not part of market types.',
    '',
    ...INPUTS.flatMap(inputSection),
  ].join('\n');

const indicatorsSection = (): readonly string[] => [
  '## Technical indicators',
  '',
  'Indicators are computed over the bars of a range, adjusted for splits. They are null until there are',
  'enough bars. A bar without the input of an indicator is skipped. An indicator costs what its chart costs,',
  'and `lastIndicator` what one bar costs.',
  '',
  '| name | title | computed from | `input1` to `input4`, with their defaults | series |',
  '|---|---|---|---|---|',
  ...INDICATORS.map(
    ({ inputs, name, options, outputs, title }) =>
      `| \`${name}\` | ${title} | ${inputs.join(', ')} | ` +
      `${options.map((option) => `${option.name} ${option.value}`).join(', ')} | ${outputs.join(', ')} |`,
  ),
  '',
];

const SHAPES = { object: 'object', list: 'array', value: 'value' } as const;

const rowOf = (type: MarketType): string =>
  `| \`${type.name}\` | ${SHAPES[type.shape]} | ${type.of.join(' or ')} | ${priceOf(type)} | ` +
  `${type.loadedAs ?? ''} |`;

function priceOf({ charge }: MarketType): string {
  return charge.kind === 'answer' ? `${charge.weight} a symbol` : 'the weight of its dataset a row';
}

function sectionOf(type: MarketType): readonly string[] {
  const members = listMembers(type);
  const example = computeExample(type);
  const sample: unknown = Array.isArray(example) ? example.slice(0, 1) : example;
  return [
    `### ${type.name}`,
    '',
    type.summary,
    '',
    ...(type.options.length === 0
      ? []
      : [`Parameters: ${type.options.map((name) => `\`${name}\``).join(', ')}.`, '']),
    ...(members.length === 0
      ? []
      : [`Attributes: ${members.map((name) => `\`${name}\``).join(', ')}.`, '']),
    '```text',
    JSON.stringify(sample),
    '```',
    '',
  ];
}

function typeOf(property: InputProperty): string {
  const { format, type } = propertyTypeOf(property);
  return format ?? type;
}

function inputSection(input: Input): readonly string[] {
  const { key, subkey, date } = input.mapping;
  const index = [
    key && `key \`${key}\``,
    subkey && `subkey \`${subkey}\``,
    date && `date \`${date}\``,
  ];
  const row = exampleRow(input);
  return [
    `### ${input.id}`,
    '',
    `${input.title}. Index: ${index.filter(Boolean).join(', ')}. Weight ${input.weight}.`,
    '',
    '| property | type | required | meaning |',
    '|---|---|---|---|',
    ...input.properties.map(
      (property) =>
        `| \`${property.name}\` | ${typeOf(property)} | ${property.required === true ? 'yes' : ''} ` +
        `| ${property.help} |`,
    ),
    '',
    ...(input.carried === undefined
      ? []
      : [`Returned unchanged: ${input.carried.map((name) => `\`${name}\``).join(', ')}.`, '']),
    '```text',
    Object.keys(row).join(','),
    Object.values(row)
      .map((value) =>
        /[",]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : value,
      )
      .join(','),
    '```',
    '',
  ];
}
