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

  /** Does the work of a request of a scope with a folder. */
  async run<T>(
    request: Pick<Request, 'progress' | 'scope'>,
    work: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> {
    clearTimeout(this.#timer);
    try {
      const connection = await this.#connect(request);
      const done = await work(connection).finally(() => connection.closeSync());
      this.#timer = setTimeout(() => this.#close(), KEPT_MS);
      return done;
    } catch (error) {
      // After a failure DuckDB may not go on with what it ran on.
      this.#close();
      throw error;
    }
  }

  async #connect({
    progress,
    scope,
  }: Pick<Request, 'progress' | 'scope'>): Promise<DuckDBConnection> {
    const name = JSON.stringify(scope);
    const isTold = progress && this.#kept?.first === undefined;
    if (this.#kept?.scope !== name || isTold) this.#close();
    const { first, instance } = (this.#kept ??= await this.#made(name, scope));
    // What a connection made for itself, such as temporary tables, is of one request.
    if (!progress || first === undefined) return instance.connect();
    this.#kept = { scope: name, instance, first: undefined };
    return first;
  }

  async #made(name: string, scope: Request['scope']): Promise<Kept> {
    const { connection, instance } = await lockedInstance(scope, this.#blank());
    return { scope: name, instance, first: connection };
  }

  #close(): void {
    this.#kept?.first?.closeSync();
    this.#kept?.instance.closeSync();
    this.#kept = undefined;
  }
}
