// The location of the catalog, from which it is opened: a file of the data folder, or a PostgreSQL database.
import type { PageReader } from './copyCatalog.ts';
import type { Database, DatabaseSnapshot } from './database.ts';

/** Advice where two catalogs exist. */
export const REMOVE_ONE = 'remove the one that you do not need';

export interface CatalogPlace {
  /** The location, for the operator. */
  readonly name: string;
  /** How to restore the catalog if it is lost. */
  readonly advice: string;
  /** Whether the catalog exists. */
  exists(): Promise<boolean>;
  /** Opens (or creates) it for a command, synchronously. The caller must hold the lock of the data folder. */
  open(): Database;
  /**
   * Opens it for a server without blocking the event loop.
   * @param onFault called with the reason when the catalog is unavailable
   * @param onTaken called when another process has the catalog; by default an exception ends this one
   */
  openForServer(onFault: (reason: unknown) => void, onTaken?: (error: Error) => void): Database;
  /**
   * Opens it for reading committed data while another process holds it.
   * @param answerMs timeout after which a silent database server is considered lost
   */
  openReadOnly(answerMs?: number): Database;
  /** Reads the rows of a table of a database of this location. */
  readonly readPages: PageReader;
  /** Moves the open catalog to a location that is not served. @returns that location */
  setAside(database: Database, nowMs: number): Promise<string>;
  /** Removes an incomplete catalog. */
  discard(): Promise<void>;
  /** Opens a snapshot of the committed data while another process holds the catalog. */
  openSnapshot(): Promise<DatabaseSnapshot>;
  /**
   * Removes deleted rows from the catalog's files.
   * @returns false if a reader of an older snapshot still needs them
   */
  scrub(database: Database): Promise<boolean>;
}
