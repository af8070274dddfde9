// Checks a data folder after a crash and its recovery: its catalog, its files, and its records as an
// independent reader reads them. Only reads, while the server runs.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type LakeCatalog,
  openSqliteCatalog,
  parseRow,
  readTable,
  snapshots,
  tables,
} from '../../store/lake/reader.ts';
import { localDisk } from '../../../store/base/disk.ts';
import { HEAD_FILE } from '../../../store/files/lakeHead.ts';

/** Resumed jobs of these suites end in milliseconds; after this time they count as hanging. */
const JOBS_MS_MAX = 120_000;
/** A job's files are removed after its last transaction. */
const CLEAN_MS_MAX = 30_000;
const LOOK_MS = 10;

type Row = Readonly<Record<string, unknown>>;

function rowsOf(folder: string, sql: string): readonly Row[] {
  const database = new DatabaseSync(join(folder, 'catalog.db'), { readOnly: true, timeout: 5_000 });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** Waits until all jobs have ended; returns a fault for each one that hangs or did not load its batch. */
export async function waitForJobs(folder: string): Promise<readonly string[]> {
  const open = `SELECT job_id AS id, status FROM job WHERE status NOT IN ('INGESTED', 'ERROR')`;
  const giveUpMs = Date.now() + JOBS_MS_MAX;
  let left = rowsOf(folder, open);
  while (left.length > 0 && Date.now() < giveUpMs) {
    await sleep(LOOK_MS);
    left = rowsOf(folder, open);
  }
  const failed = rowsOf(folder, `SELECT job_id AS id, error FROM job WHERE status = 'ERROR'`);
  return [
    ...left.map(({ id, status }) => `job ${String(id)} is left unfinished in ${String(status)}`),
    // Every batch of these suites is valid, so an error is always a fault.
    ...failed.map(({ id, error }) => `job ${String(id)} ended in ERROR: ${String(error)}`),
    ...contradictions(folder),
  ];
}

/**
 * Jobs whose reported version differs from the lake's own history: one version each, or none. Versions
 * that were thinned out are not checked.
 */
function contradictions(folder: string): readonly string[] {
  const versions = rowsOf(
    folder,
    `SELECT snapshot_id AS id, author FROM ducklake_snapshot_changes
     WHERE changes_made LIKE '%inserted_into_table%'`,
  );
  const jobs = rowsOf(
    folder,
    `SELECT job_id AS id, status, records_ingested AS records, snapshot_id AS version FROM job`,
  );
  const left = rowsOf(folder, 'SELECT snapshot_id AS id FROM ducklake_snapshot ORDER BY id');
  const snapshotIds = new Set(left.map((one) => one['id']));
  const head = Number(left.at(-1)?.['id'] ?? 0);
  return jobs.flatMap(({ id, status, records, version }) => {
    if (version !== null && Number(version) < head && !snapshotIds.has(version)) return [];
    const mine = versions.filter(({ author }) => String(author).endsWith(`job ${String(id)}`));
    const expected = status === 'INGESTED' && Number(records) > 0 ? [version] : [];
    const [jobVersions, lakeVersions] = [expected.join(), mine.map((one) => one['id']).join()];
    if (jobVersions === lakeVersions) return [];
    return [
      `job ${String(id)}, ${String(status)}, reports version ${jobVersions}; the lake has ${lakeVersions}`,
    ];
  });
}

/** Ids of the jobs that have not ended. */
export const unfinishedJobs = (folder: string): readonly string[] =>
  rowsOf(folder, `SELECT job_id FROM job WHERE status NOT IN ('INGESTED', 'ERROR')`).map((row) =>
    String(row['job_id']),
  );

/** Files that the catalog does not name, named files that are missing or of another size, leftover bodies. */
export async function fileFaults(folder: string): Promise<readonly string[]> {
  const giveUpMs = Date.now() + CLEAN_MS_MAX;
  for (;;) {
    const faults = await leftOvers(folder);
    if (faults.length === 0 || Date.now() >= giveUpMs) return faults;
    await sleep(LOOK_MS);
  }
}

async function leftOvers(folder: string): Promise<readonly string[]> {
  const named = new Map(
    rowsOf(
      folder,
      `SELECT s.path || t.path || f.path AS path, f.file_size_bytes AS bytes
       FROM (SELECT table_id, path, file_size_bytes FROM ducklake_data_file
         UNION ALL SELECT table_id, path, file_size_bytes FROM ducklake_delete_file) AS f
       JOIN ducklake_table AS t USING (table_id) JOIN ducklake_schema AS s USING (schema_id)`,
    ).map(({ path, bytes }) => [String(path), Number(bytes)]),
  );
  const lake = join(folder, 'lake');
  const paths = await localDisk.list(lake);
  const orphans = paths.filter((path) => !named.has(path) && path !== HEAD_FILE);
  const wrong = [...named].filter(
    ([path, bytes]) => !existsSync(join(lake, path)) || statSync(join(lake, path)).size !== bytes,
  );
  return [
    ...orphans.map((path) => `orphan lake/${path}`),
    ...wrong.map(([path]) => `lake/${path} is named, and missing or of another size`),
    ...readdirSync(join(folder, 'tmp')).map((name) => `left over tmp/${name}`),
    ...readdirSync(join(folder, 'spool')).map((name) => `left over spool/${name}`),
  ];
}

/** Records of a dataset of workspace WS by the independent reader, without system properties. */
export async function foreignRows(folder: string, dataset: string): Promise<readonly Row[]> {
  const catalog = await openSqliteCatalog(join(folder, 'catalog.db'));
  try {
    const head = (await snapshots(catalog)).at(-1)?.id ?? 0;
    const all = await tables(catalog, head);
    const table = all.find(({ schema, name }) => schema === 'WS' && name === dataset);
    if (table === undefined) return [];
    const lines = await readTable(catalog, `${join(folder, 'lake')}/`, head, table);
    return lines.map(parseRow).map(withoutSystem);
  } finally {
    catalog.close();
  }
}

interface ForeignVersion {
  readonly snapshot: number;
  /** Undefined when there was no such dataset. */
  rows(): Promise<readonly Row[] | undefined>;
}

/** A dataset of workspace WS at every version of the lake, by the independent reader. */
export async function foreignVersions(
  folder: string,
  dataset: string,
): Promise<readonly ForeignVersion[]> {
  const opened = (): Promise<LakeCatalog> => openSqliteCatalog(join(folder, 'catalog.db'));
  const first = await opened();
  const all = await snapshots(first);
  first.close();
  return all.map(({ id }) => ({
    snapshot: id,
    rows: async () => {
      const catalog = await opened();
      try {
        const table = (await tables(catalog, id)).find(
          ({ schema, name }) => schema === 'WS' && name === dataset,
        );
        if (table === undefined) return undefined;
        const lines = await readTable(catalog, `${join(folder, 'lake')}/`, id, table);
        return lines.map(parseRow).map(withoutSystem);
      } finally {
        catalog.close();
      }
    },
  }));
}

const withoutSystem = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_system')));

/** Returns a fault if two reads of one dataset differ. */
export function unequal(ours: readonly Row[], theirs: readonly Row[]): readonly string[] {
  const sorted = (rows: readonly Row[]): readonly string[] =>
    rows.map((row) => JSON.stringify(row)).sort();
  const [one, other] = [sorted(ours), sorted(theirs)];
  if (one.length === other.length && one.every((row, at) => row === other[at])) return [];
  const [extra] = one.filter((row) => !other.includes(row));
  const [missing] = other.filter((row) => !one.includes(row));
  const difference = `ours alone ${extra ?? 'none'}, theirs alone ${missing ?? 'none'}`;
  return [
    `the server answers ${one.length} records, the lake holds ${other.length}: ${difference}`,
  ];
}
