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
  const members = targets.map((target, at) => {
    const type = toColumnType(properties[target.name] ?? { type: 'string' });
    const read = buildValue(relation, { ...target, type }, false);
    const exact = buildValue(withoutCuts(relation), { ...target, type }, false);
    return `CAST(${read} AS VARCHAR) AS read${at}, ${exact} IS NOT NULL AS exact${at}`;
  });
  const rows = `SELECT *, row_number() OVER () AS ${RECORD_NUMBER}, ${members.join(', ')}
    FROM ${fromClause(bare, targets, false)}`;
  const terms = names.flatMap((name, at) => readingTerms(name, at, relation));
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

function readingTerms(name: string, at: number, relation: Relation): readonly string[] {
  const cell = identifier(name);
  const column = relation.columns.find((one) => one.name === name);
  const cut =
    column?.cutsNanoseconds === true ? `read${at} IS NOT NULL AND NOT exact${at}` : 'false';
  const cuts = [
    `count(*) FILTER (WHERE ${cut}) AS cuts${at}`,
    `min(${RECORD_NUMBER}) FILTER (WHERE ${cut}) AS cutLine${at}`,
    `arg_min(${quotedValue(name)}, ${RECORD_NUMBER}) FILTER (WHERE ${cut}) AS cut${at}`,
  ];
  const nested = column?.nested;
  const lacks =
    nested !== undefined && hasDoubles(nested) ? lacksNumberTest(cell, nested) : undefined;
  if (lacks !== undefined) {
    return [
      `count(*) FILTER (WHERE ${lacks}) AS lacks${at}`,
      `min(${RECORD_NUMBER}) FILTER (WHERE ${lacks}) AS lacking${at}`,
    ];
  }
  if (relation.kind === 'parquet') return cuts;
  const isPresent = `${hasValueTest(relation, name)} AND ${missingTest(cell, relation.nulls)}`;
  const mark = `${isPresent} AND read${at} IS NULL`;
  const number = column?.inferred.number;
  const isRead = `read${at} IS NOT NULL AND`;
  const text = `trim(${cell})`;
  const written = number === undefined ? 'false' : `${isRead} NOT ${isPlainNumber(text)}`;
  const other = number === undefined ? 'false' : `${isRead} ${isOtherNumber(text, number.style)}`;
  return [
    ...cuts,
    `count(*) FILTER (WHERE ${mark}) AS marks${at}`,
    `min(${RECORD_NUMBER}) FILTER (WHERE ${mark}) AS marked${at}`,
    `arg_min(${quotedValue(name)}, ${RECORD_NUMBER}) FILTER (WHERE ${mark}) AS mark${at}`,
    `count(*) FILTER (WHERE ${written}) AS writings${at}`,
    `min(${RECORD_NUMBER}) FILTER (WHERE ${written}) AS wrote${at}`,
    `arg_min(${quotedValue(name)}, ${RECORD_NUMBER}) FILTER (WHERE ${written}) AS written${at}`,
    `arg_min(read${at}, ${RECORD_NUMBER}) FILTER (WHERE ${written}) AS number${at}`,
    `count(*) FILTER (WHERE ${other}) AS others${at}`,
    `min(${RECORD_NUMBER}) FILTER (WHERE ${other}) AS otherLine${at}`,
    `arg_min(${quotedValue(name)}, ${RECORD_NUMBER}) FILTER (WHERE ${other}) AS other${at}`,
    `arg_min(read${at}, ${RECORD_NUMBER}) FILTER (WHERE ${other}) AS otherNumber${at}`,
  ];
}

function describeReadings(
  row: Row,
  name: string,
  at: number,
  lineAt: (n: unknown) => number,
): readonly string[] {
  const notes: string[] = [];
  const cuts = Number(row[`cuts${at}`] ?? 0);
  if (cuts > 0) {
    const first = `${String(row[`cut${at}`])} in line ${lineAt(row[`cutLine${at}`])}`;
    const times = cuts === 1 ? '1 time is' : `${cuts} times are`;
    notes.push(`${name}: ${times} cut to microseconds, the first is ${first}`);
  }
  const lacks = Number(row[`lacks${at}`] ?? 0);
  if (lacks > 0) notes.push(describeNoNumbers(name, lacks, lineAt(row[`lacking${at}`])));
  const marks = Number(row[`marks${at}`] ?? 0);
  if (marks > 0) {
    const first = `${String(row[`mark${at}`])} in line ${lineAt(row[`marked${at}`])}`;
    const other = 'the parameter nulls names other texts';
    notes.push(`${name}: ${counted(marks)} read as null, the first is ${first}; ${other}`);
  }
  const writings = Number(row[`writings${at}`] ?? 0);
  if (writings > 0) {
    const first = `${String(row[`written${at}`])} in line ${lineAt(row[`wrote${at}`])}`;
    const number = spellNumber(row[`number${at}`]);
    notes.push(`${name}: ${counted(writings)} read as a number, the first is ${first}: ${number}`);
  }
  const others = Number(row[`others${at}`] ?? 0);
  if (others > 0) {
    const first = `${String(row[`other${at}`])} in line ${lineAt(row[`otherLine${at}`])}`;
    const how = 'read with points between thousands';
    const number = spellNumber(row[`otherNumber${at}`]);
    notes.push(`${name}: ${counted(others)} ${how}, the first is ${first}: ${number}`);
  }
  return notes;
}

const spellNumber = (value: unknown): string => String(value).replace(/\.0$/, '');

const counted = (count: number): string => (count === 1 ? '1 text is' : `${count} texts are`);
