// Opens JSON as a relation. DuckDB reads lists of objects and objects on lines itself, and most of such files
// are strict JSON: what it would accept silently is detected while it reads them. Other shapes, and
// files with a fault, are rewritten as lines.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Row } from '../../store/duckdb/protocol.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Workbench } from '../bytes/workbench.ts';
import type { Reading } from '../bytes/reading.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import { type JsonStep, parseSteps } from './json/jsonPath.ts';
import type { Relation } from '../values/relation.ts';
import { decode } from './child/decoders.ts';
import {
  detectFraming,
  isListOfLists,
  jsonRelation,
  type JsonRelation,
  namesInOrder,
  samplePattern,
  readSample,
  sampleStatement,
  unlikeStatement,
} from './json/json.ts';
import { isSingleDocument, refuseDocument } from './json/jsonDocument.ts';
import {
  DOCUMENT_BYTES_MAX,
  type JsonAnswer,
  type JsonTask,
  writeJsonLines,
} from './json/jsonLines.ts';
import { unreadableFailure } from './json/jsonText.ts';

/** A file up to this size is scanned in a millisecond, without a separate process. */
const SMALL_BYTES = 64 * 1024;

interface JsonOpening {
  readonly path: string;
  readonly head: Buffer;
  readonly jsonPath: string | undefined;
  /** The load declared the body to be JSON: its shape is not checked. */
  readonly insists: boolean;
  readonly header: boolean | undefined;
  readonly dateOrder: DateOrder | undefined;
  readonly nulls: Reading['nulls'];
}

/**
 * @throws Failure InvalidBody with the position of a fault, or with the options to add if the records cannot
 * be located
 */
export async function openJson(opening: JsonOpening, bench: Workbench): Promise<Relation> {
  const { head, insists, jsonPath, path } = opening;
  const steps = jsonPath === undefined ? [] : parseSteps(jsonPath);
  const framing = detectFraming(head);
  const isList = steps.length === 0 || (steps.length === 1 && steps[0]?.kind === 'elements');
  const { size } = await stat(path);
  if (!isList) return openLines(opening, 'values', steps, bench);
  if (framing === 'array') {
    const elements: readonly JsonStep[] = [{ kind: 'elements' }];
    if (isListOfLists(head)) return openLines(opening, 'values', elements, bench);
    return openChecked(opening, { framing, size, as: 'values', steps: elements }, bench);
  }
  if (jsonPath !== undefined) return openLines(opening, 'values', steps, bench);
  if (!insists && size <= DOCUMENT_BYTES_MAX && isSingleDocument(head, framing)) {
    const { answer, to } = await convert(opening, 'document', [], bench);
    if (answer.kind === 'lists') refuseDocument(answer, size);
    if (answer.kind === 'lines') return openWritten(opening, to, answer, bench);
    if (answer.kind === 'record') refuseDocument({ lists: [], type: undefined }, size);
    return readRecords({ ...emptyRelation(opening), path, framing }, bench, opening.dateOrder);
  }
  const as = framing === 'lines' ? 'lines' : 'values';
  return openChecked(opening, { framing, size, as, steps: [] }, bench);
}

interface Whole {
  readonly framing: JsonRelation['framing'];
  readonly size: number;
  readonly as: JsonTask['as'];
  readonly steps: readonly JsonStep[];
}

/** Lets DuckDB read the file, unless it has a fault, or syntax that only DuckDB accepts. */
async function openChecked(
  opening: JsonOpening,
  whole: Whole,
  bench: Workbench,
): Promise<Relation> {
  const { path } = opening;
  const openConverted = (): Promise<Relation> => openLines(opening, whole.as, whole.steps, bench);
  if (whole.size <= SMALL_BYTES) {
    return openConverted();
  }
  try {
    const empty = { ...emptyRelation(opening), path, framing: whole.framing };
    return (await toRelation(empty, bench, opening.dateOrder, true)) ?? (await openConverted());
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'InvalidBody') throw error;
    // Only a scan knows the position of the fault; if it finds none, DuckDB's reason is reported.
    await openConverted();
    throw error;
  }
}

const EMPTY = { kind: 'json', framing: 'lines', jsonPath: '$[*]', columns: [] } as const;

