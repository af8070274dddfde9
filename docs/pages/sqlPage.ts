// docs/reference/sql.md: what a SELECT may have, from the tables that decide it.
import { AGGREGATES } from '../../query/sql/functions/aggregates.ts';
import { DATE_FUNCTIONS } from '../../query/sql/functions/functionsOfDates.ts';
import { JSON_FUNCTIONS } from '../../query/sql/functions/functionsOfJson.ts';
import { LIST_FUNCTIONS } from '../../query/sql/functions/functionsOfLists.ts';
import { NUMBER_FUNCTIONS } from '../../query/sql/functions/functionsOfNumbers.ts';
import { TEXT_FUNCTIONS } from '../../query/sql/functions/functionsOfTexts.ts';
import { OPERATORS } from '../../query/sql/plan/operators.ts';
import { STATISTICS } from '../../query/sql/functions/statistics.ts';
import { WINDOW_FUNCTIONS } from '../../query/sql/functions/windowFunctions.ts';
import { type SqlFeature, SUBSET } from './sqlSubset.ts';
import type { SqlFunction } from '../../query/sql/functions/functionRow.ts';

const INTRODUCTION = `# SQL

Generated from the tables of \`query/sql/\` and \`docs/pages/sqlSubset.ts\` by \`npm run docs\`; do not edit.
A test runs every example.

A query is one SELECT over datasets. This page shows everything that is supported; anything else is
refused, with its position. [reference.md](api.md) lists the endpoints that take a query,
[formats.md](formats.md) the formats of the answer.

## Names, texts, values

- A table is a dataset: \`PRICES\` of the workspace of the request, or \`WS.PRICES\`. Case does not
  matter. A name with hyphens needs no quotes: \`FROM my-prices\` reads the
  dataset or view \`my_prices\`, whose name has underscores in their place.
- A column whose name has a hyphen is written in back-ticks: \`\` \`adj-close\` \`\`. Without them it is a
  difference, and the refusal says what to write.
- Names that are keywords of SQL, or contain other characters, are written in back-ticks:
  \`\` \`close price\` \`\`.
- Texts are written in single or double quotes: \`'AAPL'\`, \`"AAPL"\`. Double the quote to include it;
  a backslash is an ordinary character. A text in double quotes that
  is the name of a column is refused, and what to write instead is said.
- \`DESCRIBE name\`, \`DESCRIBE SELECT …\` and \`SHOW TABLES\` answer names and types, and cost nothing.
  So do \`information_schema.tables\`, \`.columns\` and \`.schemata\`, which hold what the token may
  read, datasets and views; no view, published query or export can be made of them.
  \`SUMMARIZE name\` and \`SUMMARIZE SELECT …\` answer the range, the mean, quartiles and blanks of each
  column, and cost what the query does that computes them, which reads each record once.
- \`PIVOT … ON column USING …\` as a whole query makes a column of each value that is found, at most
  200 and only over your own data; \`ON column IN (…)\` names them, over any. \`UNPIVOT … ON
  COLUMNS('pattern') INTO NAME … VALUE …\` takes columns by their names.
- \`:name\` and \`$name\` are parameters: the request sends their values, which never become SQL.
- Numbers: \`12\`, \`1.5\` (a decimal), \`1.5e0\` (a DOUBLE). Dates: \`DATE '2024-01-05'\`, or a text beside
  a date. Intervals: \`INTERVAL 5 DAYS\`, \`INTERVAL (n) MONTH\`.
- Times of the day: \`TIME '09:30:00'\`, or a text beside a time; \`date + time\` is a date-time. A column
  that holds them as texts is cast: \`CAST(opens AS TIME) > '09:30'\`.
- Types of casts: BOOLEAN, INTEGER, BIGINT and their kin, DECIMAL, FLOAT, DOUBLE, VARCHAR, DATE, TIME,
  TIMESTAMP, TIMESTAMP_NS, INTERVAL, JSON.
- \`current_date\`, \`now()\`, \`current_timestamp\`: the moment of the query, the same in all of it.
- A semicolon may end the query; \`--\` and \`/* */\` begin comments.

## What is refused

Statements other than SELECT, several statements, functions in FROM, files and URLs, \`WITH RECURSIVE\`,
sampling, NATURAL and POSITIONAL joins, \`COLLATE\`, lambdas, structs,
a percentage in \`LIMIT\`, and every function that is not
listed below, such as those that read files, reveal the server, differ from call to call, or make large
results from small inputs.

## What it costs

- **Over your own datasets**: the rows of the answer, or its bytes / 1,000 if that is more, times the
  highest weight among them.
- **Over data of others** (CORE): the records that the answer is computed from, of each dataset by its own
  weight. Each place that reads it counts, also in views, published queries and \`WITH\`, as often as it is
  named:
  - where the query only filters, computes, orders, limits and joins: the rows of the answer, since each
    holds one of its records (never more than the dataset can have given);
  - where it aggregates: the records that meet the conditions on its key, subkey and date, as far as those
    are comparisons with constants, or equalities with columns of other tables. Conditions on other
    columns, and LIMIT, narrow the answer but not what it reveals. In UNION ALL each row is a record of one
    side.
  - Aggregates, groups, windows, DISTINCT, UNION, INTERSECT and EXCEPT aggregate, and so do sub-selects in
    expressions, EXISTS, IN, and the right side of SEMI and ANTI joins. So does a place where a row reveals
    that records are missing, or how many there are: on the side of an outer join that may have none, on
    the right of an ASOF join, by OFFSET, and by a LIMIT within; but not where these select by key, subkey
    and date alone, as in \`LEFT JOIN x ON x.symbol = k.symbol\` or the latest record of LATERAL.
  - Each place costs at least one record, even if nothing is found, and if the query fails while it runs: a
    failing cast reveals something about a record too.
- **Of both**: the sum. A dataset of CORE that its owner sells by the answer
  (\`"access": {"sqlPrice": "answer"}\`) counts like your own; so does what the owner of a published query
  owns if the query has a weight.
- \`estimate\` and \`explain\` give one upper bound: LIMIT, the catalog's statistics of key, subkey and
  date, and one record for each value of a whole unique index. They read no records. \`maxMessages\` is
  compared with the same bound over data of others; over your own data with what the answer costs.
- A text of one record counts as at most 256 bytes; what \`string_agg\` and its like collect counts in full.
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
    '`note`, `detail` (JSON) of AAPL and MSFT from 2024-01-02 to 2024-01-09. Below each stands the',
    'first record of its answer; in the tables, its first value.',
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
