// Builds exports and runs their queries. An export is bound to one version of the lake, and to datasets of
// the account, before it is recorded.
import { realpath } from 'node:fs/promises';
import { exportedMoment, type ExportOrder, newExport } from '../../../jobs/export/exportOrder.ts';
import { type OpenedQuery, refuseOtherExports } from '../../../jobs/export/exportRun.ts';
import { Exports } from '../../../jobs/export/exports.ts';
import {
  PART_BYTES_MAX,
  type PartFormat,
  rowsPerPart,
  renameBodyFile,
} from '../../../pipeline/targets/exportParts.ts';
import { findAccountFolder, isOtherAccounts } from '../../../pipeline/sources/accountFolder.ts';
import { SourceFailure } from '../../../pipeline/sources/base/source.ts';
import { FOLDER_MISSING, FOLDER_NOT_SET, makeFolder } from '../../../pipeline/targets/folder.ts';
import { openTarget, type TargetRules } from '../../../pipeline/targets/open.ts';
import type { TargetDefinition } from '../../../pipeline/targets/target.ts';
import { dayIn } from '../../../query/time/dates.ts';
import { instantText } from '../../../query/plan/seriesPlan.ts';
import { datasetsOf } from '../../../query/sql/plan/boundTable.ts';
import { type BoundPlan, describeSql, runSql } from '../../../query/sql/run/run.ts';
import { findCredential } from '../../../store/work/dataSources.ts';
import type { Dataset } from '../../../store/lake/datasets/datasets.ts';
import type { DuckDbPool } from '../../../store/duckdb/pool.ts';
import { type ExportRow, newExportId } from '../../../store/work/exports.ts';
import { Failure } from '../../../store/base/failure.ts';
import { type AsOf, type Moment, formatMoment } from '../../../store/lake/history/history.ts';
import { findDataset, findPathWorkspace } from '../../../reads/rights/access.ts';
import { withAccountSql } from '../../auth/accountServices.ts';
import { findOwner, foreignSentence, refuseForeign } from './datasetPull.ts';
import type { Call, Services } from '../../request/endpoint.ts';
import { type ExportBody, parsePartFormat, parseTarget, parseSelection } from './exportBody.ts';
import { readPast } from '../../../reads/series/moments.ts';
import { parseAsOf } from '../../../reads/series/series.ts';
import { bindQuery, type BindServices, buildLimits, findMoment } from '../../../reads/sql/sql.ts';

type QueryServices = BindServices & Pick<Services, 'accounts'>;
type OpenExportsServices = QueryServices &
  Pick<
    Services,
    'at' | 'clock' | 'database' | 'folder' | 'lake' | 'pending' | 'secrets' | 'disk' | 'settings'
  >;
type ExportingServices = QueryServices &
  Pick<Services, 'clock' | 'database' | 'disk' | 'folder' | 'pending' | 'runner'>;

/** Rows of one query: the limit of one ingestion (INTERFACE.md 3.8). */
const QUERY_ROWS_MAX = 20_000_000;
/** Pushed records are flushed into the version first; a running load may delay that. */
const FLUSH_WAIT_MS = 10_000;

export const openExports = (
  parts: OpenExportsServices,
  pool: DuckDbPool,
  onFault: (reason: unknown, exportId?: string) => void,
): Exports =>
  new Exports({
    ...parts,
    pool,
    folder: parts.folder.exports,
    deadlineMs: parts.settings.jobTimeoutMs,
    targets: { ...targetRules(parts), onRefused: onFault },
    openQuery: (row, query, signal) =>
      openQuery(row, query, signal, withAccountSql(parts, row.account_id)),
    onFault,
  });

const targetRules = ({
  disk,
  folder,
  settings,
}: Pick<Services, 'disk' | 'folder' | 'settings'>): TargetRules => ({
  allowPrivateAddresses: settings.allowPrivateAddresses,
  data: folder.root,
  deadlineMs: settings.sourceTimeoutMs,
  disk,
});

/** Builds an unrecorded export. @throws Failure InvalidBody naming the member and its rule. */
export async function buildExport(call: Call, services: ExportingServices): Promise<ExportRow> {
  const { clock, settings } = services;
  const { accountId, workspace } = findPathWorkspace(call, services);
  const body = call.json as ExportBody;
  const partFormat = parsePartFormat(body);
  const { dataset, query } = parseSelection(body);
  const target = parseTarget(body, settings);
  const exportFolder = await exportFolderOf(target, { accountId, workspace }, services);
  const owner = { account_id: accountId, workspace, created_ms: clock() };
  const asOf = parseAsOf(body.asOf === undefined ? undefined : String(body.asOf), settings.zone);
  const exportId = newExportId();
  const buildRow: BuildRow = ({ sequence, snapshot }, read) => {
    const order = { ...partFormat, ...read, sequence, target, exportFolder };
    return newExport(exportId, order, { ...owner, snapshot_id: snapshot });
  };
  const row =
    dataset === undefined
      ? await buildQueryExport(call, query, asOf, buildRow, services)
      : await buildDatasetExport(call, dataset, asOf, buildRow, services);
  if (target.type === 'FILE') await checkTargetFree(exportId, target, exportFolder, services);
  return row;
}

