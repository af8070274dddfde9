// Describes a computation for the worker threads: its module, its limits and its types.

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

/** A part of an answer that a thread computes. */
export interface ThreadWork<Task> {
  readonly task: Task;
  readonly input: Task extends WorkerTask<infer Input, unknown> ? Input : never;
  /** Builds the answer from the task's output. */
  readonly finish: (
    output: Task extends WorkerTask<never, infer Output> ? Output : never,
  ) => unknown;
}

/** An answer that is too short for a thread. */
export interface FinishedWork {
  readonly answer: unknown;
}

/** Input of a thread: the module to load, and the input of its task. */
export interface ThreadInput {
  readonly file: string;
  readonly input: unknown;
}
