// docs/reference/sql.md: generates what a SELECT may contain from the tables of the query layer.
import { AGGREGATES } from '../../query/sql/functions/aggregates.ts';
import { DATE_FUNCTIONS } from '../../query/sql/functions/dateFunctions.ts';
import { JSON_FUNCTIONS } from '../../query/sql/functions/jsonFunctions.ts';
import { LIST_FUNCTIONS } from '../../query/sql/functions/listFunctions.ts';
import { NUMBER_FUNCTIONS } from '../../query/sql/functions/numberFunctions.ts';
import { TEXT_FUNCTIONS } from '../../query/sql/functions/textFunctions.ts';
import { OPERATORS } from '../../query/sql/plan/operators.ts';
import { STATISTICS } from '../../query/sql/functions/statistics.ts';
import { WINDOW_FUNCTIONS } from '../../query/sql/functions/windowFunctions.ts';
import { type SqlFeature, SUBSET } from './sqlSubset.ts';
import type { SqlFunction } from '../../query/sql/functions/functionRow.ts';

const INTRODUCTION = `# SQL

Generated from the tables of \`query/sql/\` and \`docs/pages/sqlSubset.ts\` by \`npm run docs\`; do not
edit. A test runs every example.

A query is one SELECT over datasets. This page lists everything that is supported. Anything else is refused
with its position. The [API](api.md) lists the endpoints that accept a query, [formats](formats.md) the
formats of the answer.

## Names and values

| thing | spelling |
| --- | --- |
| table | \`PRICES\` of the workspace of the request, or \`WS.PRICES\`; case does not matter |
| table with hyphens | \`FROM my-prices\` reads \`my_prices\` |
| column with hyphens, blanks or a keyword | back-ticks: \`\` \`adj-close\` \`\`, \`\` \`close price\` \`\` |
| text | \`'AAPL'\` or \`"AAPL"\`; double the quote to include it; a backslash is an ordinary character |
| parameter | \`:name\` or \`$name\`; its value never becomes SQL |
| number | \`12\`, \`1.5\` (a decimal), \`1.5e0\` (a DOUBLE) |
| date | \`DATE '2024-01-05'\`, or a text beside a date |
| interval | \`INTERVAL 5 DAYS\`, \`INTERVAL (n) MONTH\` |
| time of day | \`TIME '09:30:00'\`, or a text beside a time; \`date + time\` is a date-time |
| types of casts | BOOLEAN, INTEGER, BIGINT and similar, DECIMAL, FLOAT, DOUBLE, VARCHAR, DATE, TIME, TIMESTAMP, TIMESTAMP_NS, INTERVAL, JSON |
| present moment | \`current_date\`, \`now()\`, \`current_timestamp\`: the same in the whole query |
| comment | \`--\` and \`/* */\`; a semicolon may end the query |

A text in double quotes that equals the name of a column is refused with a suggestion.

## Schema queries

- \`DESCRIBE name\`, \`DESCRIBE SELECT …\` and \`SHOW TABLES\` return names and types, free of charge. So do
  \`information_schema.tables\`, \`.columns\` and \`.schemata\`, which contain what the token may read. They
  cannot be part of a view, a published query or an export.
- \`SUMMARIZE name\` and \`SUMMARIZE SELECT …\` return range, mean, quartiles and missing values of each
  column. They cost what a query costs that reads each record once.
- \`PIVOT … ON column USING …\` creates a column for each value, at most 200, over your own data. \`ON
  column IN (…)\` names the values, over any data.
- \`UNPIVOT … ON COLUMNS('pattern') INTO NAME … VALUE …\` selects columns by their names.

## Refused statements

- statements other than SELECT, and several statements
- functions in FROM, files and URLs
- \`WITH RECURSIVE\`, sampling, NATURAL and POSITIONAL joins
- \`COLLATE\`, lambdas, structs, a percentage in \`LIMIT\`
- functions that are not listed below, such as those that read files, reveal the server or are not
  deterministic

## Price

- **Your own datasets**: rows of the answer, or bytes / 1,000 if that is more, times the highest weight.
- **Data of others** (CORE): the records that the answer is computed from, by the weight of each dataset.
  Each place in the query that reads a dataset counts, also in views, published queries and \`WITH\`.
  - A query that filters, computes, orders, limits and joins costs the rows of the answer.
  - An aggregation costs the records that meet the conditions on key, subkey and date, if those compare with
    constants or with columns of other tables. Other conditions and LIMIT do not reduce the price.
  - Aggregates, groups, windows, DISTINCT, UNION, INTERSECT, EXCEPT, sub-selects in expressions, EXISTS, IN,
    and the right side of SEMI and ANTI joins aggregate. So does a place whose rows reveal missing records:
    the optional side of an outer join, the right of an ASOF join, OFFSET, and a LIMIT within. Joins on key,
    subkey and date alone do not, such as \`LEFT JOIN x ON x.symbol = k.symbol\`.
  - Each place costs at least one record, also if it finds none or the query fails while it runs.
- **Both**: the sum. A dataset of CORE with \`"access": {"sqlPrice": "answer"}\` counts like your own.
- \`estimate\` and \`explain\` return one upper bound from index statistics and LIMIT. They read no records.
  \`maxMessages\` is compared with this bound over data of others, and with the real price over your own
  data.
- A text of one record counts as at most 256 bytes. Texts collected by \`string_agg\` and similar count in
  full.
`;

