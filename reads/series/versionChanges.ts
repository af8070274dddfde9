// Lists the records that each version of a dataset, and the pushes after the last one, inserted, replaced and
// deleted, by index. A push is listed once: before its flush, or with the version that contains it.
import { changesBetween, changesPushed } from '../../query/series/changes.ts';
import type { SeriesEngine } from '../../query/series/series.ts';
import { readVersions } from '../../store/lake/history/versions.ts';
import type { ColumnMapping, Dataset } from '../../store/lake/datasets/datasets.ts';
import { listIndexColumns } from '../../store/lake/datasets/indexColumns.ts';
import type { Column } from '../../store/lake/versions/columns.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import type { ReadServices } from '../request/readServices.ts';
import { type AsOf, type Moment, formatMoment } from '../../store/lake/history/history.ts';
import { mergeRows, type PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { type ChangesStart, readChangesStart } from './moments.ts';

/** Maximum versions to inspect, latest first. */
const VERSIONS_MAX = 10_000;

interface VersionChanges {
  readonly snapshot: number;
  readonly timeMs: number;
  readonly changes: Changes;
}

type Changes = Awaited<ReturnType<typeof changesBetween>>;

/** Whether a dataset has an index: changes are reported by index. */
export const isIndexed = ({ mapping, numbered }: Dataset): boolean =>
  mapping.key !== undefined || mapping.date !== undefined || numbered;

/**
 * Reads the changes of versions, oldest first; versions that changed no record are left out.
 * @param which `ending`: only versions in which records ended
 */
export async function* changesSince(
  { mapping, tableId }: Dataset,
  begin: ChangesStart,
  { database, lake, series }: Pick<ReadServices, 'database' | 'lake' | 'series'>,
  which: 'all' | 'ending' = 'all',
): AsyncGenerator<VersionChanges> {
  const versions = await readVersions(database, tableId, VERSIONS_MAX, begin.snapshot);
  for (const { compaction, deleted, snapshot, timeMs } of versions.toReversed()) {
    if (which === 'ending' && deleted === 0) continue;
    const earlier = await lake.previousSnapshot(snapshot);
    // A compaction directly after its predecessor changes no record; otherwise it includes expired versions.
    if (compaction && earlier === snapshot - 1) continue;
    const after = await lake.tableAt(tableId, snapshot);
    if (after === undefined) continue;
    const before = (await lake.tableAt(tableId, earlier)) ?? { ...after, files: [] };
    const names = listIndexColumns(mapping, after);
    // If the index changed, the columns common to both versions are compared; nothing else changed then.
    const commonColumns = after.columns.filter(({ id }) =>
      before.columns.some((one) => one.id === id),
    );
    const index = names.flatMap((name) => commonColumns.filter((one) => one.name === name));
    if (index.length < names.length && before.records === after.records) continue;
    const flushedRows = begin.flushedRows.filter(
      (row) => row.snapshot > earlier && row.snapshot <= snapshot,
    );
    const changes =
      commonColumns.length === 0
        ? await compareAll(before, after, mapping, series)
        : await changesBetween(before, after, index, mergeRows(flushedRows), series);
    if (!compaction || !isEmpty(changes)) yield { snapshot, timeMs, changes };
  }
}

/** Compares versions without common columns, after a placeholder was replaced: all records differ. */
async function compareAll(
  before: Table,
  after: Table,
  mapping: ColumnMapping,
  series: SeriesEngine,
): Promise<Changes> {
  const indexIn = (version: Table): readonly Column[] =>
    listIndexColumns(mapping, version).flatMap((name) =>
      version.columns.filter((column) => column.name === name),
    );
  const empty = { files: [], records: 0 };
  const [deletions, insertions] = await Promise.all([
    changesBetween(before, { ...before, ...empty }, indexIn(before), [], series),
    changesBetween({ ...after, ...empty }, after, indexIn(after), [], series),
  ]);
  return { inserted: insertions.inserted, replaced: [], deleted: deletions.deleted };
}

/** Maximum versions of one answer: the next call continues after the last of them. */
const LISTED_MAX = 100;

interface ListedChanges extends Changes {
  readonly snapshot: number;
  readonly date: number;
  /** The `since` of the call that continues after it. */
  readonly asOf: string;
}

type Parts = Pick<ReadServices, 'database' | 'lake' | 'pending' | 'series'>;

/** Lists changes up to now, oldest first: those of versions, then those of pushes in no version. */
export async function listChangesSince(
  dataset: Dataset,
  since: AsOf,
  services: Parts,
): Promise<readonly ListedChanges[]> {
  const { tableId } = dataset;
  // Pending rows are read before the versions: a flush in between must not list them twice.
  const table = await services.lake.table(tableId);
  const now = table === undefined ? undefined : readPending(table, services);
  const begin = await readChangesStart(tableId, since, services);
  const past = await services.pending.rowsAt(tableId, table?.snapshot ?? begin.snapshot, begin.cut);
  const sequence = begin.flushedRows.reduce(
    (last, row) => Math.max(last, row.sequence),
    past.sequence,
  );
  const entries: ListedChanges[] = [];
  for await (const { changes, snapshot, timeMs } of changesSince(dataset, begin, services)) {
    if (now !== undefined && snapshot > now.moment.snapshot) break;
    entries.push({
      snapshot,
      date: timeMs,
      ...changes,
      asOf: formatMoment({ snapshot, sequence }),
    });
    if (entries.length === LISTED_MAX) return entries;
  }
  if (table === undefined || now === undefined) return entries;
  const names = listIndexColumns(dataset.mapping, table);
  const index = names.flatMap((name) => table.columns.filter((column) => column.name === name));
  const newRows = now.rows.filter((row) => row.sequence > sequence);
  if (newRows.length === 0) return entries;
  const changes = await changesPushed(table, index, past.rows(), now.rows, services.series);
  const date = Math.max(...newRows.map(({ timeMs }) => timeMs));
  const { snapshot } = now.moment;
  if (!isEmpty(changes))
    entries.push({ snapshot, date, ...changes, asOf: formatMoment(now.moment) });
  return entries;
}

/** Reads the rows pending beside the latest version of a table, in one tick. */
function readPending(
  table: Table,
  { lake, pending }: Parts,
): { readonly moment: Moment; readonly rows: readonly PendingRow[] } {
  const moment = { snapshot: lake.latestVersionOf(table), sequence: pending.sequence };
  return {
    moment,
    rows: pending.rowsBeside(table.tableId, table.snapshot, undefined, moment.sequence),
  };
}

const isEmpty = ({ inserted, replaced, deleted }: Changes): boolean =>
  inserted.length + replaced.length + deleted.length === 0;
