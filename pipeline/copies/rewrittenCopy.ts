// Rewrites a file as the place of its dataset requires (FileRewrite): as texts, row by row, in order.
import { join } from 'node:path';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { FileRewrite } from '../../store/lake/datasets/defaults.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { runStatements } from '../batch/batchStatements.ts';
import type { Workbench } from '../bytes/workbench.ts';
import { rejectStatements } from '../values/rejectedLines.ts';
import { fromClause, type Relation, buildValue } from '../values/relation.ts';

/** Distinct split texts in one file. */
const SPLIT_TEXTS_MAX = 5_000;
/** Rounded splits listed in a note. */
const NOTED_MAX = 5;

interface RewrittenCopy {
  readonly path: string;
  readonly notes: readonly string[];
}

type Split = NonNullable<FileRewrite['split']>;

/** Whether rows or cells change; else the file is read unchanged. */
export const needsCopy = ({ moment, nonZero, split, symbol }: FileRewrite): boolean =>
  moment !== undefined || nonZero !== undefined || split !== undefined || symbol !== undefined;

/**
 * @returns the path of the copy, a comma-separated CSV with a header
 * @throws Failure InvalidBody for lines that lack a cell of a column
 */
export async function writeRewrittenCopy(
  relation: Relation,
  rewrite: FileRewrite,
  bench: Workbench,
): Promise<RewrittenCopy> {
  const columns = relation.columns.map(({ name }, at) => ({
    id: at + 1,
    name,
    type: 'varchar' as const,
    nullable: true,
  }));
  const rows = fromClause(relation, columns, true);
  const splits = await readSplits(rewrite.split, { relation, rows, bench });
  const moment = readMoment(rewrite.moment, relation);
  const replaced = new Map([...moment.terms, ...splits.terms, ...symbolTerms(rewrite.symbol)]);
  const names = relation.columns
    .map(({ name }) => name)
    .filter((name) => !rewrite.excluded.includes(name));
  const terms = names.flatMap((name) => replaced.get(name) ?? [identifier(name)]);
  const times = await checkTimes(rewrite, moment.tests, { relation, rows, bench });
  const tests = [...splits.tests, ...nonZeroTests(rewrite.nonZero)];
  const where = tests.length === 0 ? '' : ` WHERE ${tests.join(' AND ')}`;
  const path = join(bench.folder, newUuid());
  const copy = `COPY (SELECT ${terms.join(', ')} FROM ${rows}${where}) TO ${literal(path)}
    (FORMAT csv, HEADER true, DELIMITER ',')`;
  const counting =
    tests.length === 0
      ? []
      : [`SELECT count(*) AS n FROM ${rows} WHERE NOT (${tests.join(' AND ')})`];
  const rejecting = relation.kind === 'csv' ? rejectStatements(1) : [];
  const answers = await runStatements(bench, relation, [copy, ...rejecting, ...counting]);
  if (relation.kind === 'csv') refuseLines(answers[1]?.[0], answers[2]?.[0]);
  const without = Number(tests.length === 0 ? 0 : (answers.at(-1)?.[0]?.['n'] ?? 0));
  const skipped = `note: ${without} rows without a split or a dividend are no records`;
  return { path, notes: [...times, ...splits.notes, ...(without === 0 ? [] : [skipped])] };
}

interface Source {
  readonly relation: Relation;
  readonly rows: string;
  readonly bench: Workbench;
}

/**
 * @returns notes on times that are within a minute
 * @throws Failure InvalidBody for a column of days: midnight is not a minute of a bar
 */
async function checkTimes(
  { moment }: FileRewrite,
  tests: Moment['tests'],
  { bench, relation, rows }: Source,
): Promise<readonly string[]> {
  if (moment === undefined || tests === undefined) return [];
  const { column } = moment;
  const counting = `SELECT count(*) AS n, count(*) FILTER (WHERE ${tests.isTimed}) AS timed,
    count(*) FILTER (WHERE ${tests.hasSeconds}) AS cut,
    any_value(${textOf(column)}) FILTER (WHERE ${tests.hasSeconds}) AS first FROM ${rows}`;
  const [[counted] = []] = await runStatements(bench, relation, [counting]);
  const [n, timed, cut] = ['n', 'timed', 'cut'].map((name) => Number(counted?.[name] ?? 0));
  if (n !== 0 && timed === 0) {
    const what = `column ${column} has no time of day, so that no record has a minute`;
    throw new Failure('InvalidBody', `${what}; name the column of the minute (columns, --map)`);
  }
  if (cut === 0) return [];
  const first = String(counted?.['first']);
  return [
    `warning: ${cut} times of column ${column} are within a minute, such as ${first}: ` +
      'they are stored as their minute',
  ];
}

function refuseLines(
  counted: Readonly<Record<string, unknown>> | undefined,
  first: Readonly<Record<string, unknown>> | undefined,
): void {
  if (Number(counted?.['lines'] ?? 0) === 0) return;
  const why = String(first?.['message']).split('\n')[0];
  throw new Failure('InvalidBody', `line ${Number(first?.['line'])} cannot be read: ${why}`);
}

