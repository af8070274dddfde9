// What workspaces keep on the disk: files of the newest version, those that only older versions need, and
// published ones. Summed from the catalog, and again only when files came or went.
import type { Account } from '../accounts/accountRows.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
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

export function makeStorage(
  database: Database,
  lake: Lake,
  publications: Pick<Publications, 'state'>,
): Storage {
  let known: { readonly state: string; readonly sums: Promise<Sums> } | undefined;
  return {
    of: async (workspace) => {
      const state = `${lake.state} ${publications.state}`;
      if (known?.state !== state) {
        known = { state, sums: sumAll(database) };
      }
      return (await known.sums).get(workspace) ?? NOTHING;
    },
  };
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

type Sums = ReadonlyMap<string, StoredBytes>;

async function sumAll(database: Database): Promise<Sums> {
  const tables = await database
    .selectFrom('ducklake_table as t')
    .innerJoin('ducklake_schema as s', 's.schema_id', 't.schema_id')
    .select(['t.table_id', 's.schema_name'])
    .execute();
  const workspaces = new Map(tables.map((row) => [row.table_id, row.schema_name]));
  const sums = new Map<string, StoredBytes>();
  for (const kind of ['ducklake_data_file', 'ducklake_delete_file'] as const) {
    const rows = await database
      .selectFrom(kind)
      .select(['table_id'])
      .select((select) => [
        select.fn.sum<number>('file_size_bytes').as('bytes'),
        select.fn.sum<number>('file_size_bytes').filterWhere('end_snapshot', 'is', null).as('live'),
      ])
      .groupBy('table_id')
      .execute();
    for (const row of rows) {
      const workspace = workspaces.get(row.table_id) ?? '';
      const before = sums.get(workspace) ?? NOTHING;
      const live = Number(row.live ?? 0);
      const history = before.history + Number(row.bytes) - live;
      sums.set(workspace, { live: before.live + live, history });
    }
  }
  const published = await database
    .selectFrom('publication')
    .select(({ fn }) => ['workspace', fn.sum<number>('bytes').as('bytes')])
    .groupBy('workspace')
    .execute();
  for (const { bytes, workspace } of published) {
    const before = sums.get(workspace) ?? NOTHING;
    sums.set(workspace, { ...before, live: before.live + Number(bytes) });
  }
  return sums;
}