/**
 * Writes the body's selection, at one version, as one file of a folder; returns its path.
 * @throws Failure InvalidBody naming the member and its rule.
 */
export async function writeExportFile(
  call: Call,
  services: ExportingServices,
  folder: string,
  name: string,
): Promise<string> {
  const { clock, settings } = services;
  const { accountId, workspace } = findPathWorkspace(call, services);
  const body = call.json as ExportBody;
  const partFormat = parsePartFormat(body);
  const { dataset, query } = parseSelection(body);
  const text = dataset === undefined ? query : selectAll(ownDataset(call, dataset, services));
  const asOf = parseAsOf(body.asOf === undefined ? undefined : String(body.asOf), settings.zone);
  const owner = { account_id: accountId, workspace, created_ms: clock() };
  const target = { type: 'FILE', path: name } as const;
  const buildRow: BuildRow = ({ sequence, snapshot }, read) => {
    const order = { ...partFormat, ...read, sequence, target, exportFolder: folder };
    return newExport(name, order, { ...owner, snapshot_id: snapshot });
  };
  const row = await buildQueryExport(call, text, asOf, buildRow, services);
  const openedQuery = await openQuery(row, text, call.departure(), services);
  return (await openedQuery.make(partFormat, folder, name)).path;
}

const selectAll = ({ dataset, workspace }: Dataset): string =>
  `SELECT * FROM \`${workspace}\`.\`${dataset}\``;

type BuildRow = (moment: Moment, read: Pick<ExportOrder, 'what' | 'tableIds'>) => ExportRow;

async function buildDatasetExport(
  call: Call,
  datasetName: string,
  asOf: AsOf | undefined,
  buildRow: BuildRow,
  services: ExportingServices,
): Promise<ExportRow> {
  const dataset = ownDataset(call, datasetName, services);
  const { tableId } = dataset;
  const latestSnapshot = asOf === undefined ? await flushDatasets([dataset], services) : undefined;
  const pinned =
    asOf ?? ({ kind: 'snapshot', snapshot: latestSnapshot ?? 0, sequence: 0 } as const);
  const past = await readPast(tableId, pinned, services);
  if (past === undefined) throw new Failure('InvalidBody', 'dataset did not exist at asOf');
  const { moment, table } = past;
  const { rowsPerFile } = call.json as ExportBody;
  const name = `${dataset.workspace}.${dataset.dataset}`;
  return buildRow(moment, {
    what: { kind: 'dataset', tableId, name, rowsPerFile: rowsPerPart(table, rowsPerFile) },
    tableIds: [tableId],
  });
}

/** @throws Failure InvalidBody for a dataset that does not exist or is not the account's. */
function ownDataset(call: Call, reference: string, { lake }: Pick<Services, 'lake'>): Dataset {
  const { caller } = call;
  const [name = '', place = call.path['workspace'] ?? ''] = reference.split('.').reverse();
  const owner = lake.directory.workspace(place)?.accountId;
  try {
    const dataset = findDataset(caller, place, name, lake);
    if (owner === caller.accountId) return dataset;
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'NotFound') throw error;
    const message = `dataset: there is no dataset ${place}.${name}; a view is exported by a query`;
    throw new Failure('InvalidBody', message.slice(0, 500));
  }
  const rule = 'an export writes datasets of its own account';
  throw new Failure('InvalidBody', foreignSentence(`dataset: ${place}.${name}`, rule));
}

async function buildQueryExport(
  call: Call,
  query: string,
  asOf: AsOf | undefined,
  buildRow: BuildRow,
  services: ExportingServices,
): Promise<ExportRow> {
  const { lake } = services;
  const asOfMember = (call.json as ExportBody).asOf;
  const text = asOfMember === undefined ? undefined : String(asOfMember);
  const bound = await withBodyNames(() => bindOwn(call, query, text, services));
  const datasets = datasetsOf(bound.tables).map(({ dataset }) => dataset);
  const boundMoment =
    datasets.length === 0 ? { snapshot: lake.snapshot, sequence: 0 } : findMoment(bound);
  const moment =
    asOf === undefined
      ? { snapshot: await flushDatasets(datasets, services), sequence: 0 }
      : boundMoment;
  const tableIds = [...new Set(datasets.map(({ tableId }) => tableId))];
  const row = buildRow(moment, { what: { kind: 'query', query }, tableIds });
  // A result that does not fit in one part is refused before the export is recorded.
  await withBodyNames(() => openQuery(row, query, call.departure(), services));
  return row;
}

async function bindOwn(
  call: Call,
  text: string,
  asOf: string | undefined,
  services: ExportingServices,
): Promise<BoundPlan> {
  const workspace = call.path['workspace'] ?? '';
  const { caller, departure } = call;
  const sqlCall = { caller, departure, query: asOf === undefined ? {} : { asOf } };
  const bound = await bindQuery(sqlCall, services, { workspace, text, parameters: {} });
  refuseForeign(bound, caller.accountId, services, OWN_DATASETS_RULE);
  return bound;
}

