// Where the catalog is: a file of the data folder, or a database of PostgreSQL. Whoever needs it opens it
// at its place.
import type { PagesOf } from './copyCatalog.ts';
import type { Database, HeldDatabase } from './database.ts';

export interface CatalogPlace {
  /** As an operator finds it. */
  readonly name: string;
  /** What to put back when it is lost. */
  readonly advice: string;
  /** Whether it was ever made. */
  isThere(): Promise<boolean>;
  /** Opens (and makes) it for a command, which waits for the disk. Whoever opens holds the data folder. */
  open(): Database;
  /**
   * The same for a server, whose event loop never waits.
   * @param onFault told why the catalog is away; callers are told that it is
   * @param onTaken called when another process has the catalog; by default an exception ends this one
   */
  openServed(onFault: (reason: unknown) => void, onTaken?: (error: Error) => void): Database;
  /**
   * What is committed, beside whoever holds it; changes nothing.
   * @param answerMs where it is a server: what is silent for longer is lost
   */
  openReading(answerMs?: number): Database;
  /** Rows of a table; a place whose database it is not says what it likes. */
  readonly pages: PagesOf;
  /** Takes what is held open away, to where nobody serves it. @returns where that is */
  setAside(held: Database, nowMs: number): Promise<string>;
  /** Removes one that was begun and is nothing yet. */
  discard(): Promise<void>;
  /** What is committed now, beside whoever holds it. */
  openMoment(): Promise<HeldDatabase>;
  /**
   * What was deleted leaves the catalog's own files too.
   * @returns false when a reader of an older moment still keeps it
   */
  scrub(database: Database): Promise<boolean>;
}
