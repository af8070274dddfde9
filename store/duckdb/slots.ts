// The places of a pool: those of its own processes, and those of processes that other nodes lend, for as
// long as they do.
import type { ChildProcess } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import type { Failure } from '../base/failure.ts';
import type { Answer, BodyFile, Bound, Optimizer, ToChild } from './protocol.ts';

export interface Question {
  readonly account: string;
  readonly files: readonly string[];
  readonly folder?: string;
  /** Folders that further questions of `folder` read from: one instance serves them all. */
  readonly below?: readonly string[] | undefined;
  /** Folders of a workspace: a question of `folder` that touches nothing else shares an instance. */
  readonly shared?: readonly string[] | undefined;
  /** Run in order on one connection; `parameters` are bound to the last. */
  readonly statements: readonly string[];
  /** The place of one that counts: where it counts none, those behind it are not run, and have no rows. */
  readonly endsAt?: number;
  readonly parameters?: readonly Bound[];
  readonly deadlineMs: number;
  /** Of DuckDB and of the disk, when less than the pool's own. */
  readonly limits?: { readonly memoryBytes: number; readonly spillBytes: number };
  /** When fewer than the pool's own. */
  readonly threads?: number;
  /** Of no use to its statements, which have very many columns. */
  readonly skips?: readonly Optimizer[];
  /** The caller went away: the statement is interrupted. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (percent: number) => void;
  /** The body is to be a file of the pool's spill, or of `folder`: its caller removes it. */
  readonly file?: BodyFile;
  /** The name of a file of `folder` that the statements write. */
  readonly written?: string;
  /** It reads files of the lake, and writes nothing but `file` or `written`: other nodes answer it first. */
  readonly anywhere?: boolean;
  /** A lent process gave it back. */
  readonly isOwn?: boolean;
}

/** Tells messages (`message`) and its end (`exit`), as a child process does. */
export interface LentProcess extends Pick<EventEmitter, 'on' | 'once'> {
  send(message: ToChild, done: () => void): unknown;
  kill(): unknown;
}

interface Running {
  readonly id: number;
  readonly memoryBytes: number;
  readonly question: Question;
  readonly answered: (answer: Answer) => void;
  readonly failed: (failure: Error) => void;
  /** The process has started: from here on its time counts. */
  onStarted?: () => void;
  /** Why it was interrupted, once it was. */
  stopped: Failure | undefined;
}

interface Place {
  readonly place: number;
  /** Resident bytes that the process told last. */
  bytes: number;
  running: Running | undefined;
}

export type Slot =
  | (Place & { readonly isLent: false; child: ChildProcess | undefined })
  | (Place & {
      readonly isLent: true;
      readonly child: LentProcess;
      /** When it was heard last, monotonic. */
      heardMs: number;
    });

/** Lent ones of a pool. */
const LENT_MAX = 256;
/** Places of lent processes, in the names of folders. */
const FIRST_LENT = 1_000;

export interface Borrowing {
  /** Where the lake's files are, with a separator at its end: processes of other nodes read those too. */
  readonly lake?: string;
  /** They answer only what says that it may be answered anywhere. */
  readonly isSaid?: boolean;
}

export class Slots {
  readonly own: readonly Extract<Slot, { readonly isLent: false }>[];
  readonly #lent = new Set<Slot>();
  readonly #borrowing: Borrowing;
  #places = FIRST_LENT;

  constructor(count: number, borrowing: Borrowing) {
    this.#borrowing = borrowing;
    const empty = { child: undefined, bytes: 0, running: undefined, isLent: false } as const;
    this.own = Array.from({ length: count }, (_, place) => ({ place, ...empty }));
  }

  get all(): readonly Slot[] {
    return this.#lent.size === 0 ? this.own : [...this.own, ...this.#lent];
  }

  get lent(): number {
    return this.#lent.size;
  }

  /** Undefined where there are enough. */
  lend(child: LentProcess): Slot | undefined {
    if (this.#lent.size >= LENT_MAX) return undefined;
    this.#places += 1;
    const idle = { bytes: 0, running: undefined, heardMs: 0 };
    const slot: Slot = { place: this.#places, child, ...idle, isLent: true };
    this.#lent.add(slot);
    return slot;
  }

  gone(slot: Slot): void {
    this.#lent.delete(slot);
  }

  /** A free place for a question: no account takes the last one of the pool's own. */
  for(question: Question): Slot | undefined {
    const elsewhere = question.anywhere === true ? this.#lentFor(question) : undefined;
    if (elsewhere !== undefined) return elsewhere;
    const own = this.own.filter(({ running }) => running?.question.account === question.account);
    const free = this.own.find(isFree);
    if (free !== undefined && own.length < this.own.length - 1) return free;
    return this.#lentFor(question);
  }

  #lentFor(question: Question): Slot | undefined {
    if (this.#lent.size === 0 || !this.#isLendable(question)) return undefined;
    for (const slot of this.#lent) if (isFree(slot)) return slot;
    return undefined;
  }

  /** It reads files of the lake alone, and writes into no folder of this machine but what it says. */
  #isLendable({ anywhere, files, folder, isOwn }: Question): boolean {
    const { isSaid, lake } = this.#borrowing;
    if (lake === undefined || isOwn === true) return false;
    if (anywhere !== true && (isSaid === true || folder !== undefined)) return false;
    return files.length > 0 && files.every((path) => path.startsWith(lake));
  }
}

const isFree = ({ running }: Slot): boolean => running === undefined;

/** Marks a slot as taken before its request exists, so that no one else takes it. */
export function reserve(slot: Slot, question: Question): Slot {
  const ignore = (): void => undefined;
  const nothing = { id: 0, memoryBytes: Number.MAX_SAFE_INTEGER, stopped: undefined };
  slot.running = { ...nothing, question, answered: ignore, failed: ignore };
  return slot;
}

/** Processes that have started: a pool may take one that another pool had. */
const started = new WeakSet<ChildProcess>();

/** The process reads requests from now on. */
export const markStarted = (child: ChildProcess): void => void started.add(child);

export const isStarted = (slot: Slot): boolean =>
  slot.isLent || (slot.child !== undefined && started.has(slot.child));

/** What a question holds while it waits. */
export const bytesOfQuestion = ({ parameters = [], statements }: Question): number =>
  [...statements, ...parameters].reduce<number>((sum, part) => sum + String(part).length, 0);
