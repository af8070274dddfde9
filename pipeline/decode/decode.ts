// A file as it came, opened: unpacked, told by its content, its columns and first types known.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Row } from '../../store/duckdb/protocol.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { UsualColumns } from '../../store/lake/datasets/defaults.ts';
import type { FactReader } from '../../store/lake/datasets/reportedFacts.ts';
import { arrowRelation } from './arrow.ts';
import { asProperties } from './asProperties.ts';
import { contentOf, readHead, textContentOf } from '../bytes/content.ts';
import { csvRelation } from './csv.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import {
  narrowEncodingOf,
  scanText,
  tellNul,
  wideEncodingOf,
  writeUtf8,
} from '../bytes/encoding.ts';
import { errorIn } from '../bytes/errorDocument.ts';
import {
  framingOf,
  jsonRelation,
  type JsonRelation,
  namesInOrder,
  patternOf,
  sampleOf,
  sampleStatement,
  unlikeStatement,
} from './json.ts';
import { isAlone, listsStatement, refuseDocument } from './jsonDocument.ts';
import { keyedCopy } from './keyedCopy.ts';
import { refuseEndlessLine } from '../bytes/lineScan.ts';
import { COMPANY_FACTS, factCopy, isCompany } from './factCopy.ts';
import { longCopy } from './longCopy.ts';
import { NoDataFailure, noDataIn } from '../bytes/noData.ts';
import { describeParquet, parquetRelation } from './parquet.ts';
import type { Encoding, Reading } from '../bytes/reading.ts';
import { withNamedTypes } from '../values/columnNames.ts';
import { propertiesOf } from '../values/jsonPath.ts';
import type { Relation } from '../values/relation.ts';
import { type Packing, unpack } from '../bytes/unpack.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** A file, and what is said of how it is to be read. */
interface Opening {
  readonly path: string;
  readonly jsonPath?: string;
  readonly dateOrder?: DateOrder;
  readonly reading?: Reading;
  /** Properties of the dataset that it goes into, where there is one: what does not fit is rejected. */
  readonly known?: readonly string[];
  /** What columns usually are, of a dataset whose place says so. */
  readonly usual?: UsualColumns | undefined;
  /** What such a dataset makes of single values that a company reported. */
  readonly facts?: FactReader | undefined;
}

/**
 * The file as a relation, by its content; a packed one is unpacked first.
 * @throws NoDataFailure for what is none, Failure InvalidBody for what needs a word more.
 */
export async function openRelation(opening: Opening, bench: Workbench): Promise<Relation> {
  return withNamedTypes(await openNamed(opening, bench));
}

async function openNamed(opening: Opening, bench: Workbench): Promise<Relation> {
  const { known, reading = {}, usual } = opening;
  if (reading.facts === true) return openFacts(opening, bench);
  const said = Object.keys(reading.columns ?? {});
  const names = known === undefined ? {} : { known: [...known, ...said] };
  const opened = await openFile({ ...opening, ...names }, bench);
  const { wide } = reading;
  if (wide === undefined) return asProperties(opened, reading, usual);
  const path = await longCopy(opened, { ...reading, wide }, bench);
  const { dateOrder } = opening;
  const written = { path, reading: LONG, ...(dateOrder === undefined ? {} : { dateOrder }) };
  const long = await openFile(written, bench);
  const note = `wide: each cell is a record, its column is ${wide.names} and its value ${wide.values}`;
  const told = { ...long, notes: [...(opened.notes ?? []), note] };
  return asProperties(told, { ...reading, ...withoutLeftOut(reading) }, usual);
}

/** @throws Failure InvalidBody also where the dataset makes nothing of facts. */
async function openFacts(opening: Opening, bench: Workbench): Promise<Relation> {
  const { facts, reading = {}, usual } = opening;
  if (facts === undefined) {
    const rule = 'only statements in CORE, such as INCOME or FINANCIALS, are made of them';
    throw new Failure('InvalidBody', `facts: ${rule}`);
  }
  const opened = await openFile(opening, bench);
  const { notes, path } = await factCopy(opened, facts, bench);
  const made = await openFile({ path }, bench);
  const told = { ...made, notes: [...(opened.notes ?? []), ...notes] };
  return asProperties(told, reading, usual);
}

/** How a long copy is written. */
const LONG: Reading = { as: 'csv', header: true, delimiter: 'comma', skipLast: 0, skipLines: 0 };

/** What stayed out of a long copy is not in it. */
const withoutLeftOut = ({ columns = {} }: Reading): Pick<Reading, 'columns'> => ({
  columns: Object.fromEntries(Object.entries(columns).filter(([, property]) => property !== null)),
});

async function openFile(opening: Opening, bench: Workbench): Promise<Relation> {
  let { path } = opening;
  let head = await readHead(path);
  let content = contentOf(head);
  if (isPacked(content)) {
    const plain = join(bench.folder, 'plain');
    await unpack(content, path, plain);
    path = plain;
    head = await readHead(path);
    content = contentOf(head);
  }
  if (isPacked(content)) throw new Failure('InvalidBody', 'the body is packed twice');
  if (content === 'parquet') return parquetRelation(path, await describe(path, bench));
  if (content === 'arrow-file' || content === 'arrow-stream') {
    return arrowRelation(path, content === 'arrow-file', bench);
  }
  return openText({ ...opening, path }, head, bench);
}

