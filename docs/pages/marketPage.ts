// docs/reference/market.md: the types that are computed, and what they are computed from, of their tables.
import { INDICATORS } from '../../market/indicators/indicators.ts';
import { LIST_NAMES } from '../../market/board/board.ts';
import { exampleOf, exampleRow, membersOf } from '../../market/types/example.ts';
import { MARKET_TYPES, type MarketType } from '../../market/types/marketTypes.ts';
import type { Input, InputProperty } from '../../market/inputs/inputRow.ts';
import { INPUTS, propertyTypeOf } from '../../market/inputs/inputs.ts';

const INTRODUCTION = `# Market data

Generated from the tables of \`market/\` by \`npm run docs\`; do not edit.

Load what you have into workspace \`CORE\`: daily bars as they were traded, and minutes, trades, splits,
dividends and companies if you have them. \`/stock/{symbol}/{type}\` computes the types below from it at
every request; nothing is stored twice, and no price that you loaded is changed.

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

- **Adjusted prices**: \`open\`, \`high\`, \`low\`, \`close\` and \`volume\` are in shares of today:
  splits are taken out. \`uClose\` is as it was traded, \`fClose\` is adjusted for dividends too. What a
  record carries under these names is served as it stands. If the prices of a file are adjusted for
  splits already, say so with \`isSplitAdjusted\` true in its records.
- **Actions are those known**: a split counts from its ex-date on, for all bars before it; with \`asOf\`
  those that were loaded by then count.
- **What is missing is null**: without companies a quote has no market capitalisation; without minutes
  and trades its latest price is the last close. A daily bar without any price is no bar: charts leave it
  out, and changes, quotes and key figures are computed against the last close that exists.
- **Inputs are whole**: the first load of an input creates all its properties, whatever the file has. Names
  are read in any case, and other columns are kept. [Files of vendors](../guides/vendors.md) need no mapping.
- **A dataset in the shape of an answer wins**: where \`CORE\` has one of the name in the last column,
  its newest record is the answer, as [stock.md](stock.md) says.
- **All attributes of each type**, with what they are, are in
  \`GET /v1/openapi-doc?part=market\`, [openapi-market.json](openapi-market.json).
- **Symbols** are kept in upper case, class shares as \`BRK.B\` and preferred shares as \`BAC-PL\`, however
  they enter an input: \`brk b\`, \`BRK/B\` and \`BRK-B\`, or \`BAC PRL\`, \`BAC.PR.L\`, \`BAC$L\` and
  \`BACpL\`. \`BAC-L\` stays: with other letters than A and B it may be either. Whoever asks writes them in
  any of these ways, \`BAC-L\` and \`BAC-PL\` for one another, or names them by the FIGI, ISIN, CUSIP or
  CIK that \`SYMBOLS\` has for today.
  \`chartIEXOnly\` and \`chartIEXWhenNull\` are accepted; there is one feed.
`;

const STATEMENTS = `## Statements

\`INCOME\`, \`BALANCE_SHEET\` and \`CASH_FLOW\` are records of a quarter or a year each, \`FINANCIALS\` and
\`FUNDAMENTALS\` all three of a period in one. Load what a vendor has of them, or let
them be made of what a company reported to the SEC, value by value:

\`\`\`text
npx tapedeck recipe add nasdaq-symbols
npx tapedeck recipe add sec-company-facts --set symbol=AAPL --set cik=320193 \\
  --set 'contact=Jane Doe jane@example.com'
\`\`\`

From then on \`/search/apple\`, \`/stock/AAPL/company\`, \`/income\`, \`/balance-sheet\`, \`/cash-flow\`,
\`/financials\` and, with prices, \`/advanced-stats\` are those of the company. A file that you have
is loaded by
\`tapedeck core load CIK0000320193.json --as INCOME --facts --symbol AAPL\`, and so is any list of facts (CSV,
JSON, Parquet) with the columns \`concept\`, \`unit\`, \`start\`, \`end\`, \`val\`, \`accn\`, \`fy\`, \`fp\`,
\`form\` and \`filed\`.

- A record is of the period of a 10-K, 10-Q, 20-F or 40-F. \`reportDate\` is the day of its first filing.
- Its values are those of the latest 10-K, 10-Q, 20-F or 40-F that contains the whole statement of that
  period, so that it adds up. A restatement in a later report replaces the first value; \`asOf\` reads what
  was loaded before. Other filings, such as an 8-K, count only where no such report has the value, and
  values without \`fy\` and \`fp\`, such as those of a proxy statement, never.
- A value that is a thousand or a million times that of other filings is an error of scale and stays out.
  A total far below one of its parts (less than half) is not taken. The notes of the load count the first.
- A quarter that is told within longer times alone (cash flows, the last quarter of a year) is the year so
  far less what it was a quarter before.
- Which concepts a member is, in which order, and which sums stand in for it, is the table in
  \`market/reports/concepts.ts\`. What a company does not tell is null. Amounts are in the currency that most
  of its values have.
- Money that comes in is above zero and money that goes out below: \`capitalExpenditures\`, \`dividendsPaid\`.
  \`totalAssets\` are \`totalLiabilities\`, \`minorityInterest\` and \`shareholderEquity\`.
- Read are us-gaap concepts; companies that report by IFRS have none.
`;

