// Opens a received file: decompresses it, detects its content, and infers its columns and first types.
import { join } from 'node:path';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { RewriteFile, GuessColumns } from '../../store/lake/datasets/defaults.ts';
import type { FactReader } from '../../store/lake/datasets/xbrlFacts.ts';
import { arrowRelation } from './arrow.ts';
import { mapToProperties, toFileSpelling } from './propertyMapping.ts';
import { decode } from './child/decoders.ts';
import { detectContent, readHead, detectTextContent } from '../bytes/content.ts';
import { csvRelation } from '../csv/csvRelation.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import {
  describeEncoding,
  detectNarrowEncoding,
  scanText,
  type TextScan,
  describeNul,
  detectWideEncoding,
  writeUtf8,
} from '../bytes/encoding.ts';
import { findErrorText } from '../bytes/errorDocument.ts';
import { openJson } from './openJson.ts';
import { refuseEndlessLine } from '../bytes/lineScan.ts';
import { COMPANY_FACTS, writeXbrlRecords, isCompanyDocument } from '../copies/xbrlRecords.ts';
import { unpivot } from '../copies/unpivot.ts';
import { NoDataFailure, describeNoData } from '../bytes/noData.ts';
import { parquetRelation } from './parquet.ts';
import { needsCopy, writeRewrittenCopy } from '../copies/rewrittenCopy.ts';
import type { Encoding, Reading } from '../bytes/reading.ts';
import { withNamedTypes } from '../values/columnNames.ts';
import { prepareZone } from '../dates/timeZones.ts';
import type { Relation } from '../values/relation.ts';
import type { Packing } from '../bytes/unpack.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** A file, and the options for reading it. */
interface Opening {
  readonly path: string;
  readonly jsonPath?: string;
  readonly dateOrder?: DateOrder;
  readonly reading?: Reading;
  /** Properties of the dataset of the load, if it exists: values that do not fit are rejected. */
  readonly propertyNames?: readonly string[];
  /** The usual meaning of columns at the dataset's place, if it defines any. */
  readonly usual?: GuessColumns | undefined;
  /** Rewrites a file for such a dataset. */
  readonly rewrite?: RewriteFile | undefined;
  /** Reads single values that a company reported as records of such a dataset. */
  readonly facts?: FactReader | undefined;
}

/**
 * Opens the file as a relation by its content; a compressed one is decompressed first.
 * @throws NoDataFailure for a body that is not data, Failure InvalidBody if further options are needed.
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
  const { propertyNames, usual } = opening;
  if (reading.facts === true) return openFacts(opening, bench);
  const declared = Object.keys(reading.columns ?? {});
  const names =
    propertyNames === undefined ? {} : { propertyNames: [...propertyNames, ...declared] };
  const opened = await openFile({ ...opening, ...names }, bench);
  const { wide } = reading;
  if (wide === undefined) return openRewritten(opened, opening, bench);
  const path = await unpivot(opened, { ...reading, wide }, bench);
  const { dateOrder } = opening;
  const written = {
    path,
    reading: { ...LONG, ...valueOptions(reading) },
    ...(dateOrder === undefined ? {} : { dateOrder }),
  };
  const long = await openFile(written, bench);
  const note = `wide: each cell is a record, its column is ${wide.names} and its value ${wide.values}`;
  const noted = { ...long, notes: [...(opened.notes ?? []), note] };
  return mapToProperties(noted, { ...reading, ...withoutLeftOut(reading) }, usual);
}

/** Maps the columns to properties, after a rewrite if the dataset's place requires it. */
async function openRewritten(
  opened: Relation,
  opening: Opening,
  bench: Workbench,
): Promise<Relation> {
  const { dateOrder, reading = {}, usual } = opening;
  const { columns = {}, constants = {}, guess = false, vendor } = reading;
  const rewrite = opening.rewrite?.({
    columns: opened.columns.map(({ name }) => name),
    declared: toFileSpelling(opened, columns),
    constants: Object.keys(constants),
    guess,
    vendor,
  });
  if (rewrite === undefined) return mapToProperties(opened, reading, usual);
  const notes = [...(opened.notes ?? []), ...rewrite.notes];
  const asDeclared = { ...reading, constants: { ...rewrite.constants, ...constants } };
  if (!needsCopy(rewrite)) return mapToProperties({ ...opened, notes }, asDeclared, usual);
  const copy = await writeRewrittenCopy(opened, rewrite, bench);
  const written = {
    path: copy.path,
    reading: { ...LONG, ...nullsOf(reading) },
    ...(dateOrder === undefined ? {} : { dateOrder }),
  };
  const rewritten = await openFile(written, bench);
  const open = Object.entries(toFileSpelling(opened, columns)).filter(
    ([column]) => !Object.hasOwn(rewrite.columns, column) && !rewrite.excluded.includes(column),
  );
  const relation = mapToProperties(
    { ...rewritten, notes: [...notes, ...copy.notes] },
    { ...asDeclared, columns: Object.fromEntries(open) },
    usual,
  );
  const leftOut = [...(relation.leftOut ?? []), ...rewrite.excluded];
  return { ...relation, leftOut, rewritten: rewrite.columns };
}