async function openText(opening: Opening, head: Buffer, bench: Workbench): Promise<Relation> {
  const { dateOrder, known, reading = {} } = opening;
  const text = await inUtf8(opening.path, head, reading, bench);
  const ofCompany = reading.facts === true && isCompany(text.head) ? COMPANY_FACTS : undefined;
  const jsonPath = opening.jsonPath ?? ofCompany;
  const { path } = text;
  const insists = reading.as !== undefined;
  const content = reading.as ?? (jsonPath === undefined ? textContentOf(text.head) : 'json');
  if (text.scan.hasNul) throw new Failure('InvalidBody', await tellNul(path));
  if (content === 'csv') {
    await refuseEndlessLine(path);
    return csvRelation({ ...text, reading, folder: bench.folder, dateOrder, known });
  }
  const error = insists ? undefined : errorIn(text.head);
  if (error !== undefined) throw new NoDataFailure(error);
  const framing = framingOf(text.head, jsonPath);
  const below = jsonPath ?? '$[*]';
  const { nulls } = reading;
  const named = nulls === undefined ? {} : { nulls };
  const empty = { kind: 'json', path, framing, jsonPath: below, columns: [], ...named } as const;
  if (propertiesOf(below).length > 0) {
    const keyed = await keyedCopy(empty, bench);
    return openJson(
      { ...empty, path: keyed, framing: 'lines', jsonPath: '$[*]' },
      bench,
      dateOrder,
    );
  }
  if (!insists && isAlone(text.head, framing)) {
    const found = await readJson(empty, listsStatement(path), bench);
    refuseDocument(found, (await stat(path)).size);
  }
  return openJson(empty, bench, dateOrder);
}

/** The text in UTF-8: as it came, or written again. */
async function inUtf8(path: string, head: Buffer, reading: Reading, bench: Workbench) {
  const asUtf8 = async (encoding: Encoding) => {
    const to = join(bench.folder, newUuid());
    await writeUtf8(path, encoding, to);
    return { path: to, head: await readHead(to), scan: await scanText(to) };
  };
  const refuse = (bytes: Buffer): void => {
    const what = reading.as === undefined ? noDataIn(bytes) : undefined;
    if (what !== undefined) throw new NoDataFailure(what);
  };
  refuse(head);
  const said = reading.encoding;
  const wide = said ?? wideEncodingOf(head);
  if (wide !== undefined && wide !== 'utf-8') {
    const text = await asUtf8(wide);
    refuse(text.head);
    return text;
  }
  const scan = await scanText(path);
  if (scan.isUtf8 || scan.hasNul || said === 'utf-8') return { path, head, scan };
  return asUtf8(await narrowEncodingOf(path));
}

/** The sample says how records are spelled; the file is read for those that are spelled otherwise. */
async function openJson(
  empty: JsonRelation,
  bench: Workbench,
  order: DateOrder | undefined,
): Promise<Relation> {
  const sample = sampleOf(await readJson(empty, sampleStatement(empty), bench), order, empty.nulls);
  // Each further statement is 5 ms or more, and of few records any way is fast.
  if (sample.whole) return jsonRelation(empty, sample, sample.names, false);
  const pattern = patternOf(empty, sample);
  const [unlike] = await readJson(empty, unlikeStatement(empty, pattern), bench);
  const all = (unlike?.['names'] ?? []) as readonly string[];
  const known = new Set(sample.names);
  const like = Number(unlike?.['lists']) === 0;
  if (all.every((name) => known.has(name))) return jsonRelation(empty, sample, sample.names, like);
  const named = await readJson(empty, namesInOrder(empty), bench);
  const names = named.map((row) => String(row['name']));
  return jsonRelation(empty, sample, names, like);
}

const isPacked = (content: string): content is Packing =>
  content === 'gzip' || content === 'zstd' || content === 'zip';

async function describe(path: string, bench: Workbench): Promise<readonly Row[]> {
  const damaged = 'the body is not readable Parquet: damaged or cut short';
  const statements = [describeParquet(path)];
  const [described] = await readable(bench, path, statements, () => damaged);
  return described ?? [];
}

async function readJson(
  { path }: JsonRelation,
  statement: string,
  bench: Workbench,
): Promise<readonly Row[]> {
  const [rows] = await readable(bench, path, [statement], (reason) => {
    const [first = ''] = reason.split('\n');
    return `the body is not readable JSON: ${first.replaceAll(path, 'the body')}`;
  });
  return rows ?? [];
}

async function readable(
  { pool, folder, below, deadlineMs }: Workbench,
  path: string,
  statements: readonly string[],
  explain: (reason: string) => string,
): Promise<readonly (readonly Row[])[]> {
  try {
    // On the instance that the job goes on with: making one takes 10 ms of processor time.
    return await pool.rows({ files: [path], folder, below, statements, deadlineMs });
  } catch (error) {
    if (error instanceof Failure && error.type !== 'SystemError') throw error;
    throw new Failure('InvalidBody', explain(reasonOf(error)));
  }
}
