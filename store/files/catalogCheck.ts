// Is this the catalog of these files? Asked at each start, before anything is written: a catalog that
// was lost, is older than its files, or is another lake's must never decide what is garbage.
import type { CatalogPlace } from '../catalog/catalogPlace.ts';
import { closing, type Database } from '../catalog/database.ts';
import { Failure, reasonOf } from '../base/failure.ts';
import { HEAD_FILE, type Head } from './lakeHead.ts';
import type { LakePlace } from './lakePlace.ts';
import { newUuid } from '../base/random.ts';

/** Who owns the lake's files, and how far that is known. */
export interface Ownership {
  /** Id of the lake, made with its catalog. */
  readonly lake: string;
  /** Id of this run of the program. */
  readonly run: string;
  /** Of the last runs, this one included: what they wrote and never committed is garbage. */
  readonly runs: readonly string[];
  /** The lake's own note names this catalog, at a snapshot that it has. */
  readonly proved: boolean;
}

const RUNS = 'runs';
/** Each start sweeps what the runs before it left: more are never asked for. */
const RUNS_KEPT = 20;

const adviceOf = ({ advice }: CatalogPlace): string =>
  `Nothing was changed. ${advice}, restore a backup into a new folder, or run \`tapedeck repair\` to see ` +
  'what can be done with the files';

/**
 * Before the catalog is opened, and so made.
 * @throws Failure Conflict when there is none, and the lake has files.
 */
export async function refuseLostCatalog(catalog: CatalogPlace, place: LakePlace): Promise<void> {
  if (await catalog.isThere()) return;
  const files = (await place.list()).filter(({ path }) => path.endsWith('.parquet'));
  const head = await place.readHead();
  if (files.length === 0 && head === undefined) return;
  const had = `${place.name} has ${files.length} files${head === undefined ? '' : ` ${toldOf(head)}`}`;
  throw new Failure('Conflict', `${catalog.name} is missing, and ${had}. ${adviceOf(catalog)}`);
}

/**
 * Once the catalog is open.
 * @throws Failure Conflict when the lake's files are another catalog's, or those of a newer one.
 */
export async function refuseWrongCatalog(
  database: Database,
  catalog: CatalogPlace,
  place: LakePlace,
): Promise<void> {
  const head = await place.readHead();
  const known = await catalogHead(database);
  if (head === undefined) return;
  const named = `${catalog.name} ${known === undefined ? 'is new' : `is ${toldOf(known)}`}`;
  const files = `the files of ${place.name} are those ${toldOf(head)} or a later one`;
  if (known !== undefined && known.lake === head.lake && known.snapshot >= head.snapshot) return;
  const what = known?.lake === head.lake ? 'is older than its files' : 'belongs to other files';
  throw new Failure(
    'Conflict',
    `the catalog ${what}: ${named}, but ${files}. ${adviceOf(catalog)}`,
  );
}

const toldOf = ({ lake, snapshot }: Pick<Head, 'lake' | 'snapshot'>): string =>
  `of lake ${lake.slice(0, 8)} at snapshot ${snapshot}`;

/** What both of them say, without a server; undefined where catalog and files belong together. */
export async function catalogFault(
  catalog: CatalogPlace,
  place: LakePlace,
): Promise<string | undefined> {
  try {
    await refuseLostCatalog(catalog, place);
    if (!(await catalog.isThere())) return undefined;
    await closing(catalog.open(), (database) => refuseWrongCatalog(database, catalog, place));
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.type === 'Conflict') return reasonOf(error);
    throw error;
  }
}

/** Lake and newest snapshot as the catalog has them; undefined for a new one. */
export async function catalogHead(
  database: Database,
): Promise<Pick<Head, 'lake' | 'snapshot'> | undefined> {
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

/** Begins a run: from now on files carry its id. */
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
    const all = [...before, run].slice(-RUNS_KEPT);
    await transaction.deleteFrom('folder').where('key', '=', RUNS).execute();
    const value = JSON.stringify(all);
    await transaction.insertInto('folder').values({ key: RUNS, value }).execute();
    return all;
  });
  return { lake, run, runs, proved: (await place.readHead()) !== undefined };
}

/** Whether a path below the lake's root is the lake's own note. */
export const isHeadFile = (path: string): boolean => path.startsWith(HEAD_FILE);
