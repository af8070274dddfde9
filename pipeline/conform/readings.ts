// Lists texts of a file that were read as something other than what they spell: null for a mark of no value,
// a number for a written form, 1234 for 1.234. Each line has the column, the count and the first text.
import { toColumnType, type PropertyType } from '../../store/lake/versions/columns.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import { runStatements, fileLineOf, RECORD_NUMBER, quotedValue } from '../batch/batchStatements.ts';
import { UNREAD_LINES } from '../values/rejectedLines.ts';
import { missingTest } from '../values/missing.ts';
import { isOtherNumber, isPlainNumber } from '../values/numberFormats.ts';
import { describeNoNumbers, hasDoubles, lacksNumberTest } from '../values/nestedValues.ts';
import { fromClause, hasValueTest, type Relation, buildValue } from '../values/relation.ts';
import type { Workbench } from '../bytes/workbench.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';

/** Maximum columns that are checked. */
const COLUMNS_MAX = 50;

type Properties = Readonly<Record<string, PropertyType>>;

/** One line for each kind of reading of a column; none if all texts are read literally. */
export async function listReadings(
  relation: Relation,
  properties: Properties,
  bench: Workbench,
): Promise<readonly string[]> {
  const names = relation.columns
    .filter((column) => isReadDifferently(column, relation, properties))
    .slice(0, COLUMNS_MAX)
    .map(({ name }) => name);
  if (names.length === 0) return [];
  const targets = names.map((name, at) => ({
    id: at + 1,
    name,
    type: 'varchar' as const,
    nullable: true,
  }));
  const bare: Relation = { ...relation, nulls: [] };
  const uncut = withoutCuts(relation);
  const members = targets.map((target, at) => {
    const type = toColumnType(properties[target.name] ?? { type: 'string' });
    const read = buildValue(relation, { ...target, type }, false);
    const exact = buildValue(uncut, { ...target, type }, false);
    // Only a column with cuts uses it; DuckDB leaves the others out.
    return `CAST(${read} AS VARCHAR) AS read${at}, ${exact} IS NOT NULL AS exact${at}`;
  });
  const rows = `SELECT *, row_number() OVER () AS ${RECORD_NUMBER}, ${members.join(', ')}
    FROM ${fromClause(bare, targets, false)}`;
  const terms = names.flatMap((name, at) =>
    readingTests(name, at, relation).flatMap(([kind, test]) => readingTerms(name, at, kind, test)),
  );
  const statements = [`SELECT ${terms.join(', ')} FROM (${rows})`];
  const [counts, unread = []] = await runStatements(
    bench,
    relation,
    relation.kind === 'csv' ? [...statements, UNREAD_LINES] : statements,
  );
  const lines = unread.map((row) => ({ line: Number(row['line']) }));
  const lineAt = (n: unknown): number => fileLineOf(Number(n), relation, lines);
  return names.flatMap((name, at) => describeReadings(counts?.[0] ?? {}, name, at, lineAt));
}

const withoutCuts = (relation: Relation): Relation => ({
  ...relation,
  columns: relation.columns.map(({ cutsNanoseconds: _, ...column }) => column),
});

function isReadDifferently(
  { constant, cutsNanoseconds, inferred, name, nested }: Relation['columns'][number],
  { kind, nulls = [] }: Relation,
  properties: Properties,
): boolean {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (property === undefined || constant !== undefined) return false;
  const isText = toColumnType(property) === 'varchar';
  if (cutsNanoseconds === true) return true;
  if (nested !== undefined && hasDoubles(nested)) return true;
  return (
    kind !== 'parquet' &&
    (nulls.length > 0 || (!isText && (inferred.missing === true || inferred.number !== undefined)))
  );
}

/** A text that is read as something else: cut to microseconds, without NaN, as null, or as a number. */
type Kind = 'cut' | 'lacking' | 'mark' | 'written' | 'other';

/** SQL tests of the kinds of reading that a column may have. */
function readingTests(
  name: string,
  at: number,
  relation: Relation,
): readonly (readonly [Kind, string])[] {
  const cell = identifier(name);
  const column = relation.columns.find((one) => one.name === name);
  const { cutsNanoseconds, inferred, nested } = column ?? {};
  if (nested !== undefined && hasDoubles(nested))
    return [['lacking', lacksNumberTest(cell, nested)]];
  const isRead = `read${at} IS NOT NULL AND`;
  const cuts = cutsNanoseconds === true ? ([['cut', `${isRead} NOT exact${at}`]] as const) : [];
  if (relation.kind === 'parquet') return cuts;
  const isPresent = `${hasValueTest(relation, name)} AND ${missingTest(cell, relation.nulls)}`;
  const mark = ['mark', `${isPresent} AND read${at} IS NULL`] as const;
  const number = inferred?.number;
  if (number === undefined) return [...cuts, mark];
  const text = `trim(${cell})`;
  return [
    ...cuts,
    mark,
    ['written', `${isRead} NOT ${isPlainNumber(text)}`],
    ['other', `${isRead} ${isOtherNumber(text, number.style)}`],
  ];
}

/** Terms of a kind: how many texts there are, and the line, the text and the value of the first. */
function readingTerms(name: string, at: number, kind: Kind, test: string): readonly string[] {
  const first = (value: string): string =>
    `arg_min(${value}, ${RECORD_NUMBER}) FILTER (WHERE ${test})`;
  return [
    `count(*) FILTER (WHERE ${test}) AS ${kind}Count${at}`,
    `min(${RECORD_NUMBER}) FILTER (WHERE ${test}) AS ${kind}Line${at}`,
    // To spell lists and objects takes longer than to test them.
    ...(kind === 'lacking' ? [] : [`${first(quotedValue(name))} AS ${kind}Text${at}`]),
    ...(kind === 'written' || kind === 'other'
      ? [`${first(`read${at}`)} AS ${kind}Value${at}`]
      : []),
  ];
}

function describeReadings(
  row: Row,
  name: string,
  at: number,
  lineAt: (n: unknown) => number,
): readonly string[] {
  const countOf = (kind: Kind): number => Number(row[`${kind}Count${at}`] ?? 0);
  const lineOf = (kind: Kind): number => lineAt(row[`${kind}Line${at}`]);
  const describe = (
    kind: Kind,
    line: (count: number, first: string, value: string) => string,
  ): readonly string[] => {
    const count = countOf(kind);
    if (count === 0) return [];
    const first = `${String(row[`${kind}Text${at}`])} in line ${lineOf(kind)}`;
    return [`${name}: ${line(count, first, spellNumber(row[`${kind}Value${at}`]))}`];
  };
  return [
    ...describe('cut', (count, first) => {
      const times = count === 1 ? '1 time is' : `${count} times are`;
      return `${times} cut to microseconds, the first is ${first}`;
    }),
    ...(countOf('lacking') === 0
      ? []
      : [describeNoNumbers(name, countOf('lacking'), lineOf('lacking'))]),
    ...describe('mark', (count, first) => {
      const other = 'the parameter nulls names other texts';
      return `${counted(count)} read as null, the first is ${first}; ${other}`;
    }),
    ...describe('written', (count, first, number) =>
      `${counted(count)} read as a number, the first is ${first}: ${number}`),
    ...describe('other', (count, first, number) => {
      const how = 'read with points between thousands';
      return `${counted(count)} ${how}, the first is ${first}: ${number}`;
    }),
  ];
}

const spellNumber = (value: unknown): string => String(value).replace(/\.0$/, '');

const counted = (count: number): string => (count === 1 ? '1 text is' : `${count} texts are`);
