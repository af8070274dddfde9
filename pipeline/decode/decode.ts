// A file as it came, opened: unpacked, told by its content, its columns and first types known.
import { join } from 'node:path';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { RewriteFile, UsualColumns } from '../../store/lake/datasets/defaults.ts';
import type { FactReader } from '../../store/lake/datasets/reportedFacts.ts';
import { arrowRelation } from './arrow.ts';
import { asProperties, inFileSpelling } from './asProperties.ts';
import { decode } from './child/decoders.ts';
import { contentOf, readHead, textContentOf } from '../bytes/content.ts';
import { csvRelation } from '../csv/csvRelation.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import {
  narrowEncodingOf,
  scanText,
  tellNul,
  wideEncodingOf,
  writeUtf8,
} from '../bytes/encoding.ts';
import { errorIn } from '../bytes/errorDocument.ts';
import { openJson } from './openJson.ts';
import { refuseEndlessLine } from '../bytes/lineScan.ts';
import { COMPANY_FACTS, factCopy, isCompany } from '../copies/factCopy.ts';
import { longCopy } from '../copies/longCopy.ts';
import { NoDataFailure, noDataIn } from '../bytes/noData.ts';
import { parquetRelation } from './parquet.ts';
import { needsCopy, rewrittenCopy } from '../copies/rewrittenCopy.ts';
import type { Encoding, Reading } from '../bytes/reading.ts';
import { withNamedTypes } from '../values/columnNames.ts';
import { prepareZone } from '../dates/timeZones.ts';
import type { Relation } from '../values/relation.ts';
import type { Packing } from '../bytes/unpack.ts';
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
  /** How a file for such a dataset is written again. */
  readonly rewrite?: RewriteFile | undefined;
  /** What such a dataset makes of single values that a company reported. */
  readonly facts?: FactReader | undefined;
}

/**
 * The file as a relation, by its content; a packed one is unpacked first.
 * @throws NoDataFailure for what is none, Failure InvalidBody for what needs a word more.
 */
export async function openRelation(opening: Opening, bench: Workbench): Promise<Relation> {
  const { reading = {} } = opening;
  const { dateFormat, timeZone } = reading;
  if (timeZone !== undefined) await prepareZone(timeZone);
  const relation = await openProperties(opening, reading, bench);
  if (dateFormat !== undefined && relation.kind !== 'csv') {
    throw new Failure('InvalidBody', 'dateFormat: only the dates of CSV have a format');
  }
  const zoned = timeZone === undefined ? relation : { ...relation, zone: timeZone };
  return withNamedTypes(zoned);
}

async function openProperties(
  opening: Opening,
  reading: Reading,
  bench: Workbench,
): Promise<Relation> {
  const { known, usual } = opening;
  if (reading.facts === true) return openFacts(opening, bench);
  const said = Object.keys(reading.columns ?? {});
  const names = known === undefined ? {} : { known: [...known, ...said] };
  const opened = await openFile({ ...opening, ...names }, bench);
  const { wide } = reading;
  if (wide === undefined) return asRewritten(opened, opening, bench);
  const path = await longCopy(opened, { ...reading, wide }, bench);
  const { dateOrder } = opening;
  const written = {
    path,
    reading: { ...LONG, ...ofValues(reading) },
    ...(dateOrder === undefined ? {} : { dateOrder }),
  };
  const long = await openFile(written, bench);
  const note = `wide: each cell is a record, its column is ${wide.names} and its value ${wide.values}`;
  const told = { ...long, notes: [...(opened.notes ?? []), note] };
  return asProperties(told, { ...reading, ...withoutLeftOut(reading) }, usual);
}

/** Its columns as properties, after it is written again where its place says so. */
async function asRewritten(
  opened: Relation,
  opening: Opening,
  bench: Workbench,
): Promise<Relation> {
  const { dateOrder, reading = {}, usual } = opening;
  const { columns = {}, constants = {}, guess = false, vendor } = reading;
  const rewrite = opening.rewrite?.({
    columns: opened.columns.map(({ name }) => name),
    declared: inFileSpelling(opened, columns),
    constants: Object.keys(constants),
    guess,
    vendor,
  });
  if (rewrite === undefined) return asProperties(opened, reading, usual);
  const notes = [...(opened.notes ?? []), ...rewrite.notes];
  const asDeclared = { ...reading, constants: { ...rewrite.constants, ...constants } };
  if (!needsCopy(rewrite)) return asProperties({ ...opened, notes }, asDeclared, usual);
  const copy = await rewrittenCopy(opened, rewrite, bench);
  const written = {
    path: copy.path,
    reading: { ...LONG, ...nullsOf(reading) },
    ...(dateOrder === undefined ? {} : { dateOrder }),
  };
  const made = await openFile(written, bench);
  const open = Object.entries(inFileSpelling(opened, columns)).filter(
    ([column]) => !Object.hasOwn(rewrite.columns, column) && !rewrite.leftOut.includes(column),
  );
  const relation = asProperties(
    { ...made, notes: [...notes, ...copy.notes] },
    { ...asDeclared, columns: Object.fromEntries(open) },
    usual,
  );
  const leftOut = [...(relation.leftOut ?? []), ...rewrite.leftOut];
  return { ...relation, leftOut, rewritten: rewrite.columns };
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
  const unread = opened.unread === undefined ? {} : { unread: opened.unread };
  const told = { ...made, ...unread, notes: [...(opened.notes ?? []), ...notes] };
  return asProperties(told, reading, usual);
}

/** What is said of the values of a file, which a copy of it has too. */
const ofValues = ({ dateFormat, ...reading }: Reading): Pick<Reading, 'dateFormat' | 'nulls'> => ({
  ...(dateFormat === undefined ? {} : { dateFormat }),
  ...nullsOf(reading),
});

const nullsOf = ({ nulls }: Reading): Pick<Reading, 'nulls'> =>
  nulls === undefined ? {} : { nulls };

/** How a long copy is written. */
const LONG: Reading = {
  as: 'csv',
  header: true,
  delimiter: 'comma',
  quote: 'double',
  escape: 'double',
  skipLast: 0,
  skipLines: 0,
};

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
    await decode({ kind: 'unpack', packing: content, from: path, to: plain }, bench);
    path = plain;
    head = await readHead(path);
    content = contentOf(head);
  }
  if (isPacked(content)) throw new Failure('InvalidBody', 'the body is packed twice');
  const { binary } = opening.reading ?? {};
  if (content === 'parquet') return parquetRelation(path, binary, bench);
  if (content === 'arrow-file' || content === 'arrow-stream') {
    return arrowRelation(path, content === 'arrow-file', binary, bench);
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
  const error = insists ? undefined : errorIn(text.head);
  if (error !== undefined) throw new NoDataFailure(error);
  if (content === 'csv') {
    await refuseEndlessLine(path);
    return csvRelation({ ...text, reading, folder: bench.folder, dateOrder, known });
  }
  const { header: named, nulls } = reading;
  const header = named === undefined ? named : named !== false && named !== 0;
  return openJson({ path, head: text.head, jsonPath, insists, header, dateOrder, nulls }, bench);
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

const isPacked = (content: string): content is Packing =>
  content === 'gzip' || content === 'zstd' || content === 'zip';