/** @throws Failure InvalidBody also if the dataset has no records of facts. */
async function openFacts(opening: Opening, bench: Workbench): Promise<Relation> {
  const { facts, reading = {}, usual } = opening;
  if (facts === undefined) {
    const rule = 'only statements in CORE, such as INCOME or FINANCIALS, are made of them';
    throw new Failure('InvalidBody', `facts: ${rule}`);
  }
  const opened = await openFile(opening, bench);
  const { notes, path } = await writeXbrlRecords(opened, facts, bench);
  const records = await openFile({ path }, bench);
  const unread = opened.unread === undefined ? {} : { unread: opened.unread };
  const noted = { ...records, ...unread, notes: [...(opened.notes ?? []), ...notes] };
  return mapToProperties(noted, reading, usual);
}

/** The options for values, which also apply to a copy of the file. */
const valueOptions = ({
  dateFormat,
  ...reading
}: Reading): Pick<Reading, 'dateFormat' | 'nulls'> => ({
  ...(dateFormat === undefined ? {} : { dateFormat }),
  ...nullsOf(reading),
});

const nullsOf = ({ nulls }: Reading): Pick<Reading, 'nulls'> =>
  nulls === undefined ? {} : { nulls };

/** The format of a written copy. */
const LONG: Reading = {
  as: 'csv',
  header: true,
  delimiter: 'comma',
  quote: 'double',
  escape: 'double',
  skipLast: 0,
  skipLines: 0,
};

/** The columns without those that a copy already left out. */
const withoutLeftOut = ({ columns = {} }: Reading): Pick<Reading, 'columns'> => ({
  columns: Object.fromEntries(Object.entries(columns).filter(([, property]) => property !== null)),
});

async function openFile(opening: Opening, bench: Workbench): Promise<Relation> {
  let { path } = opening;
  let head = await readHead(path);
  let content = detectContent(head);
  if (isPacked(content)) {
    const plain = join(bench.folder, 'plain');
    await decode({ kind: 'unpack', packing: content, from: path, to: plain }, bench);
    path = plain;
    head = await readHead(path);
    content = detectContent(head);
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
  const text = await inUtf8(opening.path, head, opening.reading ?? {}, bench);
  const relation = await openUtf8(opening, text, bench);
  const { encodingNotes } = text;
  if (encodingNotes.length === 0) return relation;
  return { ...relation, notes: [...encodingNotes, ...(relation.notes ?? [])] };
}

/** A text in UTF-8. */
interface Utf8Text {
  readonly path: string;
  readonly head: Buffer;
  readonly scan: TextScan;
  readonly encodingNotes: readonly string[];
}

async function openUtf8(opening: Opening, text: Utf8Text, bench: Workbench): Promise<Relation> {
  const { dateOrder, propertyNames, reading = {} } = opening;
  const ofCompany =
    reading.facts === true && isCompanyDocument(text.head) ? COMPANY_FACTS : undefined;
  const jsonPath = opening.jsonPath ?? ofCompany;
  const { path } = text;
  const insists = reading.as !== undefined;
  const content = reading.as ?? (jsonPath === undefined ? detectTextContent(text.head) : 'json');
  if (text.scan.hasNul) throw new Failure('InvalidBody', await describeNul(path));
  const error = insists ? undefined : findErrorText(text.head);
  if (error !== undefined) throw new NoDataFailure(error);
  if (content === 'csv') {
    await refuseEndlessLine(path);
    const { head, scan } = text;
    return csvRelation({
      path,
      head,
      scan,
      reading,
      folder: bench.folder,
      dateOrder,
      propertyNames,
    });
  }
  const { header: named, nulls } = reading;
  const header = named === undefined ? named : named !== false && named !== 0;
  return openJson({ path, head: text.head, jsonPath, insists, header, dateOrder, nulls }, bench);
}

/** The text in UTF-8: the file itself, or a transcoded copy. */
async function inUtf8(
  path: string,
  head: Buffer,
  reading: Reading,
  bench: Workbench,
): Promise<Utf8Text> {
  const asUtf8 = async (encoding: Encoding, encodingNotes: readonly string[]) => {
    const to = join(bench.folder, newUuid());
    await writeUtf8(path, encoding, to);
    return { path: to, head: await readHead(to), scan: await scanText(to), encodingNotes };
  };
  const refuse = (bytes: Buffer): void => {
    const what = reading.as === undefined ? describeNoData(bytes) : undefined;
    if (what !== undefined) throw new NoDataFailure(what);
  };
  refuse(head);
  const declared = reading.encoding;
  const wide = declared === undefined ? detectWideEncoding(head) : { encoding: declared };
  if (wide !== undefined && wide.encoding !== 'utf-8') {
    const text = await asUtf8(wide.encoding, describeEncoding(wide));
    refuse(text.head);
    return text;
  }
  const scan = await scanText(path);
  if (scan.isUtf8 || scan.hasNul || declared === 'utf-8') {
    return { path, head, scan, encodingNotes: [] };
  }
  const narrow = await detectNarrowEncoding(path);
  return asUtf8(narrow.encoding, describeEncoding(narrow));
}

const isPacked = (content: string): content is Packing =>
  content === 'gzip' || content === 'zstd' || content === 'zip';
