// What workspaces keep on the disk: files of the newest version, those that only older versions need, and
// published ones. Summed from the catalog, and again only of tables whose files came or went.
import type { Account } from '../accounts/accountRows.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import { oneByOne } from '../queues/oneByOne.ts';
import type { Lake } from './lake.ts';
import type { Publications } from '../publications/publications.ts';

interface StoredBytes {
  readonly live: number;
  readonly history: number;
}

const NOTHING: StoredBytes = { live: 0, history: 0 };

export interface Storage {
  /** Bytes of one workspace. */
  of(workspace: string): Promise<StoredBytes>;
}

interface TableBytes extends StoredBytes {
  readonly workspace: string;
}

export function makeStorage(
  database: Database,
  lake: Pick<Lake, 'onChange' | 'state'>,
  publications: Pick<Publications, 'state'>,
): Storage {
  const files = storedFiles(database, lake);
  let published: { readonly state: number; readonly bytes: Promise<PublishedBytes> } | undefined;
  return {
    of: async (workspace) => {
      const { state } = publications;
      if (published?.state !== state) {
        published = { state, bytes: publishedBytes(database) };
        // What can not be read now is read again.
        published.bytes.catch(() => (published = undefined));
      }
      const [bytes, { history, live }] = await Promise.all([published.bytes, files(workspace)]);
      return { live: live + (bytes.get(workspace) ?? 0), history };
    },
  };
}

/** Tables that are read again by their ids; with more, all are. */
const IDS_MAX = 500;

/** Bytes of a workspace's files. Each commit's tables are read again: to sum 100,000 files takes 26 ms. */
function storedFiles(
  database: Database,
  lake: Pick<Lake, 'onChange' | 'state'>,
): (workspace: string) => Promise<StoredBytes> {
  const inTurn = oneByOne();
  const tables = new Map<number, TableBytes>();
  const sums = new Map<string, StoredBytes>();
  /** State of the lake that `tables` are of, but for those that changed. */
  let state: number | undefined;
  const changed = new Set<number>();
  lake.onChange(({ tableIds }) => {
    // What no commit told, such as the end of old versions, leaves all unknown.
    if (state === undefined || lake.state !== state + 1) return;
    state += 1;
    for (const tableId of tableIds) changed.add(tableId);
  });
  const put = (tableId: number, now: TableBytes | undefined): void => {
    const before = tables.get(tableId);
    if (before !== undefined) add(sums, before, -1);
    if (now !== undefined) add(sums, now, 1);
    if (now === undefined) tables.delete(tableId);
    else tables.set(tableId, now);
  };
  const refresh = async (): Promise<void> => {
    const isKnown = state === lake.state && changed.size <= IDS_MAX;
    // Before it is read: what is committed meanwhile is read again.
    const ids = isKnown ? [...changed] : undefined;
    if (ids?.length === 0) return;
    state = lake.state;
    changed.clear();
    try {
      const now = await tableBytes(database, ids);
      for (const tableId of ids ?? [...tables.keys()]) put(tableId, undefined);
      for (const [tableId, bytes] of now) put(tableId, bytes);
    } catch (error) {
      state = undefined;
      throw error;
    }
  };
  return async (workspace) => {
    await inTurn(refresh);
    return sums.get(workspace) ?? NOTHING;
  };
}

function add(
  sums: Map<string, StoredBytes>,
  { history, live, workspace }: TableBytes,
  times: 1 | -1,
): void {
  const before = sums.get(workspace) ?? NOTHING;
  const now = { live: before.live + times * live, history: before.history + times * history };
  sums.set(workspace, now);
}

/**
 * Loads and pushes halt at what the tier allows; reads go on, and what is freed is free at once.
 * @throws Failure StorageLimit with the stored amount.
 */
export async function checkStorage(
  storage: Storage,
  { tier }: Account,
  workspace: string,
): Promise<void> {
  const { live, history } = await storage.of(workspace);
  if (live + history < tier.storageBytesMax) return;
  const stored = `${live + history} bytes, ${history} of them history`;
  const most = `the maximum of tier ${tier.name} is ${tier.storageBytesMax}`;
  throw new Failure('StorageLimit', `workspace ${workspace} stores ${stored}; ${most}`);
}

/** @param ids of tables; undefined: all of them */
async function tableBytes(
  database: Database,
  ids: readonly number[] | undefined,
): Promise<ReadonlyMap<number, TableBytes>> {
  const found = new Map<number, TableBytes>();
  const named = await database
    .selectFrom('ducklake_table as t')
    .innerJoin('ducklake_schema as s', 's.schema_id', 't.schema_id')
    .select(['t.table_id', 's.schema_name'])
    .$if(ids !== undefined, (query) => query.where('t.table_id', 'in', ids ?? []))
    .execute();
  const workspaces = new Map(named.map((row) => [row.table_id, row.schema_name]));
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
      const before = found.get(row.table_id) ?? NOTHING;
      const live = Number(row.live ?? 0);
      found.set(row.table_id, {
        workspace: workspaces.get(row.table_id) ?? '',
        live: before.live + live,
        history: before.history + Number(row.bytes) - live,
      });
    }
  }
  return found;
}

/** By workspace. */
type PublishedBytes = ReadonlyMap<string, number>;

async function publishedBytes(database: Database): Promise<PublishedBytes> {
  const rows = await database
    .selectFrom('publication')
    .select(({ fn }) => ['workspace', fn.sum<number>('bytes').as('bytes')])
    .groupBy('workspace')
    .execute();
  return new Map(rows.map(({ bytes, workspace }) => [workspace, Number(bytes)]));
}
