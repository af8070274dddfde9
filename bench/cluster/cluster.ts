// What both designs have: nodes with a loop and cores for DuckDB, a catalog, a network between them.
import type { Seeded } from '../../test/soak/crash/rounds/seeded.ts';
import { type Demand, endsOf, type Kind, partOf } from './demand.ts';
import { exponential, type Group, type Regular, type Station, type Step } from './network.ts';
import type { ServiceTimes } from './times/serviceTimes.ts';

export interface Shape {
  readonly nodes: number;
  /** Of each node, and of PostgreSQL's machine. */
  readonly cores: number;
  readonly callsPerSecond: number;
  readonly demand: Demand;
}

/** From one machine to another in one place: half of a round trip of 0.2 ms. */
export const WAY_MS = 0.1;
/** As store/ledger and the windows of pushes gather. */
export const LEDGER_MS = 50;
const PUSHES_MS = 2;

export const loopOf = (node: number): number => 2 * node;
const duckdbOf = (node: number): number => 2 * node + 1;
/** PostgreSQL's machine, and behind it the connection of the node that writes. */
const postgresOf = (nodes: number): number => 2 * nodes;
const connectionOf = (nodes: number): number => 2 * nodes + 1;

/** One core is the loop's, one that of other threads and of the system. */
const coresOfDuckdb = (cores: number): number => Math.max(1, cores - 2);

export interface Names {
  readonly loop: (node: number) => string;
  readonly duckdb: (node: number) => string;
}

export function stationsOf({ cores, nodes }: Shape, names: Names): readonly Station[] {
  const each = Array.from({ length: nodes }, (_, node): readonly Station[] => [
    { name: names.loop(node), servers: 1 },
    { name: names.duckdb(node), servers: coresOfDuckdb(cores) },
  ]);
  // A connection does one thing at a time.
  const connection = { name: 'the connection that writes', servers: 1 };
  return [...each.flat(), { name: 'processors of PostgreSQL', servers: cores }, connection];
}

/** Draws what a call is. */
export function kindOf(mix: Demand['mix']): (random: Seeded) => Kind {
  const kinds = Object.keys(mix) as Kind[];
  const ends = endsOf(kinds.map((kind) => mix[kind]));
  return (random) => kinds[partOf(ends, random.next())] ?? 'hot';
}

/**
 * What a call takes at the node that answers it, whose loop takes `more` of it.
 * @param lender whose process runs its statement
 */
export function answered(
  times: ServiceTimes,
  kind: Kind,
  node: number,
  more: number,
  random: Seeded,
  lender = node,
): readonly Step[] {
  const { below, loop } = times[kind];
  const at = loopOf(node);
  if (kind === 'hot') return [{ at, ms: loop + more }];
  const half = { at, ms: (loop + more) / 2 };
  if (kind === 'push') return [half, { group: 0 }, half];
  const run = { at: duckdbOf(lender), ms: exponential(random, below) };
  return [half, ...(lender === node ? [run] : lent(times, node, lender, run)), half];
}

/** A statement goes to another node, and its answer comes back. */
function lent(
  { message: ms }: ServiceTimes,
  node: number,
  lender: number,
  run: Step,
): readonly Step[] {
  const [here, there] = [
    { at: loopOf(node), ms: ms / 2 },
    { at: loopOf(lender), ms },
  ];
  return [here, { waitMs: WAY_MS }, there, run, { waitMs: WAY_MS }, here];
}

/** A node that hands on what another one answers. */
export function handedOn(
  times: ServiceTimes,
  node: number,
  steps: readonly Step[],
): readonly Step[] {
  const half = { at: loopOf(node), ms: times.hop.front / 2 };
  return [half, { waitMs: WAY_MS }, ...steps, { waitMs: WAY_MS }, half];
}

/** Pushes of a window, committed together; then what has to happen before they are acknowledged. */
export const pushesOf = (
  { catalog }: ServiceTimes,
  nodes: number,
  before: () => readonly Step[],
): Group => ({
  gatherMs: PUSHES_MS,
  steps: () => [...committed(catalog, nodes), ...before()],
});

/** The connection waits for the disk as well, the processors do not. */
const committed = (
  { commitCpu, commitP50 }: ServiceTimes['catalog'],
  nodes: number,
  linesMs = 0,
): readonly Step[] => [
  { at: postgresOf(nodes), ms: commitCpu + linesMs },
  { at: connectionOf(nodes), ms: commitP50 + linesMs },
];

/** Charges of all calls, as their windows end. */
export function charges(times: ServiceTimes, { callsPerSecond, nodes }: Shape): Regular {
  const rows = (callsPerSecond * LEDGER_MS) / 1_000;
  const steps = committed(times.catalog, nodes, rows * times.hot.catalog);
  return { everyMs: LEDGER_MS, steps: () => steps };
}