/** The tables of functions, in the order of the page. */
const KINDS: readonly (readonly [title: string, rows: readonly SqlFunction[]])[] = [
  ['Numbers and values of any kind', NUMBER_FUNCTIONS],
  ['Texts', TEXT_FUNCTIONS],
  ['Dates and date-times', DATE_FUNCTIONS],
  ['JSON', JSON_FUNCTIONS],
  ['Lists', LIST_FUNCTIONS],
  ['Aggregates', AGGREGATES],
  ['Statistics', STATISTICS],
  ['Windows', WINDOW_FUNCTIONS],
];

/** The text of docs/reference/sql.md. */
export function sqlPage(): string {
  return [
    INTRODUCTION,
    'The examples query a dataset PRICES: `symbol`, `date`, `open`, `high`, `low`, `close`, `volume`,',
    '`note`, `detail` (JSON) of AAPL and MSFT from 2024-01-02 to 2024-01-09. The comment below each example',
    'is the first record of its answer; the tables show its first value.',
    '',
    ...SUBSET.flatMap(({ title, features }) => [
      `## ${title}`,
      '',
      '```sql',
      features.map(featureText).join('\n\n'),
      '```',
      '',
    ]),
    '## Operators',
    '',
    'Comparisons `=`, `==`, `<>`, `!=`, `<`, `<=`, `>`, `>=`, AND, OR, NOT, and:',
    '',
    ...table(
      'operator',
      [...OPERATORS].map(([name, one]) => ({ ...one, signature: name })),
    ),
    ...KINDS.flatMap(([title, rows]) => [`## ${title}`, '', ...table('function', rows)]),
    'An aggregate with OVER is a window function, but for geomean, geometric_mean, weighted_avg and wavg.',
    '',
  ].join('\n');
}

const featureText = ({ answer, example, what }: SqlFeature): string =>
  [`-- ${what}`, ...example, `-- ${answer}`].join('\n');

type Row = Pick<SqlFunction, 'signature' | 'does' | 'example' | 'answer'>;

function table(what: string, rows: readonly Row[]): readonly string[] {
  const lines = rows.map(
    ({ answer, does, example, signature }) =>
      `| ${code(signature)} | ${escaped(does)} | ${code(example)} | ${code(answer)} |`,
  );
  return [`| ${what} | what | example | answer |`, '|---|---|---|---|', ...lines, ''];
}

/** In a table a bar ends a cell, within code too. */
const code = (text: string): string => `\`${escaped(text)}\``;
const escaped = (text: string): string => text.replaceAll('|', '\\|');
