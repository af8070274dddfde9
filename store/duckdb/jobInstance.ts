// The instances of jobs. Creating one takes 10 ms of processor time, a quarter of a small load: jobs
// of a workspace that touch few bytes share one, and every other job has its own.
import { dirname, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { reasonOf } from '../base/failure.ts';
import { hasFewBytes, lockedInstance } from './instance.ts';
import type { Scope } from './protocol.ts';

/** A job's own instance is closed after this idle time, or when another scope is requested. */
const OWN_IDLE_MS = 100;
/** A shared instance of 3 MB is kept for this idle time for subsequent loads. */
const SHARED_IDLE_MS = 10_000;
/** Shared instances of a process; with more, the least recently used one is closed. */
const SHARED_MAX = 4;
/** DuckDB reads one JSON document into 128 MB. A statement that needs more fails early and is run alone. */
const SHARED_BYTES = 256 * 1024 ** 2;

type Work<T> = (connection: DuckDBConnection) => Promise<T>;

interface OpenInstance {
  readonly scope: Scope;
  readonly instance: DuckDBInstance;
  timer: NodeJS.Timeout | undefined;
}

interface JobInstanceParts {
  /** Creates an instance without a scope. */
  readonly blank: () => Promise<DuckDBInstance>;
  /** Called when no shared instance is left. */
  readonly onNoneShared: () => void;
}

export class JobInstances {
  readonly #parts: JobInstanceParts;
  /** The instance of one job. */
  #own: OpenInstance | undefined;
  /** Shared instances by the folders of their workspaces, the last used one at the end. */
  readonly #shared = new Map<string, OpenInstance>();

  constructor(parts: JobInstanceParts) {
    this.#parts = parts;
  }

  /** Whether the next request can probably use a shared instance. */
  get hasShared(): boolean {
    return this.#shared.size > 0;
  }

  /** Runs the work of a request whose scope has a folder. */
  async run<T>({ shared, ...scope }: Scope, work: Work<T>): Promise<T> {
    const few = await hasFewBytes(scope);
    const own = { ...scope, threads: few ? 1 : scope.threads };
    const isOwn = this.#own !== undefined && covers(this.#own.scope, own);
    if (few && !isOwn && shared !== undefined && isWithin(shared, scope)) {
      try {
        return await this.#runOnShared(shared, own.memoryBytes, work);
      } catch (error) {
        // A shared instance cannot spill. The statements create the same files again where they can.
        if (!reasonOf(error).startsWith('Out of Memory Error')) throw error;
      }
    }
    return this.#runOnOwn(own, work);
  }

  async #runOnOwn<T>(scope: Scope, work: Work<T>): Promise<T> {
    if (this.#own !== undefined && !covers(this.#own.scope, scope)) this.#closeOwn();
    this.#own ??= await this.#open(scope);
    return runOn(this.#own, { work, idleMs: OWN_IDLE_MS, close: () => this.#closeOwn() });
  }

  async #runOnShared<T>(folders: readonly string[], bytes: number, work: Work<T>): Promise<T> {
    const key = folders.join('\n');
    const close = (): void => this.#closeShared(key);
    const existing = this.#shared.get(key);
    if (existing !== undefined && existing.scope.memoryBytes > bytes) close();
    const opened = this.#shared.get(key) ?? (await this.#open(sharedScope(folders, bytes)));
    this.#shared.delete(key);
    this.#shared.set(key, opened);
    const [oldest] = this.#shared.keys();
    if (this.#shared.size > SHARED_MAX && oldest !== undefined) this.#closeShared(oldest);
    return runOn(opened, { work, idleMs: SHARED_IDLE_MS, close });
  }

  async #open(scope: Scope): Promise<OpenInstance> {
    return {
      scope,
      instance: await lockedInstance(scope, this.#parts.blank()),
      timer: undefined,
    };
  }

  #closeOwn(): void {
    if (this.#own !== undefined) closeInstance(this.#own);
    this.#own = undefined;
  }

  #closeShared(key: string): void {
    const opened = this.#shared.get(key);
    if (opened !== undefined) closeInstance(opened);
    this.#shared.delete(key);
    if (!this.hasShared) this.#parts.onNoneShared();
  }
}

interface Execution<T> {
  readonly work: Work<T>;
  /** Idle time after which the instance is closed. */
  readonly idleMs: number;
  readonly close: () => void;
}

async function runOn<T>(opened: OpenInstance, { close, idleMs, work }: Execution<T>): Promise<T> {
  clearTimeout(opened.timer);
  try {
    // State of a connection, such as temporary tables, belongs to one request.
    const connection = await opened.instance.connect();
    const result = await work(connection).finally(() => connection.closeSync());
    opened.timer = setTimeout(close, idleMs);
    return result;
  } catch (error) {
    // After a failure the instance may be unusable.
    close();
    throw error;
  }
}

function closeInstance({ instance, timer }: OpenInstance): void {
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

/** Whether an instance of the first scope allows all that the second one requests. */
function covers(
  { files: openFiles, threads: openThreads, ...own }: Scope,
  { files, threads, ...requested }: Scope,
): boolean {
  const open = new Set([...openFiles, ...(own.folders ?? [])]);
  return (
    openThreads >= threads &&
    isDeepStrictEqual(own, requested) &&
    files.every((one) => open.has(one) || open.has(dirname(one)))
  );
}