const WIDE = `## The whole market

- \`/stock/market/list/{list}\`: quotes of the first \`listLimit\` symbols (10) of a list, 2 messages each:
  ${LIST_NAMES.map((name) => `\`${name}\``).join(', ')}. Those of the exchange itself are the market's, and
  those before and after the hours are empty.
- \`/stock/market/ohlc\` and \`/stock/market/previous\`: the last day, and the last before today, of every
  symbol, by symbol; 2 messages each.
- \`/stock/market/volume\`: volume of the newest day of trades by venue, 1 message a row.
- \`/stock/market/collection/{kind}?collectionName=\`: quotes of a sector, of who has a tag, or of a
  list (kind sector, tag or list), at most 500, 1 message each.
- \`/stock/market/sector-performance\`: change of each sector on the last day, weighed by what its
  companies are worth where COMPANY has their shares, 1 message a row.
- \`/stock/market/today-earnings\`: records of EARNINGS dated today, by when they are announced, each
  with its quote, 1,001 messages each.
- \`/stock/market/upcoming-events\`: what comes of all companies, of several kinds; \`exactDate\` of one day.
- \`/stats/recent\`, \`/stats/records\`, \`/stats/historical\` and \`/stats/historical/daily\`: days of
  \`EXCHANGE_STATS\`, free; what days do not tell, such as sizes of orders, is null.
- \`/stats/intraday\`: the sums of the newest day of \`TRADES\`, free.
- \`/hist\`: recordings of feeds to download: files that \`CORE\` publishes by date as \`TOPS\`, \`DEEP\` or
  \`DPLS\`; a tag that is a number is the version of the feed. Free.
- \`/ref-data/options/symbols\` (months by symbol) and \`/ref-data/options/symbols/{symbol}/{expiration}\`
  (contracts; \`includeExpired\`): 100 messages. \`/options/{contract}/chart\`: the time series of one.
- \`/ref-data/us/dates/{trade|holiday}/{next|last}/{n}/{YYYYMMDD}\`: trading days and holidays, 1 message.
`;

/** The page of all computed types and of their inputs. */
export const marketPage = (): string =>
  [
    INTRODUCTION,
    '## Types',
    '',
    '| type | answer | made of | messages | loaded as |',
    '|---|---|---|---|---|',
    ...MARKET_TYPES.map(rowOf),
    '',
    ...MARKET_TYPES.flatMap(sectionOf),
    ...indicatorsSection(),
    STATEMENTS,
    WIDE,
    '## Inputs',
    '',
    'Names of properties may be spelled in any case; others are kept, and not served here.',
    '',
    ...INPUTS.flatMap(inputSection),
  ].join('\n');

const indicatorsSection = (): readonly string[] => [
  '## Technical indicators',
  '',
  'Computed over the bars that the range has, adjusted for splits, and null until there are enough of them.',
  'A bar without what an indicator is made of is left out. An indicator is paid as the chart that it is of;',
  '`lastIndicator` as one bar.',
  '',
  '| name | what | made of | `input1` to `input4`, with their defaults | series |',
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
  const members = membersOf(type);
  const example = exampleOf(type);
  const shown: unknown = Array.isArray(example) ? example.slice(0, 1) : example;
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
    JSON.stringify(shown),
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
    '| property | type | required | what |',
    '|---|---|---|---|',
    ...input.properties.map(
      (property) =>
        `| \`${property.name}\` | ${typeOf(property)} | ${property.required === true ? 'yes' : ''} ` +
        `| ${property.help} |`,
    ),
    '',
    ...(input.carried === undefined
      ? []
      : [`Served as they stand: ${input.carried.map((name) => `\`${name}\``).join(', ')}.`, '']),
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
