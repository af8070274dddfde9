// Stores file types: common settings of files that an owner publishes (SPEC.md "File type entry").
import type { Selectable } from 'kysely';
import type { Database } from '../catalog/database.ts';
import type { FileTypeTable } from '../catalog/tables/exports.ts';
import type { Access } from '../lake/datasets/datasets.ts';
import { Failure } from '../base/failure.ts';
import { newUuid } from '../base/random.ts';
import { checkName } from '../lake/versions/columns.ts';

/** Settings of a file type that its owner chooses. */
export interface FileTypeSettings {
  readonly title: string;
  readonly source: string;
  /** Messages charged for one download. */
  readonly weight: number;
  /** Each file belongs to one symbol. */
  readonly bySymbol: boolean;
  /** Each file belongs to one day. */
  readonly byDate: boolean;
  /** A media type, such as text/csv. */
  readonly contentType: string;
  /** Extension of the file name, without the dot. */
  readonly extension: string;
  readonly tags: readonly string[];
  readonly categories: readonly string[];
  /** Access of accounts other than the owner; applies in workspace CORE. */
  readonly access: Pick<Access, 'level' | 'tier'>;
}

export interface FileType extends FileTypeSettings {
  readonly typeId: string;
  readonly workspace: string;
  readonly name: string;
  /** Number of started downloads. */
  readonly downloads: number;
  readonly createdMs: number;
  /** Time of the latest change of the type or of one of its files. */
  readonly updatedMs: number;
}

/** Defaults of settings that owners omit. */
const DEFAULT_SETTINGS: FileTypeSettings = {
  title: '',
  source: '',
  weight: 1,
  bySymbol: false,
  byDate: false,
  contentType: 'application/octet-stream',
  extension: 'bin',
  tags: [],
  categories: [],
  access: { level: 'open' },
};

/** Limit of file types of one workspace. */
const FILE_TYPES_MAX = 1_000;

/** Lists file types by name. */
export async function listFileTypes(
  database: Database,
  workspace: string,
): Promise<readonly FileType[]> {
  const rows = await database
    .selectFrom('file_type')
    .selectAll()
    .where('workspace', '=', workspace)
    .orderBy('name')
    .execute();
  return rows.map(toFileType);
}

/** Finds a file type by its name, ignoring case. */
export async function findFileType(
  database: Database,
  workspace: string,
  name: string,
): Promise<FileType | undefined> {
  const types = await listFileTypes(database, workspace);
  return types.find((one) => one.name.toUpperCase() === name.toUpperCase());
}

export async function findFileTypeById(
  database: Database,
  typeId: string,
): Promise<FileType | undefined> {
  const query = database.selectFrom('file_type').selectAll().where('type_id', '=', typeId);
  const row = await query.executeTakeFirst();
  return row === undefined ? undefined : toFileType(row);
}

export const workspaceMaximum = (parts: string): string => `a workspace has at most ${parts}`;

/**
 * Creates a file type, or changes the one of that name.
 * @throws Failure InvalidBody for an invalid name, or at `FILE_TYPES_MAX`; Conflict when it has files and the
 * change would rename them.
 */
export async function saveFileType(
  database: Database,
  place: { readonly workspace: string; readonly name: string; readonly nowMs: number },
  change: Partial<FileTypeSettings>,
): Promise<FileType> {
  const { name, nowMs, workspace } = place;
  checkName('id', name);
  return database.transaction().execute(async (inside) => {
    const all = await listFileTypes(inside, workspace);
    const existing = all.find((one) => one.name.toUpperCase() === name.toUpperCase());
    const settings = {
      ...(existing === undefined ? DEFAULT_SETTINGS : pickSettings(existing)),
      ...change,
    };
    if (existing === undefined) {
      if (all.length >= FILE_TYPES_MAX) {
        const rule = workspaceMaximum(`${FILE_TYPES_MAX} file types (FILE_TYPES_MAX)`);
        throw new Failure('InvalidBody', rule);
      }
      const own = { type_id: newUuid(), workspace, name, downloads: 0, created_ms: nowMs };
      const row = { ...own, body_json: JSON.stringify(settings), updated_ms: nowMs };
      await inside.insertInto('file_type').values(row).execute();
      return toFileType(row);
    }
    if (settings.bySymbol !== existing.bySymbol || settings.byDate !== existing.byDate) {
      await refuseRenaming(inside, existing);
    }
    const values = { body_json: JSON.stringify(settings), updated_ms: nowMs };
    await inside
      .updateTable('file_type')
      .set(values)
      .where('type_id', '=', existing.typeId)
      .execute();
    return { ...existing, ...settings, updatedMs: nowMs };
  });
}

/** Refuses a change that would rename files: some would lose their name, or share one. */
async function refuseRenaming(database: Database, { name, typeId }: FileType): Promise<void> {
  const row = await database
    .selectFrom('publication')
    .select('publication_id')
    .where('type_id', '=', typeId)
    .where('ended_ms', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return;
  const rule = 'bySymbol and byDate stay as they are while there are files: withdraw them first';
  throw new Failure('Conflict', `${name} has files; ${rule}`);
}

const pickSettings = ({
  access,
  byDate,
  bySymbol,
  categories,
  contentType,
  extension,
  source,
  tags,
  title,
  weight,
}: FileType): FileTypeSettings => ({
  access,
  byDate,
  bySymbol,
  categories,
  contentType,
  extension,
  source,
  tags,
  title,
  weight,
});

const toFileType = (row: Selectable<FileTypeTable>): FileType => ({
  ...(JSON.parse(row.body_json) as FileTypeSettings),
  typeId: row.type_id,
  workspace: row.workspace,
  name: row.name,
  downloads: row.downloads,
  createdMs: row.created_ms,
  updatedMs: row.updated_ms,
});
