// The instance of a job. Its statements come one after the other with the same files and folder, and making
// an instance takes 10 ms of processor time, six times for a load of one record.
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { lockedInstance } from './instance.ts';
import type { Request } from './protocol.ts';

/** Its memory goes when the job asks nothing for so long, or something else is asked. */
const KEPT_MS = 100;

interface Kept {
  readonly scope: string;
  readonly instance: DuckDBInstance;
  /** The one whose progress can be told. */
  readonly first: DuckDBConnection | undefined;
}

export class JobInstance {
  readonly #blank: () => Promise<DuckDBInstance>;
  #kept: Kept | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param blank an instance of no scope */
  constructor(blank: () => Promise<DuckDBInstance>) {
    this.#blank = blank;
  }

  /** A connection for a request of a scope with a folder. */
  async connect({
    progress,
    scope,
  }: Pick<Request, 'progress' | 'scope'>): Promise<DuckDBConnection> {
    clearTimeout(this.#timer);
    const { first, instance } = await this.#of(JSON.stringify(scope), scope, progress);
    // What a connection made for itself, such as temporary tables, is of one request.
    if (!progress) return instance.connect();
    if (first === undefined) throw new Error('the first connection is gone');
    this.#kept = { scope: JSON.stringify(scope), instance, first: undefined };
    return first;
  }

  /** @param isWhole false when a statement failed: DuckDB may not go on with what it ran on */
  done(connection: DuckDBConnection, isWhole: boolean): void {
    connection.closeSync();
    if (isWhole) this.#timer = setTimeout(() => this.#close(), KEPT_MS);
    else this.#close();
  }

  async #of(name: string, scope: Request['scope'], progress: boolean): Promise<Kept> {
    const known = this.#kept;
    if (known?.scope === name && !(progress && known.first === undefined)) return known;
    this.#close();
    const { connection, instance } = await lockedInstance(scope, this.#blank());
    const made = { scope: name, instance, first: connection };
    this.#kept = made;
    return made;
  }

  #close(): void {
    this.#kept?.first?.closeSync();
    this.#kept?.instance.closeSync();
    this.#kept = undefined;
  }
}
