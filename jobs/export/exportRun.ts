// One run of an export, resumed from its checkpoint: parts at the target are verified by their checksum,
// missing ones are written and delivered in order, and the manifest comes last.
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ExportFormat,
  makePart,
  type PartFormat,
  type PartRange,
  type PartSchema,
  type PartsInput,
  planParts,
  partSchema,
  UNFINISHED_PREFIX,
} from '../../pipeline/targets/exportParts.ts';
import type { Credential } from '../../pipeline/sources/base/source.ts';
import { openTarget, type TargetRules } from '../../pipeline/targets/open.ts';
import {
  manifestLocation,
  type Part,
  type Target,
  type TargetDefinition,
} from '../../pipeline/targets/target.ts';
import { digestFile } from '../../store/base/fileDigest.ts';
import type { AtCrashPoint } from '../../store/base/crashPoints.ts';
import { findCredential, unsealCredential } from '../../store/work/dataSources.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import { type ExportRow, updateExport } from '../../store/work/exports.ts';
import { Failure, NO_LONGER_THERE } from '../../store/base/failure.ts';
import { formatMoment } from '../../store/lake/history/history.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';
import type { Secrets } from '../../store/catalog/secrets/secrets.ts';
import {
  type ExportedDataset,
  exportedMoment,
  type ExportOrder,
  type UnfinishedPart,
  parseUnfinished,
  parseExportOrder,
  parseParts,
} from './exportOrder.ts';

export interface ExportRunParts {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly lake: Lake;
  readonly pending: Pending;
  /** Writes parts of datasets: neither the pool of series nor that of queries. */
  readonly pool: DuckDbPool;
  /** Contains a folder for each export, with parts that are written and not delivered. */
  readonly folder: string;
  /** Timeout of one part. */
  readonly deadlineMs: number;
  readonly targets: TargetRules;
  readonly openQuery: OpenQuery;
  readonly at: AtCrashPoint;
}

/** Opens a query of the export's owner, at its version. @throws Failure when it can't run any more. */
type OpenQuery = (row: ExportRow, query: string, signal: AbortSignal) => Promise<OpenedQuery>;

export interface OpenedQuery {
  readonly schema: PartSchema;
  /** Writes the result rows into a new file of `folder`. */
  readonly make: (how: PartFormat, folder: string, name: string) => Promise<WrittenFile>;
}

interface WrittenFile {
  readonly path: string;
  readonly rows: number;
}

interface ExportRun {
  readonly row: ExportRow;
  readonly signal: AbortSignal;
  /** 0 to 100. */
  readonly onProgress: (percent: number) => void;
  readonly log: (message: string) => Promise<void>;
}

/** The parts of an export, and how each is written. */
interface Content {
  readonly schema: PartSchema;
  /** Undefined: not known before the only part is written. */
  readonly rows: number | undefined;
  readonly count: number;
  readonly make: (at: number, name: string, onPercent: OnPercent) => Promise<WrittenFile>;
}

type OnPercent = (percent: number) => void;

/** A run with everything it needs. */
interface Work extends ExportRun {
  readonly order: ExportOrder;
  readonly target: Target;
  readonly folder: string;
  readonly content: Content;
  readonly parts: ExportRunParts;
}

/** @throws Failure with the reason; delivered parts stay. */
export async function runExport(run: ExportRun, parts: ExportRunParts): Promise<void> {
  const { row, signal } = run;
  const order = parseExportOrder(row);
  const folder = workFolderOf(row.export_id, parts);
  await using target = await openRunTarget(row, signal, parts);
  await refuseOtherExports(target, row.export_id, order.target);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Unfinished files have unique names: a child of a killed server may still write to its own for a moment.
  for (const name of await readdir(folder)) {
    if (name.startsWith(UNFINISHED_PREFIX)) await rm(join(folder, name), { force: true });
  }
  const content = await openContent(run, order, folder, parts);
  const work: Work = { ...run, order, target, folder, content, parts };
  const done = await verifyDelivered(work);
  for (let at = 0; at < content.count; at += 1) {
    const name = partName(at, order);
    if (done.some((part) => part.name === name)) continue;
    signal.throwIfAborted();
    done.push(await producePart(at, name, done, work));
    parts.at('export-part-sent');
    await saveDone(done, work);
    parts.at('export-part-kept');
    await rm(join(folder, name), { force: true });
  }
  done.sort((a, b) => (a.name < b.name ? -1 : 1));
  await target.finish(buildManifest(work, done));
  parts.at('export-finished');
}

