// Computes the stored bytes of workspaces: files of the latest version, files that only older versions need,
// and published files. Sums come from the catalog; only tables whose files changed are summed again.
import type { Account } from '../accounts/accountRows.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import { serialQueue } from '../queues/serialQueue.ts';
import type { Lake } from './lake.ts';
import type { Publications } from '../publications/publications.ts';

interface StoredBytes {
  readonly live: number;
  readonly history: number;
}

const NO_BYTES: StoredBytes = { live: 0, history: 0 };

export interface Storage {
  /** Returns the bytes of one workspace. */
  workspaceBytes(workspace: string): Promise<StoredBytes>;
}

interface TableBytes extends StoredBytes {
  readonly workspace: string;
}

export function createStorage(
  database: Database,
  lake: Pick<Lake, 'onChange' | 'state'>,
  publications: Pick<Publications, 'state'>,
): Storage {
  const files = trackFileBytes(database, lake);
  let published: { readonly state: number; readonly bytes: Promise<PublishedBytes> } | undefined;
  return {
    workspaceBytes: async (workspace) => {
      const { state } = publications;
      if (published?.state !== state) {
        published = { state, bytes: sumPublishedBytes(database) };
        // A failed read is retried by the next call.
        published.bytes.catch(() => (published = undefined));
      }
      const [bytes, { history, live }] = await Promise.all([published.bytes, files(workspace)]);
      return { live: live + (bytes.get(workspace) ?? 0), history };
    },
  };
}

/** Limit of tables that are reloaded by id; above it all are. */
const IDS_MAX = 500;

/**
 * Tracks file bytes of workspaces. Each commit's tables are summed again: summing 100,000 files takes 26 ms.
 */
function trackFileBytes(
  database: Database,
  lake: Pick<Lake, 'onChange' | 'state'>,
): (workspace: string) => Promise<StoredBytes> {
  const serially = serialQueue();
  const byTable = new Map<number, TableBytes>();
  const sums = new Map<string, StoredBytes>();
  /** State of the lake in `byTable`, except changed tables. */
  let state: number | undefined;
  const changed = new Set<number>();
  lake.onChange(({ tableIds }) => {
    // A change without a commit, such as the end of old versions, invalidates all sums.
    if (state === undefined || lake.state !== state + 1) return;
    state += 1;
    for (const tableId of tableIds) changed.add(tableId);
  });
  const replaceTotals = (tableId: number, now: TableBytes | undefined): void => {
    const before = byTable.get(tableId);
    if (before !== undefined) add(sums, before, -1);
    if (now !== undefined) add(sums, now, 1);
    if (now === undefined) byTable.delete(tableId);
    else byTable.set(tableId, now);
  };
  const refresh = async (): Promise<void> => {
    const isIncremental = state === lake.state && changed.size <= IDS_MAX;
    // Taken before the read: tables committed meanwhile are read again.
    const ids = isIncremental ? [...changed] : undefined;
    if (ids?.length === 0) return;
    state = lake.state;
    changed.clear();
    try {
      const now = await sumTableBytes(database, ids);
      for (const tableId of ids ?? [...byTable.keys()]) replaceTotals(tableId, undefined);
      for (const [tableId, bytes] of now) replaceTotals(tableId, bytes);
    } catch (error) {
      state = undefined;
      throw error;
    }
  };
  return async (workspace) => {
    await serially(refresh);
    return sums.get(workspace) ?? NO_BYTES;
  };
}

function add(
  sums: Map<string, StoredBytes>,
  { history, live, workspace }: TableBytes,
  times: 1 | -1,
): void {
  const before = sums.get(workspace) ?? NO_BYTES;
  const now = { live: before.live + times * live, history: before.history + times * history };
  sums.set(workspace, now);
}

/**
 * Refuses loads and pushes at the limit of the tier; reads go on, and freed space is available immediately.
 */
export async function checkStorage(
  storage: Storage,
  { tier }: Account,
  workspace: string,
): Promise<void> {
  const { live, history } = await storage.workspaceBytes(workspace);
  if (live + history < tier.storageBytesMax) return;
  const stored = `${live + history} bytes, ${history} of them history`;
  const limit = `the maximum of tier ${tier.name} is ${tier.storageBytesMax}`;
  throw new Failure('StorageLimit', `workspace ${workspace} stores ${stored}; ${limit}`);
}

/** @param ids table ids; undefined for all tables */
async function sumTableBytes(
  database: Database,
  ids: readonly number[] | undefined,
): Promise<ReadonlyMap<number, TableBytes>> {
  const totals = new Map<number, TableBytes>();
  const tables = await database
    .selectFrom('ducklake_table as t')
    .innerJoin('ducklake_schema as s', 's.schema_id', 't.schema_id')
    .select(['t.table_id', 's.schema_name'])
    .$if(ids !== undefined, (query) => query.where('t.table_id', 'in', ids ?? []))
    .execute();
  const workspaces = new Map(tables.map((row) => [row.table_id, row.schema_name]));
  for (const kind of ['ducklake_data_file', 'ducklake_delete_file'] as const) {
    const rows = await database
      .selectFrom(kind)
      .select(['table_id'])
      .select((select) => [
        select.fn.sum<number>('file_size_bytes').as('bytes'),
        select.fn.sum<number>('file_size_bytes').filterWhere('end_snapshot', 'is', null).as('live'),
      ])
      .$if(ids !== undefined, (query) => query.where('table_id', 'in', ids ?? []))
      .groupBy('table_id')
      .execute();
    for (const row of rows) {
      const before = totals.get(row.table_id) ?? NO_BYTES;
      const live = Number(row.live ?? 0);
      totals.set(row.table_id, {
        workspace: workspaces.get(row.table_id) ?? '',
        live: before.live + live,
        history: before.history + Number(row.bytes) - live,
      });
    }
  }
  return totals;
}

/** Bytes by workspace. */
type PublishedBytes = ReadonlyMap<string, number>;

async function sumPublishedBytes(database: Database): Promise<PublishedBytes> {
  const rows = await database
    .selectFrom('publication')
    .select(({ fn }) => ['workspace', fn.sum<number>('bytes').as('bytes')])
    .groupBy('workspace')
    .execute();
  return new Map(rows.map(({ bytes, workspace }) => [workspace, Number(bytes)]));
}
