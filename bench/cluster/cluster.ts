// Shared parts of both designs: nodes with an event loop and cores for DuckDB, a catalog, and the network.
import type { Seeded } from '../../test/soak/crash/rounds/seeded.ts';
import { type Demand, cumulate, type Kind, findPart } from './demand.ts';
import { exponential, type Group, type Regular, type Station, type Step } from './network.ts';
import type { ServiceTimes } from './times/serviceTimes.ts';

export interface Shape {
  readonly nodes: number;
  /** Cores of each node and of PostgreSQL's machine. */
  readonly cores: number;
  readonly callsPerSecond: number;
  readonly demand: Demand;
}

/** One-way latency between machines in one data center: half of a round trip of 0.2 ms. */
export const WAY_MS = 0.1;
/** Group intervals of store/ledger and of pushes. */
export const LEDGER_MS = 50;
const PUSHES_MS = 2;

export const loopOf = (node: number): number => 2 * node;
const duckdbOf = (node: number): number => 2 * node + 1;
/** Stations of PostgreSQL's machine and of the writing node's connection. */
const postgresOf = (nodes: number): number => 2 * nodes;
const connectionOf = (nodes: number): number => 2 * nodes + 1;

/** One core is for the event loop, one for other threads and the system. */
const duckdbCores = (cores: number): number => Math.max(1, cores - 2);

export interface Names {
  readonly loop: (node: number) => string;
  readonly duckdb: (node: number) => string;
}

export function stationsOf({ cores, nodes }: Shape, names: Names): readonly Station[] {
  const each = Array.from({ length: nodes }, (_, node): readonly Station[] => [
    { name: names.loop(node), servers: 1 },
    { name: names.duckdb(node), servers: duckdbCores(cores) },
  ]);
  // A connection processes one statement at a time.
  const connection = { name: 'the connection that writes', servers: 1 };
  return [...each.flat(), { name: 'processors of PostgreSQL', servers: cores }, connection];
}

/** Returns a sampler of call kinds. */
export function kindSampler(mix: Demand['mix']): (random: Seeded) => Kind {
  const kinds = Object.keys(mix) as Kind[];
  const ends = cumulate(kinds.map((kind) => mix[kind]));
  return (random) => kinds[findPart(ends, random.next())] ?? 'hot';
}

/**
 * Steps of a call at the node that answers it, with `more` loop time.
 * @param lender node whose process runs the statement
 */
export function answerSteps(
  times: ServiceTimes,
  kind: Kind,
  node: number,
  more: number,
  random: Seeded,
  executor = node,
): readonly Step[] {
  const { below, loop } = times[kind];
  const at = loopOf(node);
  if (kind === 'hot') return [{ at, ms: loop + more }];
  const half = { at, ms: (loop + more) / 2 };
  if (kind === 'push') return [half, { group: 0 }, half];
  const run = { at: duckdbOf(executor), ms: exponential(random, below) };
  return [half, ...(executor === node ? [run] : remoteSteps(times, node, executor, run)), half];
}

/** Steps of a statement that another node executes. */
function remoteSteps(
  { message: ms }: ServiceTimes,
  node: number,
  executor: number,
  run: Step,
): readonly Step[] {
  const [here, there] = [
    { at: loopOf(node), ms: ms / 2 },
    { at: loopOf(executor), ms },
  ];
  return [here, { waitMs: WAY_MS }, there, run, { waitMs: WAY_MS }, here];
}

/** Steps of a call that a node forwards to another one. */
export function forwardSteps(
  times: ServiceTimes,
  node: number,
  steps: readonly Step[],
): readonly Step[] {
  const half = { at: loopOf(node), ms: times.hop.front / 2 };
  return [half, { waitMs: WAY_MS }, ...steps, { waitMs: WAY_MS }, half];
}

/** Pushes of a window, committed together, then the steps before they are acknowledged. */
export const pushesOf = (
  { catalog }: ServiceTimes,
  nodes: number,
  before: () => readonly Step[],
): Group => ({
  gatherMs: PUSHES_MS,
  steps: () => [...commitSteps(catalog, nodes), ...before()],
});

/** The connection also waits for the disk; the processors do not. */
const commitSteps = (
  { commitCpu, commitP50 }: ServiceTimes['catalog'],
  nodes: number,
  linesMs = 0,
): readonly Step[] => [
  { at: postgresOf(nodes), ms: commitCpu + linesMs },
  { at: connectionOf(nodes), ms: commitP50 + linesMs },
];

/** Commits of the charges of all calls, one per ledger window. */
export function charges(times: ServiceTimes, { callsPerSecond, nodes }: Shape): Regular {
  const rows = (callsPerSecond * LEDGER_MS) / 1_000;
  const steps = commitSteps(times.catalog, nodes, rows * times.hot.catalog);
  return { everyMs: LEDGER_MS, steps: () => steps };
}
