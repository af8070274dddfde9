// Resolves columns that a sample leaves open from the whole file: one pass counts all values of a column by
// how they can be read. It also corrects a wrong guess of the sample, if a later value is spelled as people
// write dates and numbers. Files of plain values are not read again.
import { isDated, type PropertyType } from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import { runStatements } from '../batch/batchStatements.ts';
import { type DateOrder, dateVerdict, isDateText } from '../values/dateFormats.ts';
import { inferredDates, type Inferred, inferJsonType, inferredNumbers } from '../values/infer.ts';
import { isMissing } from '../values/missing.ts';
import {
  isNumberText,
  type NumberTally,
  numberVerdict,
  provedStyle,
  type NumberStyle,
} from '../values/numberFormats.ts';
import { fromClause, hasTexts, type Relation } from '../values/relation.ts';
import { countAll, toDateTally, toNumberTally, type Question, findUnread } from './tallies.ts';
import type { Batch, Misfit } from '../batch/batchRequest.ts';
import type { IngestEvents } from './load.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

interface Settling {
  readonly bench: Workbench;
  readonly events: Pick<IngestEvents, 'log'>;
  /** The declared order of dates. */
  readonly order: DateOrder | undefined;
}

/** @param run one load while its file is fitted */
export const settleContext = (run: {
  readonly bench: Workbench;
  readonly events: Pick<IngestEvents, 'log'>;
  readonly load: { readonly dateOrder?: DateOrder };
}): Settling => ({ bench: run.bench, events: run.events, order: run.load.dateOrder });

type Properties = Readonly<Record<string, PropertyType>>;
type SourceColumn = Relation['columns'][number];

/** Rows of a Parquet file that are sampled for texts with dates. */
const SAMPLE_ROWS = 2_000;

/**
 * Returns the relation with the columns resolved that its sample left open.
 * @param dataset of the load, if it exists
 * @throws Failure InvalidBody for dates with two readings, if no value resolves which.
 */
export async function resolveOpenColumns(
  run: Settling,
  relation: Relation,
  dataset: Dataset | undefined,
): Promise<Relation> {
  const sampled = relation.kind === 'parquet' ? await sampleTexts(run, relation) : relation;
  const questions = sampled.columns.flatMap((column) => openQuestion(column, dataset));
  return answerAll(run, sampled, [...questions, ...witnesses(sampled, questions)]);
}

/**
 * If some numbers of a table have commas, the plain numbers of other columns are inspected as well:
 * 12.5 shows how to read 1,234, and beside 12,5 a plain 1.234 is a thousand.
 */
function witnesses(
  { columns, kind }: Relation,
  questions: readonly Question[],
): readonly Question[] {
  const isWritten = columns.some(({ inferred: { number } }) => number?.style === 'comma');
  const isOpen = questions.some((question) => question.kind === 'numbers');
  if (kind !== 'csv' || (!isWritten && !isOpen)) return [];
  const names = new Set(questions.map(({ name }) => name));
  return columns
    .filter(({ inferred, name }) => inferred.property.type === 'number' && !names.has(name))
    .map(({ name }) => ({ name, kind: 'numbers', isFixed: true, witness: true }));
}

function openQuestion({ inferred, name }: SourceColumn, dataset: Dataset | undefined): Question[] {
  const { open, property, spelling } = inferred;
  const target = ownOf(dataset?.schema.properties ?? {}, name);
  const isNew = dataset === undefined || dataset.contract.columns === 'evolve';
  if (target === undefined && (open === undefined || !isNew)) return [];
  const kind = open === 'number' ? 'numbers' : 'dates';
  if (target === undefined) return [{ name, kind, isFixed: false }];
  if (isDated(target)) {
    const text =
      property.type === 'string' && spelling === undefined && property.format === undefined;
    return text ? [{ name, kind: 'dates', isFixed: true }] : [];
  }
  const isNumber = target.type === 'integer' || target.type === 'number';
  return isNumber && open === 'number' ? [{ name, kind, isFixed: true }] : [];
}

const ownOf = (properties: Properties, name: string): PropertyType | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/**
 * Resolves columns whose guessed type a value does not fit although it is a date or a number. Returns the
 * relation, the new types, and in `rest` the misfits that are neither.
 * @param guessed types, which may change
 * @param fixed types, which stay: only the reading of such a column may change
 * @throws as `settle`.
 */