const workFolderOf = (exportId: string, { folder }: Pick<ExportRunParts, 'folder'>): string =>
  join(folder, exportId);

/** Removes what was written and not delivered; parts at the target stay for a later run. */
export async function dropUnfinished(
  row: ExportRow,
  signal: AbortSignal,
  parts: ExportRunParts,
): Promise<void> {
  await rm(workFolderOf(row.export_id, parts), { recursive: true, force: true });
  const unfinished = parseUnfinished(row);
  if (unfinished === undefined) return;
  await updateExport(parts.database, row.export_id, { made_json: null });
  await using target = await openRunTarget(row, signal, parts);
  await target.drop(unfinished.part, unfinished.upload);
}

async function openRunTarget(
  row: ExportRow,
  signal: AbortSignal,
  { database, secrets, targets }: ExportRunParts,
): Promise<Target> {
  const { exportFolder, target: definition } = parseExportOrder(row);
  const sealed =
    definition.type === 'FILE'
      ? undefined
      : await findCredential(database, row.workspace, definition.credentialId);
  const credential =
    sealed === undefined ? undefined : (unsealCredential(sealed, secrets) as Credential);
  const exportId = row.export_id;
  return openTarget({ exportId, definition, exportFolder, credential, signal }, targets);
}

/** @throws Failure Conflict: its readers would find parts of two exports. */
export async function refuseOtherExports(
  target: Target,
  exportId: string,
  definition: TargetDefinition,
): Promise<void> {
  const text = await target.manifest();
  if (text === undefined || parseExportId(text) === exportId) return;
  const rule = 'that of another export: name another place, or remove it';
  throw new Failure('Conflict', `${manifestLocation(definition)} is there already, ${rule}`);
}

function parseExportId(manifest: string): unknown {
  try {
    return (JSON.parse(manifest) as { readonly exportId?: unknown } | null)?.exportId;
  } catch {
    return undefined;
  }
}

async function openContent(
  run: ExportRun,
  order: ExportOrder,
  folder: string,
  parts: ExportRunParts,
): Promise<Content> {
  const { row, signal } = run;
  const { what } = order;
  if (what.kind === 'query') {
    const { make, schema } = await parts.openQuery(row, what.query, signal);
    const one = (_at: number, name: string): Promise<WrittenFile> => make(order, folder, name);
    return { schema, rows: undefined, count: 1, make: one };
  }
  const of = await openDataset(what, run, folder, parts);
  const ranges = await planRanges(of, what.rowsPerFile);
  return {
    schema: partSchema(of.table),
    rows: ranges.reduce((all, { rows }) => all + rows, 0),
    count: ranges.length,
    make: async (at, name, onPercent) => {
      const range = ranges[at];
      if (range === undefined) throw new Error(`part ${at} of ${ranges.length} does not exist`);
      // Opened again: a purge may have happened, or the dataset been deleted, since the previous part.
      await openDataset(what, run, folder, parts);
      return { path: await makePart(of, range, name, order, onPercent), rows: range.rows };
    },
  };
}

/** @throws Failure Gone when the version can't be read any more. */
async function openDataset(
  { name, tableId }: ExportedDataset,
  { row, signal }: ExportRun,
  folder: string,
  { deadlineMs, lake, pending, pool }: ExportRunParts,
): Promise<PartsInput> {
  const dataset = lake.directory.datasetById(tableId);
  if (dataset === undefined) throw new Failure('Gone', `${name} ${NO_LONGER_THERE}`);
  const { snapshot_id: snapshot } = row;
  const table = await lake.tableAt(tableId, snapshot);
  if (table === undefined) {
    throw new Failure('Gone', `version ${snapshot} of ${name} has ended: export it anew`);
  }
  const cut = { kind: 'sequence', sequence: exportedMoment(row).sequence } as const;
  const pushed = (await pending.rowsAt(tableId, snapshot, cut)).rows();
  const from = { files: lake.files, pool: pool.forAccount(row.account_id), dataset, table, pushed };
  return { ...from, deadlineMs, signal, folder };
}

/** Plans the ranges once and stores them: planning scans every key. */
async function planRanges(of: PartsInput, rowsPerFile: number): Promise<readonly PartRange[]> {
  const path = join(of.folder, 'plan.json');
  try {
    return JSON.parse(await readFile(path, 'utf8')) as readonly PartRange[];
  } catch {
    const ranges = await planParts(of, rowsPerFile);
    await writeFile(`${path}.new`, JSON.stringify(ranges));
    await rename(`${path}.new`, path);
    return ranges;
  }
}