const OWN_DATASETS_RULE = 'an export reads datasets of its own account';

/** Replaces the SQL endpoint's parameter name in failures by the body's. */
async function withBodyNames<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'InvalidParameter') throw error;
    throw new Failure('InvalidBody', error.detail?.replace('"sqlQuery"', 'query'));
  }
}

/** Opens the query for its owner at the export's version and creation time. */
async function openQuery(
  row: ExportRow,
  text: string,
  signal: AbortSignal,
  services: QueryServices,
): Promise<OpenedQuery> {
  const { settings, sql } = services;
  const caller = findOwner(row.account_id, services);
  const sqlCall = {
    caller,
    query: { asOf: formatMoment(exportedMoment(row)) },
    departure: () => signal,
  };
  const sqlRequest = { workspace: row.workspace, text, parameters: {} };
  const bound: BoundPlan = {
    ...(await bindQuery(sqlCall, services, sqlRequest)),
    today: dayIn(row.created_ms, settings.zone),
    now: instantText(row.created_ms),
  };
  refuseForeign(bound, row.account_id, services, OWN_DATASETS_RULE);
  const accountLimits = buildLimits(caller, settings);
  const limits = { ...accountLimits, rowsMax: QUERY_ROWS_MAX, spillBytes: PART_BYTES_MAX };
  const schema = await describeSql(bound, sql, limits, sqlCall);
  const writePart = async (partFormat: PartFormat, folder: string, name: string) => {
    const { compression, format } = partFormat;
    const body = await runSql(bound, format, sql, limits, sqlCall, 'always', compression);
    const path = await renameBodyFile(body, folder, name);
    if (body.objects < QUERY_ROWS_MAX) return { path, rows: body.objects };
    const rule = `the query has over ${QUERY_ROWS_MAX} rows, the most of an exported query`;
    throw new SourceFailure(rule, false);
  };
  return { schema, make: writePart };
}

/**
 * The latest version, with all records pushed before.
 * @throws Failure Busy if a load delays the flush too long.
 */
async function flushDatasets(
  datasets: readonly Dataset[],
  { lake, pending, runner }: Pick<Services, 'lake' | 'pending' | 'runner'>,
): Promise<number> {
  for (const { dataset, tableId, workspace } of datasets) {
    const lastSequence = pending.latestSequence(tableId);
    const hasWaiting = (): boolean =>
      pending.pendingRows(tableId).some(({ sequence }) => sequence <= lastSequence);
    if (!hasWaiting()) continue;
    const name = `${workspace}.${dataset}`;
    const busy = new Failure(
      'Busy',
      `records pushed into ${name} wait for a load: try again later`,
    );
    const timeout = AbortSignal.timeout(FLUSH_WAIT_MS);
    await runner
      .inTurn(workspace, dataset, async () => undefined, timeout)
      .catch((error: unknown) => {
        throw timeout.aborted ? busy : error;
      });
    if (hasWaiting()) throw busy;
  }
  return lake.snapshot;
}

/** The resolved export folder; undefined for an object store. @throws Failure InvalidBody. */
async function exportFolderOf(
  target: TargetDefinition,
  { accountId, workspace }: { readonly accountId: string; readonly workspace: string },
  {
    accounts,
    database,
    disk,
    settings,
  }: Pick<Services, 'accounts' | 'database' | 'disk' | 'settings'>,
): Promise<string | undefined> {
  if (target.type === 'FILE') {
    const { exportFolder } = settings;
    if (exportFolder === undefined) {
      throw new Failure('InvalidBody', FOLDER_NOT_SET);
    }
    const root = await realpath(exportFolder).catch(() => {
      throw new Failure('InvalidBody', FOLDER_MISSING);
    });
    const folders = { firstAccountId: accounts.list()[0]?.accountId };
    if (isOtherAccounts(target.path, accountId, folders)) {
      throw new Failure('InvalidBody', 'target.path is in the folder of another account');
    }
    const accountFolder = findAccountFolder(root, accountId, folders);
    if (accountFolder !== root) await makeFolder(accountFolder, disk);
    return accountFolder;
  }
  const row = await findCredential(database, workspace, target.credentialId);
  if (row?.type === 'AWS-S3') return undefined;
  throw new Failure('InvalidBody', 'target.credentialId names no credential of type AWS-S3');
}

async function checkTargetFree(
  exportId: string,
  definition: TargetDefinition,
  exportFolder: string | undefined,
  services: Pick<Services, 'disk' | 'folder' | 'settings'>,
): Promise<void> {
  const signal = AbortSignal.timeout(services.settings.sourceTimeoutMs);
  const order = { exportId, definition, exportFolder, credential: undefined, signal };
  await using target = await openTarget(order, targetRules(services));
  await refuseOtherExports(target, exportId, definition);
}