export async function resolveMisfits(
  run: Settling,
  relation: Relation,
  guessed: Properties,
  misfits: readonly Misfit[],
  fixed: Properties = {},
): Promise<{
  readonly relation: Relation;
  readonly properties: Properties;
  readonly rest: readonly Misfit[];
}> {
  const questions = misfits.flatMap((misfit): readonly Question[] => {
    const name = misfit.column;
    const column = relation.columns.find((one) => one.name === name);
    const isNew = Object.hasOwn(guessed, name);
    const named = questionKind(ownOf(isNew ? guessed : fixed, name));
    const kind = isNew && areDays(column) && isDateText(misfit.value) ? 'dates' : named;
    if (column === undefined || column.settled === true || kind === undefined) return [];
    // A typed column has no texts that could be read differently.
    if (relation.kind === 'parquet' && !hasTexts(column.inferred)) return [];
    return mayBe(kind, misfit.value, relation) ? [{ name, kind, isFixed: !isNew }] : [];
  });
  if (questions.length === 0) return { relation, properties: {}, rest: misfits };
  const settled = await answerAll(run, relation, [...questions, ...witnesses(relation, questions)]);
  const properties: Record<string, PropertyType> = {};
  const read = new Set<string>();
  for (const { isFixed, name } of questions) {
    const inferred = settled.columns.find((one) => one.name === name)?.inferred;
    const was = relation.columns.find((one) => one.name === name)?.inferred;
    if (inferred === undefined || inferred === was) continue;
    read.add(name);
    if (!isFixed) properties[name] = inferred.property;
    const misfit = misfits.find(({ column }) => column === name);
    const example = JSON.stringify(misfit?.value.slice(0, 100));
    const word = inferred.property.format ?? inferred.property.type;
    await run.events.log(`${name} is read as ${word}: line ${misfit?.line} has ${example}`);
  }
  const rest = misfits.filter(({ column }) => !read.has(column));
  return { relation: settled, properties, rest };
}

/** Digits such as 20240131 that are days among other dates. */
const areDays = (column: SourceColumn | undefined): boolean =>
  column?.inferred.numeric?.read.kind === 'strptime';

function questionKind(property: PropertyType | undefined): Question['kind'] | undefined {
  if (isDated(property)) return 'dates';
  return property?.type === 'integer' || property?.type === 'number' ? 'numbers' : undefined;
}

const PLAIN_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Whether a value may be read as the kind. A plain number is widened without this, a text is neither. */
function mayBe(
  kind: Question['kind'],
  value: string,
  { columns, kind: format }: Relation,
): boolean {
  if (isMissing(value)) return true;
  if (kind === 'dates') return isDateText(value);
  if (format !== 'csv' || !isNumberText(value)) return false;
  const isWritten = columns.some(({ inferred: { number } }) => number?.style === 'comma');
  return !PLAIN_NUMBER.test(value) || (isWritten && THOUSANDS.test(value));
}

/** Texts that are plain numbers and grouped thousands alike. */
const THOUSANDS = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;

/**
 * Resolves all columns of a file for an existing dataset after some of its records were rejected; undefined
 * if that changes nothing.
 */
export async function resolveRejected(
  run: Settling,
  relation: Relation,
  { schema }: Dataset,
  { invalid }: Batch,
): Promise<Relation | undefined> {
  if (invalid === 0 || relation.kind === 'parquet') return undefined;
  const candidates = relation.columns.flatMap(({ name, settled }): readonly Question[] => {
    const kind = questionKind(ownOf(schema.properties, name));
    return kind === undefined || settled === true ? [] : [{ name, kind, isFixed: true }];
  });
  const questions = await findUnread(run.bench, relation, schema.properties, candidates);
  const again = await answerAll(run, relation, questions);
  const same = again.columns.every(
    ({ inferred }, at) => inferred === relation.columns[at]?.inferred,
  );
  return same ? undefined : again;
}

async function answerAll(
  run: Settling,
  relation: Relation,
  questions: readonly Question[],
): Promise<Relation> {
  if (questions.length === 0) return relation;
  const rows = await countAll(run.bench, relation, questions);
  const answers = new Map<string, Inferred | undefined>();
  const beside = agreedStyle(questions, rows);
  for (const [at, question] of questions.entries()) {
    const row = rows[at] ?? {};
    answers.set(question.name, await resolveColumn(run, relation, question, row, beside));
  }
  const columns = relation.columns.map((column) =>
    answers.has(column.name)
      ? { ...column, inferred: answers.get(column.name) ?? column.inferred, settled: true as const }
      : column,
  );
  return { ...relation, columns };
}

