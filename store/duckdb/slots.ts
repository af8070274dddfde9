// The slots of a pool: for its own processes, and for processes of other nodes while they are available.
import type { ChildProcess } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import type { Failure } from '../base/failure.ts';
import type { Answer, BodyFile, Bound, Optimizer, ToChild } from './protocol.ts';

export interface PoolRequest {
  readonly account: string;
  readonly files: readonly string[];
  readonly folder?: string;
  /** Folders that later requests with the same `folder` read: one instance serves them all. */
  readonly below?: readonly string[] | undefined;
  /** Folders of a workspace: requests with a `folder` that use nothing else share an instance. */
  readonly shared?: readonly string[] | undefined;
  /** Run in order on one connection; `parameters` are bound to the last. */
  readonly statements: readonly string[];
  /** Index of a counting statement: if it returns 0, the later ones are skipped and have no rows. */
  readonly endsAt?: number;
  readonly parameters?: readonly Bound[];
  readonly deadlineMs: number;
  /** Limits of memory and disk, if lower than the pool's. */
  readonly limits?: { readonly memoryBytes: number; readonly spillBytes: number };
  /** Number of threads, if lower than the pool's. */
  readonly threads?: number;
  /** Optimizers to disable for statements with very many columns. */
  readonly skips?: readonly Optimizer[];
  /** Interrupts the statement when the caller disconnects. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (percent: number) => void;
  /** Writes the body to a file in the pool's spill or in `folder`; the caller removes it. */
  readonly file?: BodyFile;
  /** Name of a file in `folder` that the statements write. */
  readonly written?: string;
  /** Reads only files of the lake and writes only `file` or `written`: preferably runs on other nodes. */
  readonly canRunRemotely?: boolean;
  /** A remote process failed: run it on this node. */
  readonly isLocalOnly?: boolean;
}

/** A process of another node. It emits `message` and `exit`, like a child process. */
export interface RemoteProcess extends Pick<EventEmitter, 'on' | 'once'> {
  send(message: ToChild, done: () => void): unknown;
  kill(): unknown;
}

interface Running {
  readonly id: number;
  readonly memoryBytes: number;
  readonly question: PoolRequest;
  readonly answered: (answer: Answer) => void;
  readonly failed: (failure: Error) => void;
  /** Called when the process has started: its deadline begins. */
  onStarted?: () => void;
  /** The reason of the interrupt, if it was interrupted. */
  stopped: Failure | undefined;
}

interface Place {
  readonly place: number;
  /** Resident bytes by the last report of the process. */
  bytes: number;
  running: Running | undefined;
}

export type Slot =
  | (Place & { readonly isRemote: false; child: ChildProcess | undefined })
  | (Place & {
      readonly isRemote: true;
      readonly child: RemoteProcess;
      /** Monotonic time of its last message. */
      lastMessageMs: number;
    });

/** Limit of remote processes in a pool. */
const REMOTE_MAX = 256;
/** First slot number of remote processes. */
const FIRST_REMOTE_PLACE = 1_000;

export interface RemoteOptions {
  /** Root of the lake's files, with a trailing separator: processes of other nodes can read those too. */
  readonly lake?: string;
  /** Remote processes run only requests that declare `canRunRemotely`. */
  readonly onlyDeclared?: boolean;
}

export class Slots {
  readonly own: readonly Extract<Slot, { readonly isRemote: false }>[];
  readonly #remote = new Set<Slot>();
  readonly #options: RemoteOptions;
  #places = FIRST_REMOTE_PLACE;

  constructor(count: number, borrowing: RemoteOptions) {
    this.#options = borrowing;
    const empty = { child: undefined, bytes: 0, running: undefined, isRemote: false } as const;
    this.own = Array.from({ length: count }, (_, place) => ({ place, ...empty }));
  }

  get all(): readonly Slot[] {
    return this.#remote.size === 0 ? this.own : [...this.own, ...this.#remote];
  }

  get remoteCount(): number {
    return this.#remote.size;
  }

  /** Adds a remote process; undefined if there are too many. */
  addRemote(child: RemoteProcess): Slot | undefined {
    if (this.#remote.size >= REMOTE_MAX) return undefined;
    this.#places += 1;
    const idle = { bytes: 0, running: undefined, lastMessageMs: 0 };
    const slot: Slot = { place: this.#places, child, ...idle, isRemote: true };
    this.#remote.add(slot);
    return slot;
  }

  remove(slot: Slot): void {
    this.#remote.delete(slot);
  }

  /** Finds a free slot for a request; no account may take the last one of the pool's own. */
  findFree(question: PoolRequest): Slot | undefined {
    const remoteSlot = question.canRunRemotely === true ? this.#findRemote(question) : undefined;
    if (remoteSlot !== undefined) return remoteSlot;
    const own = this.own.filter(({ running }) => running?.question.account === question.account);
    const free = this.own.find(isFree);
    if (free !== undefined && own.length < this.own.length - 1) return free;
    return this.#findRemote(question);
  }

  #findRemote(question: PoolRequest): Slot | undefined {
    if (this.#remote.size === 0 || !this.#canRunRemotely(question)) return undefined;
    for (const slot of this.#remote) if (isFree(slot)) return slot;
    return undefined;
  }

  /** Whether it reads only files of the lake, and writes to a folder only if it declares `canRunRemotely`. */
  #canRunRemotely({ canRunRemotely, files, folder, isLocalOnly }: PoolRequest): boolean {
    const { onlyDeclared, lake } = this.#options;
    if (lake === undefined || isLocalOnly === true) return false;
    if (canRunRemotely !== true && (onlyDeclared === true || folder !== undefined)) return false;
    return files.length > 0 && files.every((path) => path.startsWith(lake));
  }
}

const isFree = ({ running }: Slot): boolean => running === undefined;

/** Reserves a slot before its request exists, so that no other request takes it. */
export function reserveSlot(slot: Slot, question: PoolRequest): Slot {
  const ignore = (): void => undefined;
  const nothing = { id: 0, memoryBytes: Number.MAX_SAFE_INTEGER, stopped: undefined };
  slot.running = { ...nothing, question, answered: ignore, failed: ignore };
  return slot;
}

/** Processes that have started. It is shared by all pools, because a process can move to another one. */
const started = new WeakSet<ChildProcess>();

/** Records that the process is ready for requests. */
export const markStarted = (child: ChildProcess): void => void started.add(child);

export const isStarted = (slot: Slot): boolean =>
  slot.isRemote || (slot.child !== undefined && started.has(slot.child));

/** Estimates the memory of a waiting request. */
export const measureRequest = ({ parameters = [], statements }: PoolRequest): number =>
  [...statements, ...parameters].reduce<number>((sum, part) => sum + String(part).length, 0);
