// Types of a queueing network: stations that serve in order of arrival, and calls that pass through them.
import type { Seeded } from '../../test/soak/crash/rounds/seeded.ts';

export interface Station {
  readonly name: string;
  /** Number of parallel servers. */
  readonly servers: number;
}

/** Calls that arrive in one interval continue together, after the steps of the group. */
export interface Group {
  readonly gatherMs: number;
  /** Steps of the current group. */
  readonly steps: () => readonly Step[];
}

/** Periodic work beside the calls. */
export interface Regular {
  readonly everyMs: number;
  readonly steps: () => readonly Step[];
}

export type Step =
  /** Service at a station for the given time. */
  | { readonly at: number; readonly ms: number }
  /** Delay without a station. */
  | { readonly waitMs: number }
  | { readonly group: number }
  /** Parallel steps; continues when all are done. */
  | { readonly all: readonly (readonly Step[])[] }
  /** Parallel steps; continues without waiting for them. */
  | { readonly beside: readonly (readonly Step[])[] }
  /** Runs a callback and continues. */
  | { readonly run: (nowMs: number) => void }
  /** Waits until `goOn` is called or the time is over. */
  | { readonly until: (goOn: GoOn) => void; readonly mostMs: number }
  /** Steps decided when the call arrives here. */
  | { readonly decide: (nowMs: number) => readonly Step[] };

/** Continues a waiting call; further calls have no effect. */
export type GoOn = (nowMs: number) => void;

interface Call {
  readonly kind: string;
  readonly steps: readonly Step[];
}

export interface Network {
  readonly stations: readonly Station[];
  readonly groups: readonly Group[];
  /** Rate of a Poisson process. */
  readonly callsPerSecond: number;
  /** Returns the next call. */
  readonly nextCall: (random: Seeded, nowMs: number) => Call;
  readonly regular: readonly Regular[];
}

/** Samples an exponentially distributed time. */
export const exponential = (random: Seeded, mean: number): number =>
  -mean * Math.log(1 - random.next());
