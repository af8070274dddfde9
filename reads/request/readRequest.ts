// A request to read: its caller, its parsed parameters, and the signal of its end. Routes build it, and so do
// rules, jobs and agents.
import type { Caller } from '../../store/accounts/callers.ts';
import type { Values } from './parameters.ts';
import type { StageTimes } from './stages.ts';
import type { TestCursors } from './testCursors.ts';

/** Production, or the test environment with its own port and tokens (SPEC.md "Authentication" 3). */
export type Environment = 'production' | 'test';

export interface ReadRequest {
  readonly requestId: string;
  /** Id of the endpoint that answers it. */
  readonly endpoint: string;
  readonly environment: Environment;
  /** A HEAD request: nothing is read, and it is free. */
  readonly bodiless: boolean;
  readonly caller: Caller;
  /** Values of the path's named segments, including the version. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Values;
  /** The checked JSON body, if the endpoint declares one; for a form also a text that is not JSON. */
  readonly json: unknown;
  /** Header Accept: formats of the answer. */
  readonly accept: string;
  /** A browser shows or saves the answer: the request does not come from a script. */
  readonly navigates: boolean;
  /** Header If-None-Match: tags of answers that the caller has cached. */
  readonly ifNoneMatch: string;
  /** The caller of an optional token. @throws Failure for an invalid token. */
  readonly identifyCaller: () => Caller | undefined;
  /** Registers work for the end of the answer: `whole` if all of it was handed to the network. */
  readonly atEnd: (work: (whole: boolean) => void) => void;
  /** Positions of named queries in the test environment; undefined in production. */
  readonly testCursors: TestCursors | undefined;
  /** Times of its stages, until its answer. */
  readonly stages: StageTimes;
  /** A signal that is aborted when the caller disconnects; created on first use. */
  readonly departure: () => AbortSignal;
}
