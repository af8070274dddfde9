// The records that each version of a dataset, and the pushes after the last one, inserted, replaced and
// deleted, by index. A push is listed once: before its flush, or with the version that holds it.
import { changesBetween, changesPushed } from '../../query/series/changes.ts';
import type { SeriesEngine } from '../../query/series/series.ts';
import { readVersions } from '../../store/lake/history/versions.ts';
import type { ColumnMapping, Dataset } from '../../store/lake/datasets/datasets.ts';
import { indexOf } from '../../store/lake/datasets/indexColumns.ts';
import type { Column } from '../../store/lake/versions/columns.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import type { Services } from '../request/endpoint.ts';
import { type AsOf, type Moment, momentText } from '../../store/lake/history/history.ts';
import { netOf, type PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { type Begin, beginOf } from './moments.ts';

/** Versions that are looked at, the newest. */
const VERSIONS_MAX = 10_000;

interface VersionChanges {
  readonly snapshot: number;
  readonly timeMs: number;
  readonly changes: Changes;
}

type Changes = Awaited<ReturnType<typeof changesBetween>>;

/** Changes are told by index: a dataset without one has none. */
export const isIndexed = ({ mapping, numbered }: Dataset): boolean =>
  mapping.key !== undefined || mapping.date !== undefined || numbered;

/**
 * Oldest first; versions that changed no record are left out.
 * @param which `ending`: those alone in which records ended
 */
export async function* changesSince(
  { mapping, tableId }: Dataset,
  begin: Begin,
  { database, lake, series }: Pick<Services, 'database' | 'lake' | 'series'>,
  which: 'all' | 'ending' = 'all',
): AsyncGenerator<VersionChanges> {
  const versions = await readVersions(database, tableId, VERSIONS_MAX, begin.snapshot);
  for (const { compaction, deleted, snapshot, timeMs } of versions.toReversed()) {
    if (which === 'ending' && deleted === 0) continue;
    const earlier = await lake.snapshotBefore(snapshot);
    // Beside its predecessor it changes no record; else it also tells what was thinned out.
    if (compaction && earlier === snapshot - 1) continue;
    const after = await lake.tableAt(tableId, snapshot);
    if (after === undefined) continue;
    const before = (await lake.tableAt(tableId, earlier)) ?? { ...after, files: [] };
    const names = indexOf(mapping, after);
    // Where the index became another one, by what both versions have of it; nothing else changed then.
    const both = after.columns.filter(({ id }) => before.columns.some((one) => one.id === id));
    const index = names.flatMap((name) => both.filter((one) => one.name === name));
    if (index.length < names.length && before.records === after.records) continue;
    const known = begin.known.filter((row) => row.snapshot > earlier && row.snapshot <= snapshot);
    const changes =
      both.length === 0
        ? await allReplaced(before, after, mapping, series)
        : await changesBetween(before, after, index, netOf(known), series);
    if (!compaction || !isEmpty(changes)) yield { snapshot, timeMs, changes };
  }
}

/** Of two versions that share no column, where a stand-in gave way: all of one, and all of the other. */
async function allReplaced(
  before: Table,
  after: Table,
  mapping: ColumnMapping,
  series: SeriesEngine,
): Promise<Changes> {
  const indexIn = (version: Table): readonly Column[] =>
    indexOf(mapping, version).flatMap((name) =>
      version.columns.filter((column) => column.name === name),
    );
  const nothing = { files: [], records: 0 };
  const [gone, come] = await Promise.all([
    changesBetween(before, { ...before, ...nothing }, indexIn(before), [], series),
    changesBetween({ ...after, ...nothing }, after, indexIn(after), [], series),
  ]);
  return { inserted: come.inserted, replaced: [], deleted: gone.deleted };
}

/** Versions of one answer: the next call continues from the last of them. */
const LISTED_MAX = 100;

interface ListedChanges extends Changes {
  readonly snapshot: number;
  readonly date: number;
  /** `since` of the call that continues after it. */
  readonly asOf: string;
}

type Parts = Pick<Services, 'database' | 'lake' | 'pending' | 'series'>;

/** Changes up to now, oldest first: those of versions, then those of pushes that no version holds. */
export async function listChangesSince(
  dataset: Dataset,
  since: AsOf,
  services: Parts,
): Promise<readonly ListedChanges[]> {
  const { tableId } = dataset;
  // What is pending is taken before the versions are read: a flush in between must not list it twice.
  const table = await services.lake.table(tableId);
  const now = table === undefined ? undefined : pendingNow(table, services);
  const begin = await beginOf(tableId, since, services);
  const past = await services.pending.past(tableId, table?.snapshot ?? begin.snapshot, begin.cut);
  const sequence = begin.known.reduce((last, row) => Math.max(last, row.sequence), past.sequence);
  const listed: ListedChanges[] = [];
  for await (const { changes, snapshot, timeMs } of changesSince(dataset, begin, services)) {
    if (now !== undefined && snapshot > now.moment.snapshot) break;
    listed.push({ snapshot, date: timeMs, ...changes, asOf: momentText({ snapshot, sequence }) });
    if (listed.length === LISTED_MAX) return listed;
  }
  if (table === undefined || now === undefined) return listed;
  const names = indexOf(dataset.mapping, table);
  const index = names.flatMap((name) => table.columns.filter((column) => column.name === name));
  const fresh = now.rows.filter((row) => row.sequence > sequence);
  if (fresh.length === 0) return listed;
  const changes = await changesPushed(table, index, past.rows(), now.rows, services.series);
  const date = Math.max(...fresh.map(({ timeMs }) => timeMs));
  const { snapshot } = now.moment;
  if (!isEmpty(changes)) listed.push({ snapshot, date, ...changes, asOf: momentText(now.moment) });
  return listed;
}

/** What is pending beside the latest version of a table, in one tick. */
function pendingNow(
  table: Table,
  { lake, pending }: Parts,
): { readonly moment: Moment; readonly rows: readonly PendingRow[] } {
  const moment = { snapshot: lake.versionOf(table), sequence: pending.sequence };
  return {
    moment,
    rows: pending.beside(table.tableId, table.snapshot, undefined, moment.sequence),
  };
}

const isEmpty = ({ inserted, replaced, deleted }: Changes): boolean =>
  inserted.length + replaced.length + deleted.length === 0;
