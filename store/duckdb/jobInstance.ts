// The instance of a job. Its statements come one after the other with the same files and folder, and making
// an instance takes 10 ms of processor time, six times for a load of one record.
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { lockedInstance, threadsFor } from './instance.ts';
import type { Scope } from './protocol.ts';

/** Its memory goes when the job asks nothing for so long, or something else is asked. */
const KEPT_MS = 100;

interface Kept {
  readonly scope: Scope;
  readonly instance: DuckDBInstance;
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
  async run<T>(scope: Scope, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    clearTimeout(this.#timer);
    try {
      // What a connection made for itself, such as temporary tables, is of one request.
      const worth = { ...scope, threads: await threadsFor(scope) };
      const connection = await (await this.#of(worth)).connect();
      const done = await work(connection).finally(() => connection.closeSync());
      this.#timer = setTimeout(() => this.#close(), KEPT_MS);
      return done;
    } catch (error) {
      // After a failure DuckDB may not go on with what it ran on.
      this.#close();
      throw error;
    }
  }

  async #of(scope: Scope): Promise<DuckDBInstance> {
    if (this.#kept !== undefined && !covers(this.#kept.scope, scope)) this.#close();
    this.#kept ??= { scope, instance: await lockedInstance(scope, this.#blank()) };
    return this.#kept.instance;
  }

  #close(): void {
    this.#kept?.instance.closeSync();
    this.#kept = undefined;
  }
}

/** An instance of the one may do all that the other asks for. */
function covers(
  { files: known, threads: has, ...own }: Scope,
  { files, threads, ...asked }: Scope,
): boolean {
  const open = new Set([...known, ...(own.folders ?? [])]);
  return (
    has >= threads &&
    isDeepStrictEqual(own, asked) &&
    files.every((one) => open.has(one) || open.has(dirname(one)))
  );
}