/** The number style of the columns with only one reading, if they agree. */
function agreedStyle(
  questions: readonly Question[],
  rows: readonly Row[],
): NumberStyle | undefined {
  const proved = questions.flatMap(({ kind, isFixed }, at) => {
    if (kind !== 'numbers') return [];
    const tally = toNumberTally(rows[at] ?? {}, isFixed);
    return provedStyle(tally) ?? [];
  });
  const [first] = proved;
  return proved.every((style) => style === first) ? first : undefined;
}

/** Undefined: the values add nothing new. */
async function resolveColumn(
  run: Settling,
  relation: Relation,
  question: Question,
  row: Row,
  beside: NumberStyle | undefined,
): Promise<Inferred | undefined> {
  const { kind, isFixed, name } = question;
  const was = relation.columns.find((column) => column.name === name)?.inferred;
  const marks = Number(row['marks']) > 0 ? ({ missing: true } as const) : {};
  if (kind === 'numbers') {
    const tally = toNumberTally(row, isFixed);
    const delimiter = relation.kind === 'csv' ? relation.delimiter : undefined;
    if (relation.kind !== 'csv') return marksOnly(was, tally, marks);
    const verdict = numberVerdict(tally, delimiter, beside);
    if (verdict === 'ambiguous') {
      await run.events.log(
        `${name} stays as it is written: ${String(row['some'])} may be two numbers`,
      );
    }
    if (verdict === undefined || verdict === 'ambiguous') return undefined;
    if (question.witness === true) {
      if (verdict.style === 'point' || was?.number !== undefined) return undefined;
      const why =
        'the points of its numbers separate thousands, as commas are decimal in other columns';
      await run.events.log(`${name}: ${why}`);
    }
    return { ...inferredNumbers(verdict), ...marks };
  }
  const tally = toDateTally(row, isFixed);
  const verdict = dateVerdict(tally, run.order);
  if (verdict === 'ambiguous') throw ambiguous(name, String(row['open']));
  if (verdict === 'contradiction') {
    const [day, month] = [String(row['dayFirst']), String(row['monthFirst'])];
    const contradiction = `${day} has the day first, ${month} the month`;
    await run.events.log(
      `${name}: the order of day and month contradicts itself: ${contradiction}`,
    );
  }
  if (verdict === undefined || verdict === 'contradiction') {
    return isFixed && tally.count > 0 ? { ...inferredDates(WRITTEN), ...marks } : undefined;
  }
  return { ...inferredDates(verdict), ...marks };
}

const WRITTEN = { time: true, read: { kind: 'written' } } as const;

/** Numbers of JSON need no reading: only marks of no value are added. */
const marksOnly = (
  was: Inferred | undefined,
  { count, neither }: NumberTally,
  marks: { readonly missing?: true },
): Inferred | undefined =>
  was === undefined || marks.missing === undefined || was.missing === true || neither === count
    ? undefined
    : { ...was, ...marks };

function ambiguous(name: string, example: string): Failure {
  const option = 'dateOrder=MDY or DMY (--date-order)';
  const why = `'${example}' can be read with the month first or the day first, and no value decides`;
  return new Failure('InvalidBody', `column '${name}' needs ${option}: ${why}`);
}

/** Parquet types texts only as texts: the first rows are sampled for those that spell dates. */
async function sampleTexts({ bench, order }: Settling, relation: Relation): Promise<Relation> {
  const texts = relation.columns.filter(({ inferred }) => isText(inferred));
  if (texts.length === 0) return relation;
  const samples = texts.map(
    ({ name }, at) => `list(left(CAST(${identifier(name)} AS VARCHAR), 1001)) AS v${at}`,
  );
  const names = texts.map(({ name }) => identifier(name)).join(', ');
  const rows = `SELECT ${names} FROM ${fromClause(relation, [], false)} LIMIT ${SAMPLE_ROWS}`;
  const [lists] = await runStatements(bench, relation, [
    `SELECT ${samples.join(', ')} FROM (${rows})`,
  ]);
  const inferredTypes = new Map(
    texts.map(({ name }, at) => {
      const values = lists?.[0]?.[`v${at}`];
      return [name, inferJsonType(Array.isArray(values) ? values : [], order)];
    }),
  );
  const columns = relation.columns.map((column) => {
    const inferred = inferredTypes.get(column.name);
    const dates = inferred?.spelling !== undefined || inferred?.open === 'order';
    return dates && inferred !== undefined ? { ...column, inferred } : column;
  });
  return { ...relation, columns };
}

const isText = ({ property }: Inferred): boolean =>
  property.type === 'string' && property.format === undefined;
