// Stores published files: bytes in one folder, and rows that name them. A row announces a file before it
// exists, so that leftovers of a crash are recognized. The row's commit publishes the file and ends the one
// that it replaces. An ended file stays as long as a link to it may live.
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import type { Selectable } from 'kysely';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Clock } from '../base/clock.ts';
import { digestFile } from '../base/fileDigest.ts';
import type { Disk } from '../base/disk.ts';
import { Failure } from '../base/failure.ts';
import { newUuid } from '../base/random.ts';
import type { Database } from '../catalog/database.ts';
import type { Folder } from '../catalog/folder.ts';
import type { PublicationTable } from '../catalog/tables/exports.ts';
import { moveAside } from '../files/unclaimed.ts';
import { LINK_LIFE_MS } from './downloadLinks.ts';
import type { FileType } from './fileTypes.ts';
import type { PublishedFiles } from './publishedFiles.ts';

/** Limit of files of one type. */
const FILES_MAX = 100_000;
/** Limit of characters of a file's symbol. */
const SYMBOL_MAX = 100;
/** A link that was created just before the end lives for a minute; this includes a margin. */
const ENDED_RETENTION_MS = 2 * LINK_LIFE_MS;
/** Limit of ended files that one call removes. */
const REMOVAL_BATCH = 1_000;

export interface Publication {
  readonly publicationId: string;
  readonly typeId: string;
  readonly symbol: string;
  readonly date: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly publishedMs: number;
}

/** Identifies a file within its type. */
export type PublicationName = Pick<Publication, 'symbol' | 'date'>;

interface PublicationParts {
  readonly database: Database;
  readonly folder: Folder;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly at: AtCrashPoint;
  readonly publishedFiles: PublishedFiles;
}

/** Returns why a symbol can't name a file; undefined when it can. */
export const checkSymbol = (symbol: string): string | undefined =>
  symbol.length > SYMBOL_MAX || /[\p{C}\s]/u.test(symbol)
    ? `must be 1 to ${SYMBOL_MAX} characters without spaces`
    : undefined;

export class Publications {
  readonly #parts: PublicationParts;
  /** Number of open holds: ended files stay while a backup copies the files of a catalog snapshot. */
  #holds = 0;
  /** Version of the stored files; increases with each change. */
  state = 0;

  constructor(parts: PublicationParts) {
    this.#parts = parts;
  }

  pathOf({ publicationId }: Pick<Publication, 'publicationId'>): string {
    return this.#parts.publishedFiles.pathOf(publicationId);
  }

  /** Fetches a file to the local folder before it is read. */
  fetchLocal(file: Pick<Publication, 'publicationId' | 'bytes' | 'sha256'>): Promise<unknown> {
    return this.#parts.publishedFiles.fetchLocal(file);
  }

  /** Prevents removals until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    let holds = true;
    return () => {
      if (holds) this.#holds -= 1;
      holds = false;
    };
  }

  /**
   * Publishes a finished file by moving it into the folder; the published file of the same name ends.
   * @throws Failure NotFound when the type was removed; InvalidBody at `FILES_MAX`: the file is removed then.
   */
  async publish(type: FileType, name: PublicationName, temporary: string): Promise<Publication> {
    const { at, database, disk, folder, publishedFiles } = this.#parts;
    const publicationId = newUuid();
    const path = this.pathOf({ publicationId });
    const { symbol, date } = name;
    const unpublished = { bytes: 0, sha256: '', committed_ms: null, ended_ms: null };
    const { typeId: type_id, workspace } = type;
    try {
      const content = await digestFile(temporary);
      const row = {
        publication_id: publicationId,
        type_id,
        workspace,
        symbol,
        date,
        ...unpublished,
      };
      await database.insertInto('publication').values(row).execute();
      at('publication-announced');
      await chmod(temporary, 0o600);
      await disk.syncFile(temporary);
      await disk.makeFolder(folder.published);
      await disk.rename(temporary, path);
      await disk.syncFolder(folder.published);
      await publishedFiles.upload({ publicationId, ...content });
      at('publication-placed');
      const publishedMs = await this.#commit(type, { publicationId, ...name, ...content });
      at('publication-committed');
      return { publicationId, typeId: type_id, ...name, ...content, publishedMs };
    } catch (error) {
      await disk.remove(temporary);
      await this.#forget([publicationId]);
      throw error;
    }
  }