const emptyRelation = ({ nulls }: JsonOpening) =>
  nulls === undefined ? EMPTY : { ...EMPTY, nulls };

/** Opens the file rewritten as lines, which are strict JSON. */
async function openLines(
  opening: JsonOpening,
  as: JsonTask['as'],
  steps: readonly JsonStep[],
  bench: Workbench,
): Promise<Relation> {
  const { answer, to } = await convert(opening, as, steps, bench);
  return openWritten(opening, to, answer, bench);
}

async function openWritten(
  opening: JsonOpening,
  path: string,
  answer: JsonAnswer,
  bench: Workbench,
): Promise<Relation> {
  const relation = await readRecords({ ...emptyRelation(opening), path }, bench, opening.dateOrder);
  const notes = answer.kind === 'lines' ? answer.notes : [];
  return notes.length === 0
    ? relation
    : { ...relation, notes: [...(relation.notes ?? []), ...notes] };
}

async function convert(
  { header, path }: JsonOpening,
  as: JsonTask['as'],
  steps: readonly JsonStep[],
  bench: Workbench,
): Promise<{ readonly answer: JsonAnswer; readonly to: string }> {
  const to = join(bench.folder, newUuid());
  const option = header === undefined ? {} : { header };
  const task: JsonTask = { kind: 'json', from: path, to, as, steps, ...option };
  const { size } = await stat(path);
  if (size <= SMALL_BYTES) return { answer: await writeJsonLines(task), to };
  const decoded = await decode(task, bench);
  if (decoded.kind !== 'json') throw new Failure('SystemError', 'a decoder answered another task');
  return { answer: decoded.answer, to };
}

async function readRecords(
  empty: JsonRelation,
  bench: Workbench,
  order: DateOrder | undefined,
): Promise<Relation> {
  const relation = await toRelation(empty, bench, order, false);
  if (relation === undefined) throw new Failure('SystemError', 'strict JSON was found not to be');
  return relation;
}

/**
 * The sample determines the spelling of records; the file is read for records that are spelled differently.
 * @param suspects true: returns undefined if a record may not be strict JSON
 */
async function toRelation(
  empty: JsonRelation,
  bench: Workbench,
  order: DateOrder | undefined,
  suspects: boolean,
): Promise<Relation | undefined> {
  const sample = readSample(
    await readJson(empty, sampleStatement(empty), bench),
    order,
    empty.nulls,
  );
  // Each further statement takes 5 ms or more; for few records any plan is fast.
  if (sample.whole && !suspects) return jsonRelation(empty, sample, sample.names, false);
  const pattern = samplePattern(sample);
  const statement = unlikeStatement(empty, pattern, suspects, sample.hasLongNumbers);
  const [unlike] = await readJson(empty, statement, bench);
  if (Number(unlike?.['suspects']) > 0) return undefined;
  const all = (unlike?.['names'] ?? []) as readonly string[];
  const sampledNames = new Set(sample.names);
  const like = Number(unlike?.['lists']) === 0;
  if (all.every((name) => sampledNames.has(name)))
    return jsonRelation(empty, sample, sample.names, like);
  const named = await readJson(empty, namesInOrder(empty), bench);
  const names = named.map((row) => String(row['name']));
  return jsonRelation(empty, sample, names, like);
}

async function readJson(
  { path }: JsonRelation,
  statement: string,
  { below, deadlineMs, folder, pool }: Workbench,
): Promise<readonly Row[]> {
  try {
    // Runs on the instance that the job continues with: to start one takes 10 ms of processor time.
    const statements = [statement];
    const [rows] = await pool.rows({ files: [path], folder, below, statements, deadlineMs });
    return rows ?? [];
  } catch (error) {
    if (error instanceof Failure && error.type !== 'SystemError') throw error;
    throw unreadableFailure(explainJson(reasonOf(error)));
  }
}

/** Rewords the error: DuckDB's message is about its own functions. */
function explainJson(reason: string): string {
  const [, bytes] = /"maximum_object_size" of (\d+) bytes/.exec(reason) ?? [];
  if (bytes !== undefined) return `a record of it has over ${bytes} bytes`;
  return 'it is damaged';
}
