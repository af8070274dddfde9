// The instances of jobs. Making one takes 10 ms of processor time, a quarter of what a small load took: jobs
// of a workspace that touch few bytes share one, and other jobs have one for their statements.
import { dirname, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { reasonOf } from '../base/failure.ts';
import { isFew, lockedInstance } from './instance.ts';
import type { Scope } from './protocol.ts';

/** What a job has for itself goes when it asks nothing for so long, or something else is asked. */
const KEPT_MS = 100;
/** Loads that follow each other are shared for; 3 MB each until then. */
const SHARED_MS = 10_000;
/** Workspaces whose jobs a process serves in turn; with one more the instance that was used first goes. */
const SHARED_MAX = 4;
/** DuckDB reads one JSON document into 128 MB. What takes more is told soon, and done again elsewhere. */
const SHARED_BYTES = 256 * 1024 ** 2;

type Work<T> = (connection: DuckDBConnection) => Promise<T>;

interface Kept {
  readonly scope: Scope;
  readonly instance: DuckDBInstance;
  timer: NodeJS.Timeout | undefined;
}

interface JobInstanceParts {
  /** An instance of no scope. */
  readonly blank: () => Promise<DuckDBInstance>;
  /** None is kept any more. */
  readonly gone: () => void;
}

export class JobInstances {
  readonly #parts: JobInstanceParts;
  /** Of one job. */
  #own: Kept | undefined;
  /** By the folders of their workspaces, the one used last at the end. */
  readonly #shared = new Map<string, Kept>();

  constructor(parts: JobInstanceParts) {
    this.#parts = parts;
  }

  /** True while the next request is likely to need no other one. */
  get isKept(): boolean {
    return this.#shared.size > 0;
  }

  /** Does the work of a request of a scope with a folder. */
  async run<T>({ shared, ...scope }: Scope, work: Work<T>): Promise<T> {
    const few = await isFew(scope);
    const own = { ...scope, threads: few ? 1 : scope.threads };
    const isOwn = this.#own !== undefined && covers(this.#own.scope, own);
    if (few && !isOwn && shared !== undefined && isWithin(shared, scope)) {
      try {
        return await this.#onShared(shared, own.memoryBytes, work);
      } catch (error) {
        // Nothing is spilled there. The statements make the same files once more, where they may spill.
        if (!reasonOf(error).startsWith('Out of Memory Error')) throw error;
      }
    }
    return this.#onOwn(own, work);
  }

  async #onOwn<T>(scope: Scope, work: Work<T>): Promise<T> {
    if (this.#own !== undefined && !covers(this.#own.scope, scope)) this.#closeOwn();
    this.#own ??= await this.#make(scope);
    return on(this.#own, { work, ms: KEPT_MS, close: () => this.#closeOwn() });
  }

  async #onShared<T>(folders: readonly string[], bytes: number, work: Work<T>): Promise<T> {
    const key = folders.join('\n');
    const close = (): void => this.#closeShared(key);
    const known = this.#shared.get(key);
    if (known !== undefined && known.scope.memoryBytes > bytes) close();
    const kept = this.#shared.get(key) ?? (await this.#make(sharedScope(folders, bytes)));
    this.#shared.delete(key);
    this.#shared.set(key, kept);
    const [oldest] = this.#shared.keys();
    if (this.#shared.size > SHARED_MAX && oldest !== undefined) this.#closeShared(oldest);
    return on(kept, { work, ms: SHARED_MS, close });
  }

  async #make(scope: Scope): Promise<Kept> {
    return {
      scope,
      instance: await lockedInstance(scope, this.#parts.blank()),
      timer: undefined,
    };
  }

  #closeOwn(): void {
    if (this.#own !== undefined) end(this.#own);
    this.#own = undefined;
  }

  #closeShared(key: string): void {
    const kept = this.#shared.get(key);
    if (kept !== undefined) end(kept);
    this.#shared.delete(key);
    if (!this.isKept) this.#parts.gone();
  }
}

interface Doing<T> {
  readonly work: Work<T>;
  /** It is closed when so long nothing is asked. */
  readonly ms: number;
  readonly close: () => void;
}

async function on<T>(kept: Kept, { close, ms, work }: Doing<T>): Promise<T> {
  clearTimeout(kept.timer);
  try {
    // What a connection made for itself, such as temporary tables, is of one request.
    const connection = await kept.instance.connect();
    const done = await work(connection).finally(() => connection.closeSync());
    kept.timer = setTimeout(close, ms);
    return done;
  } catch (error) {
    // After a failure DuckDB may not go on with what it ran on.
    close();
    throw error;
  }
}

function end({ instance, timer }: Kept): void {
  clearTimeout(timer);
  instance.closeSync();
}

const sharedScope = (folders: readonly string[], bytes: number): Scope => ({
  files: [],
  shared: folders,
  folders,
  threads: 1,
  memoryBytes: Math.min(bytes, SHARED_BYTES),
});

const isWithin = (shared: readonly string[], { files, folder }: Scope): boolean =>
  [...files, ...(folder === undefined ? [] : [folder])].every((path) =>
    shared.some((one) => resolve(path).startsWith(`${one}${sep}`)),
  );

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
