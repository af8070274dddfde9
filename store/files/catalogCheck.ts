// Checks at each start, before any write, that the catalog belongs to the lake's files. A catalog that
// was lost, is older than its files, or belongs to another lake must never decide which files are garbage.
import type { CatalogPlace } from '../catalog/catalogPlace.ts';
import { withDatabase, type Database } from '../catalog/database.ts';
import { Failure, reasonOf } from '../base/failure.ts';
import { HEAD_FILE, type LakeHead } from './lakeHead.ts';
import type { LakePlace } from './lakePlace.ts';
import { newUuid } from '../base/random.ts';

/** The owner of the lake's files, and whether that is proved. */
export interface Ownership {
  /** Id of the lake, created with its catalog. */
  readonly lake: string;
  /** Id of this run of the program. */
  readonly run: string;
  /** Ids of the last runs, including this one: their uncommitted files are garbage. */
  readonly runs: readonly string[];
  /** The head file of the lake names this catalog and one of its snapshots. */
  readonly isProved: boolean;
}

const RUNS = 'runs';
/** Each start removes the files of the runs before it: older ids are not needed. */
const RUNS_MAX = 20;

const formatAdvice = ({ advice }: CatalogPlace): string =>
  `Nothing was changed. ${advice}, restore a backup into a new folder, or run \`tapedeck repair\` to see ` +
  'what can be done with the files';

/**
 * Runs before the catalog is opened, which would create it.
 * @throws Failure Conflict if there is no catalog but the lake has files.
 */
export async function checkCatalogExists(catalog: CatalogPlace, place: LakePlace): Promise<void> {
  if (await catalog.exists()) return;
  const files = (await place.list()).filter(({ path }) => path.endsWith('.parquet'));
  const head = await place.readHead();
  if (files.length === 0 && head === undefined) return;
  const had = `${place.name} has ${files.length} files${head === undefined ? '' : ` ${describeHead(head)}`}`;
  throw new Failure('Conflict', `${catalog.name} is missing, and ${had}. ${formatAdvice(catalog)}`);
}

/**
 * Runs after the catalog is opened.
 * @throws Failure Conflict if the lake's files belong to another catalog, or to a later state of it.
 */
export async function checkCatalogMatches(
  database: Database,
  catalog: CatalogPlace,
  place: LakePlace,
): Promise<void> {
  const head = await place.readHead();
  const current = await readCatalogHead(database);
  if (head === undefined) return;
  const named = `${catalog.name} ${current === undefined ? 'is new' : `is ${describeHead(current)}`}`;
  const files = `the files of ${place.name} are those ${describeHead(head)} or a later one`;
  if (current !== undefined && current.lake === head.lake && current.snapshot >= head.snapshot)
    return;
  const what = current?.lake === head.lake ? 'is older than its files' : 'belongs to other files';
  throw new Failure(
    'Conflict',
    `the catalog ${what}: ${named}, but ${files}. ${formatAdvice(catalog)}`,
  );
}

const describeHead = ({ lake, snapshot }: Pick<LakeHead, 'lake' | 'snapshot'>): string =>
  `of lake ${lake.slice(0, 8)} at snapshot ${snapshot}`;

/** Runs both checks without a server. @returns the fault; undefined if catalog and files match */
export async function findCatalogFault(
  catalog: CatalogPlace,
  place: LakePlace,
): Promise<string | undefined> {
  try {
    await checkCatalogExists(catalog, place);
    if (!(await catalog.exists())) return undefined;
    await withDatabase(catalog.open(), (database) => checkCatalogMatches(database, catalog, place));
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.type === 'Conflict') return reasonOf(error);
    throw error;
  }
}

export const noSnapshotFailure = (): Failure =>
  new Failure('SystemError', 'the lake has no first snapshot');

/** Reads lake id and latest snapshot of the catalog; undefined for a new one. */
export async function readCatalogHead(
  database: Database,
): Promise<Pick<LakeHead, 'lake' | 'snapshot'> | undefined> {
  const tables = await database.introspection.getTables();
  if (!tables.some(({ name }) => name === 'ducklake_schema')) return undefined;
  const first = await database
    .selectFrom('ducklake_schema')
    .select('schema_uuid')
    .where('schema_id', '=', 0)
    .executeTakeFirst();
  const newest = await database
    .selectFrom('ducklake_snapshot')
    .select((select) => [select.fn.max('snapshot_id').as('snapshot')])
    .executeTakeFirst();
  if (first === undefined) return undefined;
  return { lake: first.schema_uuid, snapshot: Number(newest?.snapshot ?? 0) };
}

/** Begins a run, whose id is part of the names of its files. */
export async function beginRun(
  database: Database,
  place: LakePlace,
  lake: string,
): Promise<Ownership> {
  const run = newUuid().slice(0, 8);
  const runs = await database.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('folder')
      .select('value')
      .where('key', '=', RUNS)
      .executeTakeFirst();
    const before = JSON.parse(row?.value ?? '[]') as readonly string[];
    const all = [...before, run].slice(-RUNS_MAX);
    await transaction.deleteFrom('folder').where('key', '=', RUNS).execute();
    const value = JSON.stringify(all);
    await transaction.insertInto('folder').values({ key: RUNS, value }).execute();
    return all;
  });
  return { lake, run, runs, isProved: (await place.readHead()) !== undefined };
}

/** Whether a path below the lake's root is the head file. */
export const isHeadFile = (path: string): boolean => path.startsWith(HEAD_FILE);
