// A network of queues: stations that serve in the order of arrival, and calls that go from one to the next.
import type { Seeded } from '../../test/soak/crash/rounds/seeded.ts';

export interface Station {
  readonly name: string;
  /** How many it serves at once. */
  readonly servers: number;
}

/** Calls that come while it gathers go on together, once all of its own steps are done. */
export interface Group {
  readonly gatherMs: number;
  /** Of those that go together now. */
  readonly steps: () => readonly Step[];
}

/** Beside the calls, at an even pace. */
export interface Regular {
  readonly everyMs: number;
  readonly steps: () => readonly Step[];
}

export type Step =
  /** At a station, which works on it for so long. */
  | { readonly at: number; readonly ms: number }
  /** Takes time, and nobody's. */
  | { readonly waitMs: number }
  | { readonly group: number }
  /** Goes on when each of them is done. */
  | { readonly all: readonly (readonly Step[])[] }
  /** Goes on at once, and waits for none of them. */
  | { readonly beside: readonly (readonly Step[])[] }
  /** Is told when it is there, and goes on. */
  | { readonly tell: (nowMs: number) => void }
  /** Waits until it is told to go on, for so long at most. */
  | { readonly until: (goOn: GoOn) => void; readonly mostMs: number }
  /** What comes next is decided there. */
  | { readonly decide: (nowMs: number) => readonly Step[] };

/** Again it does nothing. */
export type GoOn = (nowMs: number) => void;

interface Call {
  readonly kind: string;
  readonly steps: readonly Step[];
}

export interface Network {
  readonly stations: readonly Station[];
  readonly groups: readonly Group[];
  /** They come at random, independent of each other (Poisson). */
  readonly callsPerSecond: number;
  /** How the next call goes. */
  readonly callOf: (random: Seeded, nowMs: number) => Call;
  readonly regular: readonly Regular[];
}

/** Draws a time whose next moment is as likely to be its last as any other. */
export const exponential = (random: Seeded, mean: number): number =>
  -mean * Math.log(1 - random.next());
