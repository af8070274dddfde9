// Describes a computation for the worker threads: its module, its limits and its types.
import type { Failure } from '../store/base/failure.ts';

/** A module at `file` that exports `run(input: Input): Output`, of values that can be cloned. */
export interface WorkerTask<Input, Output> {
  readonly file: URL;
  /** In messages: "The chart queue is full". */
  readonly name: string;
  /** Counted from the start of its execution. */
  readonly deadlineMs: number;
  /** Most waiting tasks of this kind, of one account and of all. */
  readonly waitingMax: { readonly account: number; readonly all: number };
  /** It may take seconds: such tasks leave one thread free for others. */
  readonly isLong: boolean;
  /** Never present; carries the types. */
  readonly types?: (input: Input) => Output;
}

/** Input of a thread: the module to load, and the input of its task. */
export interface ThreadInput {
  readonly file: string;
  readonly input: unknown;
}

/** Output of a thread: that of its task, or the members of a Failure. */
export type ThreadOutput =
  { readonly output: unknown } | { readonly failure: Pick<Failure, 'type' | 'detail' | 'waitMs'> };
