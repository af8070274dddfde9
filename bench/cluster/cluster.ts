// What both designs have: nodes with a loop and cores for DuckDB, a catalog, a network between them.
import type { Seeded } from '../../test/crash/rounds/seeded.ts';
import { type Demand, endsOf, type Kind, partOf } from './demand.ts';
import { exponential, type Group, type Network, type Station, type Step } from './network.ts';
import type { ServiceTimes } from './serviceTimes.ts';

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
/** PostgreSQL's machine, and behind it the connections of those who write. */
const postgresOf = (nodes: number): number => 2 * nodes;
const connectionOf = (nodes: number, writer: number): number => 2 * nodes + 1 + writer;

/** One core is the loop's, one that of other threads and of the system. */
const coresOfDuckdb = (cores: number): number => Math.max(1, cores - 2);

export interface Names {
  readonly loop: (node: number) => string;
  readonly duckdb: (node: number) => string;
}

export function stationsOf({ cores, nodes }: Shape, names: Names, writers: number): Station[] {
  const each = Array.from({ length: nodes }, (_, node): readonly Station[] => [
    { name: names.loop(node), servers: 1 },
    { name: names.duckdb(node), servers: coresOfDuckdb(cores) },
  ]);
  // A connection does one thing at a time; those of several nodes share the syncs of the disk.
  const connections = Array.from({ length: writers }, () => ({ name: 'a connection', servers: 1 }));
  return [...each.flat(), { name: 'processors of PostgreSQL', servers: cores }, ...connections];
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
  before: readonly Step[],
): Group => ({
  gatherMs: PUSHES_MS,
  steps: [...committed(catalog, nodes, 0, 0), ...before],
});

/** The connection waits for the disk as well, the processors do not. */
const committed = (
  { commitCpu, commitP50 }: ServiceTimes['catalog'],
  nodes: number,
  writer: number,
  linesMs: number,
): readonly Step[] => [
  { at: postgresOf(nodes), ms: commitCpu + linesMs },
  { at: connectionOf(nodes, writer), ms: commitP50 + linesMs },
];

/** Each writer's charges, as their windows end. */
export function charges(
  times: ServiceTimes,
  { callsPerSecond, nodes }: Shape,
  writers: number,
): Network['regular'] {
  const rows = (callsPerSecond * LEDGER_MS) / 1_000 / writers;
  return Array.from({ length: writers }, (_, writer) => ({
    everyMs: LEDGER_MS,
    steps: committed(times.catalog, nodes, writer, rows * times.hot.catalog),
  }));
}