type Terms = readonly (readonly [column: string, terms: readonly string[]])[];

/** SQL terms of a time: one with an offset, or a number, is an instant; others are local to the exchange. */
function readMoment(moment: FileRewrite['moment'], relation: Relation): Moment {
  if (moment === undefined) return { terms: [], tests: undefined };
  const { column, day, minute, zone } = moment;
  const raw = textOf(column);
  const target = { id: 1, name: column, type: 'timestamp', nullable: true } as const;
  const time = `CAST(${buildValue(relation, target, false)} AS TIMESTAMP)`;
  const local = `CASE WHEN regexp_matches(${raw}, '${OFFSET}') OR regexp_full_match(${raw}, '${EPOCH}')
    THEN timezone(${literal(zone)}, timezone('UTC', ${time})) ELSE ${time} END`;
  // A text that is not a time stays unchanged: it is rejected with its own text.
  const part = (format: string): string => `coalesce(strftime(${local}, '${format}'), ${raw})`;
  const terms = [
    `${part('%Y-%m-%d')} AS ${identifier(day)}`,
    `${part('%H:%M')} AS ${identifier(minute)}`,
  ];
  const tests = {
    isTimed: `strftime(${local}, '%H:%M') <> '00:00'`,
    hasSeconds: `date_trunc('minute', ${local}) <> ${local}`,
  };
  return { terms: [[column, terms]], tests };
}

interface Moment {
  readonly terms: Terms;
  /** SQL tests of a row. */
  readonly tests: { readonly isTimed: string; readonly hasSeconds: string } | undefined;
}

const OFFSET = ':[0-9]{2}(?:[.][0-9]+)? ?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)$';
const EPOCH = '[0-9]{9,10}|[0-9]{13}|[0-9]{16}|[0-9]{19}';

const textOf = (column: string): string => `trim(CAST(${identifier(column)} AS VARCHAR))`;

function symbolTerms(symbol: FileRewrite['symbol']): Terms {
  if (symbol === undefined) return [];
  const { column, suffix } = symbol;
  const raw = textOf(column);
  const bare = `left(${raw}, length(${raw}) - ${suffix.length})`;
  const test = `upper(${raw}) LIKE ${literal(`_%${suffix.toUpperCase()}`)}`;
  return [[column, [`CASE WHEN ${test} THEN ${bare} ELSE ${raw} END AS ${identifier(column)}`]]];
}

const nonZeroTests = (column: string | undefined): readonly string[] =>
  column === undefined
    ? []
    : [
        `nullif(${textOf(column)}, '') IS NOT NULL`,
        `TRY_CAST(${textOf(column)} AS DOUBLE) IS DISTINCT FROM 0`,
      ];

interface SplitsRead {
  readonly terms: Terms;
  readonly tests: readonly string[];
  readonly notes: readonly string[];
}

/** Reads each distinct text once: there are few. @throws Failure InvalidBody for too many of them. */
async function readSplits(
  split: Split | undefined,
  { bench, relation, rows }: Source,
): Promise<SplitsRead> {
  if (split === undefined) return { terms: [], tests: [], notes: [] };
  const { column, from, isNone, parse, to } = split;
  const raw = textOf(column);
  const distinct = `SELECT DISTINCT ${raw} AS text FROM ${rows}
    WHERE nullif(${raw}, '') IS NOT NULL LIMIT ${SPLIT_TEXTS_MAX + 1}`;
  const [distinctRows = []] = await runStatements(bench, relation, [distinct]);
  if (distinctRows.length > SPLIT_TEXTS_MAX) {
    const what = `column ${column} has over ${SPLIT_TEXTS_MAX} different splits`;
    throw new Failure('InvalidBody', `${what}; split the file`);
  }
  const all = distinctRows.map((row) => String(row['text']));
  const none = all.filter(isNone);
  const read = all.flatMap((text) => {
    const pair = isNone(text) ? undefined : parse(text);
    return pair === undefined ? [] : [{ text, ...pair }];
  });
  const by = (side: 'from' | 'to'): string => {
    const cases = read.map((one) => `WHEN ${literal(one.text)} THEN ${literal(String(one[side]))}`);
    return cases.length === 0 ? raw : `CASE ${raw} ${cases.join(' ')} ELSE ${raw} END`;
  };
  const rounded = read.filter((one) => one.rounded);
  const examples = rounded
    .slice(0, NOTED_MAX)
    .map((one) => `${one.text} as ${one.to} for ${one.from}`);
  const more =
    rounded.length > examples.length ? `, and ${rounded.length - examples.length} more` : '';
  const isNoneTest = none.map((text) => literal(text)).join(', ');
  return {
    terms: [[column, [`${by('from')} AS ${identifier(from)}`, `${by('to')} AS ${identifier(to)}`]]],
    tests: [
      `nullif(${raw}, '') IS NOT NULL`,
      ...(none.length === 0 ? [] : [`${raw} NOT IN (${isNoneTest})`]),
    ],
    notes:
      rounded.length === 0
        ? []
        : [`note: rounded splits are read as ${examples.join(', ')}${more}`],
  };
}
