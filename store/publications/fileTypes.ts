// File types: what an owner says of files that are published together (SPEC.md "File type entry").
import type { Selectable } from 'kysely';
import type { Database } from '../catalog/database.ts';
import type { FileTypeTable } from '../catalog/tables/exports.ts';
import type { Access } from '../lake/datasets/datasets.ts';
import { Failure } from '../base/failure.ts';
import { newUuid } from '../base/random.ts';
import { checkName } from '../lake/versions/columns.ts';

/** What an owner says of a file type. */
export interface FileTypeSaid {
  readonly title: string;
  readonly source: string;
  /** Messages of one download. */
  readonly weight: number;
  /** Each file is of one symbol. */
  readonly bySymbol: boolean;
  /** Each file is of one day. */
  readonly byDate: boolean;
  /** A media type, such as text/csv. */
  readonly contentType: string;
  /** Of the file's name, without the dot. */
  readonly extension: string;
  readonly tags: readonly string[];
  readonly categories: readonly string[];
  /** Who besides the owner may download, where it is in workspace CORE. */
  readonly access: Pick<Access, 'level' | 'tier'>;
}

export interface FileType extends FileTypeSaid {
  readonly typeId: string;
  readonly workspace: string;
  readonly name: string;
  /** Downloads that began. */
  readonly downloads: number;
  readonly createdMs: number;
  /** When it was changed, or a file of it. */
  readonly updatedMs: number;
}

/** What owners leave unsaid. */
const UNSAID_OF_FILES: FileTypeSaid = {
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

/** File types of one workspace. */
const FILE_TYPES_MAX = 1_000;

/** By name. */
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
  return rows.map(typeOf);
}

/** By name, in any case. */
export async function findFileType(
  database: Database,
  workspace: string,
  name: string,
): Promise<FileType | undefined> {
  const types = await listFileTypes(database, workspace);
  return types.find((one) => one.name.toUpperCase() === name.toUpperCase());
}

export async function fileTypeById(
  database: Database,
  typeId: string,
): Promise<FileType | undefined> {
  const query = database.selectFrom('file_type').selectAll().where('type_id', '=', typeId);
  const row = await query.executeTakeFirst();
  return row === undefined ? undefined : typeOf(row);
}

/**
 * Makes a file type, or changes the one of that name.
 * @throws Failure InvalidBody for a name that is none, or at `FILE_TYPES_MAX`; Conflict when it has
 * files and would name them otherwise.
 */
export async function saveFileType(
  database: Database,
  place: { readonly workspace: string; readonly name: string; readonly nowMs: number },
  change: Partial<FileTypeSaid>,
): Promise<FileType> {
  const { name, nowMs, workspace } = place;
  checkName('id', name);
  return database.transaction().execute(async (inside) => {
    const all = await listFileTypes(inside, workspace);
    const known = all.find((one) => one.name.toUpperCase() === name.toUpperCase());
    const said = { ...(known === undefined ? UNSAID_OF_FILES : saidOf(known)), ...change };
    if (known === undefined) {
      if (all.length >= FILE_TYPES_MAX) {
        const rule = `a workspace has at most ${FILE_TYPES_MAX} file types (FILE_TYPES_MAX)`;
        throw new Failure('InvalidBody', rule);
      }
      const own = { type_id: newUuid(), workspace, name, downloads: 0, created_ms: nowMs };
      const row = { ...own, body_json: JSON.stringify(said), updated_ms: nowMs };
      await inside.insertInto('file_type').values(row).execute();
      return typeOf(row);
    }
    if (said.bySymbol !== known.bySymbol || said.byDate !== known.byDate) {
      await refuseRenaming(inside, known);
    }
    const values = { body_json: JSON.stringify(said), updated_ms: nowMs };
    await inside.updateTable('file_type').set(values).where('type_id', '=', known.typeId).execute();
    return { ...known, ...said, updatedMs: nowMs };
  });
}

/** Its files would have no name any more, or one for several. */
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

const saidOf = ({
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
}: FileType): FileTypeSaid => ({
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

const typeOf = (row: Selectable<FileTypeTable>): FileType => ({
  ...(JSON.parse(row.body_json) as FileTypeSaid),
  typeId: row.type_id,
  workspace: row.workspace,
  name: row.name,
  downloads: row.downloads,
  createdMs: row.created_ms,
  updatedMs: row.updated_ms,
});