/** Returns the parts that are intact at the target. */
async function verifyDelivered({ log, parts, row, signal, target }: Work): Promise<Part[]> {
  const intact: Part[] = [];
  for (const part of parseParts(row)) {
    signal.throwIfAborted();
    const stored = await target.find(part);
    if (stored !== undefined) intact.push(stored);
    else await log(`part ${part.name} is missing or was changed: it is written again`);
  }
  if (intact.length < parseParts(row).length) {
    await updateExport(parts.database, row.export_id, { parts_json: JSON.stringify(intact) });
  }
  return intact;
}

/** Returns a part at the target: the one written before, if it is still there, or a new one. */
async function producePart(
  at: number,
  name: string,
  done: readonly Part[],
  work: Work,
): Promise<Part> {
  const { content, folder, parts, row, signal, target } = work;
  const path = join(folder, name);
  const before = parseUnfinished(row);
  if (before?.part.name === name) {
    const there = await target.find(before.part);
    if (there !== undefined) return there;
    const local = await digestFile(path, signal).catch(() => undefined);
    signal.throwIfAborted();
    if (local?.sha256 === before.part.sha256) return deliverPart(before, path, work);
    await target.drop(before.part, before.upload);
  }
  const onPercent = (percent: number): void => {
    // Writing counts for half of the part, delivery for the other.
    const rows = (content.rows ?? 0) / content.count;
    if (rows > 0) reportProgress(done, (rows * percent) / 200, work);
  };
  const { rows } = await content.make(at, name, onPercent);
  await syncFile(path);
  const part = { name, rows, ...(await digestFile(path, signal)) };
  await saveUnfinished({ part }, work);
  parts.at('export-part-made');
  reportProgress(done, rows / 2, work);
  return deliverPart({ part }, path, work);
}

async function deliverPart(
  { part, upload }: UnfinishedPart,
  path: string,
  work: Work,
): Promise<Part> {
  return work.target.deliver(part, {
    path,
    upload,
    onUpload: async (more) => {
      await saveUnfinished({ part, upload: more }, work);
      work.parts.at('export-piece-sent');
    },
  });
}

/** Syncs the file before it is recorded as written. */
async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  await file.sync();
}

const saveUnfinished = (unfinished: UnfinishedPart, { parts, row }: Work): Promise<void> =>
  updateExport(parts.database, row.export_id, { made_json: JSON.stringify(unfinished) });

async function saveDone(done: readonly Part[], work: Work): Promise<void> {
  const { parts, row } = work;
  await updateExport(parts.database, row.export_id, {
    parts_json: JSON.stringify(done),
    made_json: null,
    attempts: 0,
    rows: sum(done, 'rows'),
    bytes: sum(done, 'bytes'),
    progress: reportProgress(done, 0, work),
  });
}

function reportProgress(
  done: readonly Part[],
  more: number,
  { content, onProgress }: Work,
): number {
  const rows = sum(done, 'rows') + more;
  const of = content.rows ?? (more === 0 ? rows : 2 * more);
  const percent = Math.min(99, Math.floor((100 * rows) / Math.max(1, of)));
  onProgress(percent);
  return percent;
}

const sum = (parts: readonly Part[], member: 'rows' | 'bytes'): number =>
  parts.reduce((total, part) => total + part[member], 0);

const ENDINGS: Readonly<Record<ExportFormat, string>> = {
  csv: 'csv',
  jsonl: 'jsonl',
  parquet: 'parquet',
  // The extension of an IPC stream; `arrow` is that of a file.
  arrow: 'arrows',
};
const COMPRESSION_SUFFIXES = { none: '', gzip: '.gz', zstd: '.zst' } as const;

const partName = (at: number, { compression, format }: ExportOrder): string =>
  `part-${String(at + 1).padStart(5, '0')}.${ENDINGS[format]}${COMPRESSION_SUFFIXES[compression]}`;

function buildManifest({ content, order, row }: Work, parts: readonly Part[]): string {
  const { compression, format, what } = order;
  const manifest = {
    exportId: row.export_id,
    workspace: row.workspace,
    ...(what.kind === 'dataset' ? { dataset: what.name } : { query: what.query }),
    snapshot: row.snapshot_id,
    asOf: formatMoment(exportedMoment(row)),
    created: row.created_ms,
    format,
    compression,
    schema: content.schema,
    rows: sum(parts, 'rows'),
    bytes: sum(parts, 'bytes'),
    parts: parts.map(({ bytes, name, rows, sha256 }) => ({ name, rows, bytes, sha256 })),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
