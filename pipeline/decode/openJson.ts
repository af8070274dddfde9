// JSON as a relation. DuckDB reads lists of objects and objects on lines itself, and most of such files
// are strict JSON: what it would take without a word is looked for as it reads them. Other shapes, and
// files with a fault, are written again as lines.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Row } from '../../store/duckdb/protocol.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Workbench } from '../bytes/workbench.ts';
import type { Reading } from '../bytes/reading.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import { type JsonStep, stepsOf } from './json/jsonPath.ts';
import type { Relation } from '../values/relation.ts';
import { decode } from './child/decoders.ts';
import {
  framingOf,
  isListOfLists,
  jsonRelation,
  type JsonRelation,
  namesInOrder,
  patternOf,
  sampleOf,
  sampleStatement,
  unlikeStatement,
} from './json/json.ts';
import { isAlone, refuseDocument } from './json/jsonDocument.ts';
import {
  DOCUMENT_BYTES_MAX,
  type JsonAnswer,
  type JsonTask,
  writeJsonLines,
} from './json/jsonLines.ts';

/** A file that is scanned in a millisecond needs no process of its own. */
const SMALL_BYTES = 64 * 1024;

interface JsonOpening {
  readonly path: string;
  readonly head: Buffer;
  readonly jsonPath: string | undefined;
  /** The body was said to be JSON: it is what it is, whatever its shape. */
  readonly insists: boolean;
  readonly header: boolean | undefined;
  readonly dateOrder: DateOrder | undefined;
  readonly nulls: Reading['nulls'];
}

/**
 * @throws Failure InvalidBody with the place of a fault, or what to add where the records are not to be
 * seen
 */
export async function openJson(opening: JsonOpening, bench: Workbench): Promise<Relation> {
  const { head, insists, jsonPath, path } = opening;
  const steps = jsonPath === undefined ? [] : stepsOf(jsonPath);
  const framing = framingOf(head);
  const isList = steps.length === 0 || (steps.length === 1 && steps[0]?.kind === 'elements');
  const { size } = await stat(path);
  if (!isList) return openLines(opening, 'values', steps, bench);
  if (framing === 'array') {
    const elements: readonly JsonStep[] = [{ kind: 'elements' }];
    if (isListOfLists(head)) return openLines(opening, 'values', elements, bench);
    return openChecked(opening, { framing, size, as: 'values', steps: elements }, bench);
  }
  if (jsonPath !== undefined) return openLines(opening, 'values', steps, bench);
  if (!insists && size <= DOCUMENT_BYTES_MAX && isAlone(head, framing)) {
    const { answer, to } = await convert(opening, 'document', [], bench);
    if (answer.kind === 'lists') refuseDocument(answer, size);
    if (answer.kind === 'lines') return openWritten(opening, to, answer, bench);
    if (answer.kind === 'record') refuseDocument({ lists: [], type: undefined }, size);
    return readRecords({ ...emptyOf(opening), path, framing }, bench, opening.dateOrder);
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

/** As DuckDB reads it, unless it has a fault, or what DuckDB alone takes for JSON. */
async function openChecked(
  opening: JsonOpening,
  whole: Whole,
  bench: Workbench,
): Promise<Relation> {
  const { path } = opening;
  const again = (): Promise<Relation> => openLines(opening, whole.as, whole.steps, bench);
  if (whole.size <= SMALL_BYTES) {
    return again();
  }
  try {
    const empty = { ...emptyOf(opening), path, framing: whole.framing };
    return (await relationOf(empty, bench, opening.dateOrder, true)) ?? (await again());
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'InvalidBody') throw error;
    // The place of the fault is known to a scan only; where it finds none, the reason stays.
    await again();
    throw error;
  }
}

const EMPTY = { kind: 'json', framing: 'lines', jsonPath: '$[*]', columns: [] } as const;

const emptyOf = ({ nulls }: JsonOpening) => (nulls === undefined ? EMPTY : { ...EMPTY, nulls });

/** The file written again as lines, which are strict JSON. */
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
  const relation = await readRecords({ ...emptyOf(opening), path }, bench, opening.dateOrder);
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
  const said = header === undefined ? {} : { header };
  const task: JsonTask = { kind: 'json', from: path, to, as, steps, ...said };
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
  const relation = await relationOf(empty, bench, order, false);
  if (relation === undefined) throw new Failure('SystemError', 'strict JSON was found not to be');
  return relation;
}

/**
 * The sample says how records are spelled; the file is read for those that are spelled otherwise.
 * @param suspects true: undefined where a record may be no strict JSON
 */
async function relationOf(
  empty: JsonRelation,
  bench: Workbench,
  order: DateOrder | undefined,
  suspects: boolean,
): Promise<Relation | undefined> {
  const sample = sampleOf(await readJson(empty, sampleStatement(empty), bench), order, empty.nulls);
  // Each further statement is 5 ms or more, and of few records any way is fast.
  if (sample.whole && !suspects) return jsonRelation(empty, sample, sample.names, false);
  const pattern = patternOf(sample);
  const [unlike] = await readJson(empty, unlikeStatement(empty, pattern, suspects), bench);
  if (Number(unlike?.['suspects']) > 0) return undefined;
  const all = (unlike?.['names'] ?? []) as readonly string[];
  const known = new Set(sample.names);
  const like = Number(unlike?.['lists']) === 0;
  if (all.every((name) => known.has(name))) return jsonRelation(empty, sample, sample.names, like);
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
    // On the instance that the job goes on with: making one takes 10 ms of processor time.
    const statements = [statement];
    const [rows] = await pool.rows({ files: [path], folder, below, statements, deadlineMs });
    return rows ?? [];
  } catch (error) {
    if (error instanceof Failure && error.type !== 'SystemError') throw error;
    throw new Failure(
      'InvalidBody',
      `the body is not readable JSON: ${explainJson(reasonOf(error))}`,
    );
  }
}

/** DuckDB's sentences are about its own functions. */
function explainJson(reason: string): string {
  const [, bytes] = /"maximum_object_size" of (\d+) bytes/.exec(reason) ?? [];
  if (bytes !== undefined) return `a record of it has over ${bytes} bytes`;
  return 'it is damaged';
}
