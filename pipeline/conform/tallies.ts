// Counts in one pass how all values of a column can be read as dates or numbers, and which of them are not
// read literally.
import { toColumnType, type PropertyType } from '../../store/lake/versions/columns.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import { runStatements } from '../batch/batchStatements.ts';
import type { DateTally } from '../values/dateFormats.ts';
import { hasClockTest, isOrderedTest, loweredText, writtenInstant } from '../values/dateReading.ts';
import { belowMicrosecondTest } from '../values/exactText.ts';
import { missingTest } from '../values/missing.ts';
import { numberMembers, numberTallyTerms, type NumberTally } from '../values/numberFormats.ts';
import { fromClause, misfitTest, type Relation } from '../values/relation.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

type Properties = Readonly<Record<string, PropertyType>>;

/** What to detect in the values of a column. */
export interface Question {
  readonly name: string;
  readonly kind: 'dates' | 'numbers';
  /** The type is fixed: values that do not fit are rejected, and do not affect the others. */
  readonly isFixed: boolean;
  /** Its values are plain numbers, and are read differently only if other columns prove it. */
  readonly witness?: true;
}

/**
 * Keeps the questions that may have an answer: dates of a column with a value that is not read literally and
 * might be a date, and all numbers if there is such a value, since they decide each other.
 */
export async function findUnread(
  bench: Workbench,
  relation: Relation,
  properties: Properties,
  questions: readonly Question[],
): Promise<readonly Question[]> {
  const targets = questions.map(({ name }, at) => {
    const type = toColumnType(properties[name] ?? { type: 'string' });
    return { id: at + 1, name, type, nullable: true };
  });
  const terms = targets.map((target, at) => {
    const cell = identifier(target.name);
    const mayBe = `(regexp_matches(${cell}, '[0-9]') OR ${missingTest(cell)})`;
    return `bool_or(${misfitTest(relation, target) ?? 'false'} AND ${mayBe}) AS unread${at}`;
  });
  if (terms.length === 0) return [];
  const from = fromClause(relation, targets, false);
  const [rows] = await runStatements(bench, relation, [`SELECT ${terms.join(', ')} FROM ${from}`]);
  const isUnread = questions.map((_, at) => rows?.[0]?.[`unread${at}`] === true);
  const numbers = questions.some(({ kind }, at) => kind === 'numbers' && isUnread[at] === true);
  return questions.filter(({ kind }, at) => (kind === 'numbers' ? numbers : isUnread[at] === true));
}

const NUMBER_COUNTS = Object.keys(numberTallyTerms(''));
const DATE_COUNTS = [
  'neither',
  'dayFirstOnly',
  'monthFirstOnly',
  'differ',
  'ordered',
  'clocks',
  'nanoseconds',
] as const;

/** The tally of numbers in a row of `countAll`. */
export const toNumberTally = (row: Row, isFixed: boolean): NumberTally =>
  tallyIn(row, NUMBER_COUNTS, isFixed) as unknown as NumberTally;

/** The tally of dates in a row of `countAll`. */
export const toDateTally = (row: Row, isFixed: boolean): DateTally =>
  ({ ...tallyIn(row, DATE_COUNTS, isFixed), first: [] }) as unknown as DateTally;

function tallyIn(
  row: Row,
  counts: readonly string[],
  isFixed: boolean,
): Readonly<Record<string, unknown>> {
  const numbers = Object.fromEntries(
    counts.map((name) => [name, name.endsWith('Currency') ? String(row[name]) : Number(row[name])]),
  );
  const count = Number(row['filled']);
  if (!isFixed) return { ...numbers, count };
  // Values that fit no reading are rejected, regardless of the others.
  return { ...numbers, count: count - Number(row['neither']), neither: 0 };
}

/** Returns one row of counts per question. */
export async function countAll(
  bench: Workbench,
  relation: Relation,
  questions: readonly Question[],
): Promise<readonly Row[]> {
  const targets = questions.map(({ name }, at) => ({
    id: at + 1,
    name,
    type: 'varchar' as const,
    nullable: true,
  }));
  const from = fromClause(relation, targets, false);
  const statements = questions.map(({ kind, name }) => {
    const cell = identifier(name);
    const text = `trim(${cell})`;
    const members = kind === 'dates' ? dateMembers(text) : numberMembers(text);
    const rows = `SELECT ${members}, nullif(${cell}, '') IS NOT NULL AS given,
      ${missingTest(`coalesce(${cell}, '')`)} AS mark FROM ${from}`;
    return `SELECT count(*) FILTER (WHERE given AND NOT mark) AS filled,
      count(*) FILTER (WHERE mark) AS marks,
      ${kind === 'dates' ? DATE_TERMS : NUMBER_TERMS} FROM (${rows})`;
  });
  const rows = await runStatements(bench, relation, statements);
  return rows.map(([row]) => row ?? {});
}

const dateMembers = (text: string): string =>
  `${text} AS text, ${writtenInstant(text, { order: 'DMY', truncates: true })} AS day_first,
    ${writtenInstant(text, { order: 'MDY', truncates: true })} AS month_first,
    ${isOrderedTest(text)} AS ordered,
    ${hasClockTest(loweredText(text))} AS clock, ${belowMicrosecondTest(text)} AS nanoseconds`;

const IS_VALUE = 'given AND NOT mark';
const countWhere = (condition: string): string =>
  `count(*) FILTER (WHERE ${IS_VALUE} AND ${condition})`;
const dayFirstOnly = 'month_first IS NULL AND day_first IS NOT NULL';
const monthFirstOnly = 'day_first IS NULL AND month_first IS NOT NULL';
const DATE_TERMS = `${countWhere('day_first IS NULL AND month_first IS NULL')} AS neither,
  ${countWhere(dayFirstOnly)} AS dayFirstOnly, ${countWhere(monthFirstOnly)} AS monthFirstOnly,
  ${countWhere('day_first <> month_first')} AS differ, ${countWhere('ordered')} AS ordered,
  ${countWhere('clock AND coalesce(day_first, month_first) IS NOT NULL')} AS clocks,
  ${countWhere('nanoseconds AND coalesce(day_first, month_first) IS NOT NULL')} AS nanoseconds,
  min(text) FILTER (WHERE day_first <> month_first) AS open,
  min(text) FILTER (WHERE ${dayFirstOnly}) AS dayFirst,
  min(text) FILTER (WHERE ${monthFirstOnly}) AS monthFirst`;
const NUMBER_TERMS = [
  ...Object.entries(numberTallyTerms(IS_VALUE)).map(([name, term]) => `${term} AS ${name}`),
  `min(text) FILTER (WHERE ${IS_VALUE} AND regexp_matches(text, ${literal('[.,]')})) AS some`,
].join(', ');