  async #commit(
    { name: typeName, typeId }: FileType,
    publication: Omit<Publication, 'typeId' | 'publishedMs'>,
  ): Promise<number> {
    const { clock, database } = this.#parts;
    const { bytes, date, publicationId, sha256, symbol } = publication;
    const nowMs = clock();
    await database.transaction().execute(async (inside) => {
      const touched = await inside
        .updateTable('file_type')
        .set({ updated_ms: nowMs })
        .where('type_id', '=', typeId)
        .returning('type_id')
        .executeTakeFirst();
      if (touched === undefined) throw new Failure('NotFound');
      await inside
        .updateTable('publication')
        .set({ ended_ms: nowMs })
        .where('type_id', '=', typeId)
        .where('symbol', '=', symbol)
        .where('date', '=', date)
        .where('committed_ms', 'is not', null)
        .where('ended_ms', 'is', null)
        .execute();
      await inside
        .updateTable('publication')
        .set({ bytes, sha256, committed_ms: nowMs })
        .where('publication_id', '=', publicationId)
        .execute();
      if ((await countLive(inside, typeId)) > FILES_MAX) {
        const rule = `a file type has at most ${FILES_MAX} files (FILES_MAX)`;
        throw new Failure('InvalidBody', `${typeName}: ${rule}`);
      }
    });
    this.state += 1;
    return nowMs;
  }

  /** Finds the file of a type by its name; undefined when there is none. */
  async find(typeId: string, { date, symbol }: PublicationName): Promise<Publication | undefined> {
    const row = await selectLive(this.#parts.database, typeId)
      .where('symbol', '=', symbol)
      .where('date', '=', date)
      .executeTakeFirst();
    return row === undefined ? undefined : toPublication(row);
  }

  /** Finds a file by its id, also an ended one: links outlive it for a while. */
  async findById(publicationId: string): Promise<Publication | undefined> {
    const row = await this.#parts.database
      .selectFrom('publication')
      .selectAll()
      .where('publication_id', '=', publicationId)
      .where('committed_ms', 'is not', null)
      .executeTakeFirst();
    return row === undefined ? undefined : toPublication(row);
  }

  /** Lists the files of a type by symbol and date. */
  async list(typeId: string): Promise<readonly Publication[]> {
    const query = selectLive(this.#parts.database, typeId).orderBy('symbol').orderBy('date');
    return (await query.execute()).map(toPublication);
  }

  /** Ends one file; false when there is none. */
  async withdraw(typeId: string, { date, symbol }: PublicationName): Promise<boolean> {
    const { clock, database } = this.#parts;
    const ended = await database
      .updateTable('publication')
      .set({ ended_ms: clock() })
      .where('type_id', '=', typeId)
      .where('symbol', '=', symbol)
      .where('date', '=', date)
      .where('committed_ms', 'is not', null)
      .where('ended_ms', 'is', null)
      .returning('publication_id')
      .executeTakeFirst();
    if (ended === undefined) return false;
    await database
      .updateTable('file_type')
      .set({ updated_ms: clock() })
      .where('type_id', '=', typeId)
      .execute();
    return true;
  }

  /** Ends a file type with all of its files. */
  async removeType({ typeId }: FileType): Promise<void> {
    const { clock, database } = this.#parts;
    await database.transaction().execute(async (inside) => {
      await inside.deleteFrom('file_type').where('type_id', '=', typeId).execute();
      await inside
        .updateTable('publication')
        .set({ ended_ms: clock() })
        .where('type_id', '=', typeId)
        .where('committed_ms', 'is not', null)
        .where('ended_ms', 'is', null)
        .execute();
    });
  }

  /** Removes ended files after their retention. */
  async removeExpired(): Promise<void> {
    if (this.#holds > 0) return;
    const { clock, database } = this.#parts;
    const rows = await database
      .selectFrom('publication')
      .select('publication_id')
      .where('ended_ms', '<', clock() - ENDED_RETENTION_MS)
      .limit(REMOVAL_BATCH)
      .execute();
    await this.#forget(rows.map(({ publication_id }) => publication_id));
  }

  /**
   * Runs at start, before anything else: sends files that the bucket lacks, removes leftovers of a crash, and
   * moves files without a row aside, as for the lake. Returns how many were moved, and where.
   */
  async sweep(): Promise<{ readonly aside: number; readonly folder: string }> {
    const { clock, database, disk, folder, publishedFiles } = this.#parts;
    const rows = await database.selectFrom('publication').selectAll().execute();
    const leftovers = rows.filter((row) => row.committed_ms === null);
    await this.#forget(leftovers.map(({ publication_id }) => publication_id));
    const live = rows.filter((row) => row.committed_ms !== null && row.ended_ms === null);
    await publishedFiles.uploadMissing(live.map(toPublication));
    const named = new Set(rows.map(({ publication_id }) => publication_id));
    const unnamed = (await disk.list(folder.published)).filter((path) => !named.has(path));
    if (unnamed.length === 0) return { aside: 0, folder: '' };
    const paths = unnamed.map((path) => `published/${path}`);
    const aside = await moveAside(paths, { ...folder, lake: folder.root }, clock(), disk);
    return { aside: unnamed.length, folder: aside };
  }

  /** Removes files, then their rows: no file ever exists without a row. */
  async #forget(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { database, disk, folder, publishedFiles } = this.#parts;
    for (const id of ids) await publishedFiles.remove(id);
    if (existsSync(folder.published)) await disk.syncFolder(folder.published);
    await database
      .deleteFrom('publication')
      .where('publication_id', 'in', [...ids])
      .execute();
    this.state += 1;
  }
}

const selectLive = (database: Database, typeId: string) =>
  database
    .selectFrom('publication')
    .selectAll()
    .where('type_id', '=', typeId)
    .where('committed_ms', 'is not', null)
    .where('ended_ms', 'is', null);

async function countLive(database: Database, typeId: string): Promise<number> {
  const { count } = await database
    .selectFrom('publication')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('type_id', '=', typeId)
    .where('committed_ms', 'is not', null)
    .where('ended_ms', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

const toPublication = (row: Selectable<PublicationTable>): Publication => ({
  publicationId: row.publication_id,
  typeId: row.type_id,
  symbol: row.symbol,
  date: row.date,
  bytes: row.bytes,
  sha256: row.sha256,
  publishedMs: row.committed_ms ?? 0,
});
