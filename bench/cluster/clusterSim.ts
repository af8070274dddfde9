// Measures service times, then simulates the capacity of several nodes, as built and with all calls
// forwarded. Prints the rows of docs/contributing/scale.md.
import { median, p99 } from '../base/measure.ts';
import { type ReplicaReads, replicaReads } from './replicaReads.ts';
import { LEDGER_MS, type Shape } from './cluster.ts';
import { DEMAND, HOURS, type Kind, mixOf, peakRate, shareBeyond } from './demand.ts';
import { type ReplicaTimes, NOT_INSTALLED } from './times/replicaTimes.ts';
import { forwardAll } from './forwardAll.ts';
import type { Network } from './network.ts';
import type { RunResult } from './run.ts';
import { runCalls, type Saturation, findSaturation } from './saturation.ts';
import { measureServices, type ServiceTimes } from './times/serviceTimes.ts';

const NODES = [1, 2, 4, 8, 16, 32, 64] as const;
const CORES = 8;
const OTHER_CORES = [2, 4, 16, 32] as const;
const SMALL_CORES = 2;
const SMALL_NODES = [1, 2, 4, 8] as const;
/** Planned share of the load at saturation. */
const PLANNED = 0.8;
const CALLS = 100_000;
const SEED = 7;

export async function benchClusterSim(folder: string, rows: number): Promise<readonly string[]> {
  const times = await measureServices(folder, rows);
  return [...serviceRows(times), '', ...simulate(times)];
}

function serviceRows(times: ServiceTimes): readonly string[] {
  const { catalog, catalogKind, direct, replica, forwarded, hop, message, quotaRequest } = times;
  const kinds = (['hot', 'cold', 'sql', 'push'] as const).map((kind) => {
    const { below, beside, catalog: books, loop } = times[kind];
    return `| ${kind} | ${[loop, beside, below, books].map(formatMs).join(' | ')} |`;
  });
  const notification =
    catalog.heardP50 === undefined
      ? ''
      : `; notifying 7 listeners ${formatMs(catalog.heardP50)} / ${formatMs(catalog.heardP99 ?? 0)}`;
  return [
    `| processor ms of a call | loop | other threads | DuckDB | ${catalogKind} |`,
    '|---|---|---|---|---|',
    ...kinds,
    `| hot, at a front | ${formatMs(hop.front)} | ${formatMs(hop.beside)} | - | - |`,
    `| hot, additional at the server behind a front | ${formatMs(hop.added)} | - | - | - |`,
    `| a message between nodes | ${formatMs(message)} | - | - | - |`,
    `| a quota request in a message | ${formatMs(quotaRequest.senderMs)} | - | - | - |`,
    `| the same, at the serving node, which answers it | ${formatMs(quotaRequest.lessorMs)} | - | - | - |`,
    ...(replica === undefined ? ['', NOT_INSTALLED] : replicaRows(replica)),
    '',
    `hot read alone, p50 / p99 ms: ${formatMs(direct.p50)} / ${formatMs(direct.p99)}, ` +
      `through a front ${formatMs(forwarded.p50)} / ${formatMs(forwarded.p99)}`,
    `commit in ${catalogKind}, p50 / p99 ms: ${formatMs(catalog.commitP50)} / ` +
      `${formatMs(catalog.commitP99)}, its processor ${formatMs(catalog.commitCpu)}${notification}`,
  ];
}

const replicaRows = ({ forwarded, own, report, serving }: ReplicaTimes): readonly string[] => [
  `| hot, two nodes, at the serving node | ${formatMs(serving.loop)} | ${formatMs(serving.beside)} | - | - |`,
  `| the same, at the other node | ${formatMs(own.loop)} | ${formatMs(own.beside)} | - | - |`,
  `| the same, meanwhile reports at the serving node | ${formatMs(report)} | - | - | - |`,
  '',
  `of reads of memory at the other node ${(forwarded * 100).toFixed(1)} % were forwarded`,
];

const formatMs = (ms: number): string => (ms >= 0.995 ? ms.toFixed(1) : ms.toFixed(3));

function simulate(times: ServiceTimes): readonly string[] {
  const { replica } = times;
  const own = replica === undefined ? [] : [...simulateReplicas(times, replica), ''];
  return [...own, ...simulateForwarding(times)];
}

function simulateReplicas(times: ServiceTimes, replica: ReplicaTimes): readonly string[] {
  const peak = peakRate(DEMAND);
  const at = (shape: Shape): ReplicaReads => replicaReads(times, replica, shape, SEED);
  return [
    `as built, ${CORES} cores a node; hot reads and pushes: p50 / p99 ms at ${PLANNED * 100} % of calls/s;` +
      ` the rest at the peak of ${Math.round(peak)} calls/s, or at ${PLANNED * 100} % where that is less`,
    '',
    '| nodes | calls/s | bn a day | full first | next | hot | push | hot at the peak | cold %' +
      ' | reads forwarded %: not followed | paused | no quota | reads that waited %: paused | quota' +
      ' | quota/s | changes/s | commits/s |',
    `|${'---|'.repeat(17)}`,
    ...NODES.map((nodes) => ownRow(at, nodes, peak)),
    '',
    `as built, nodes of ${SMALL_CORES} cores: ${smallNodes((shape) => at(shape).network)}`,
  ];
}

function simulateForwarding(times: ServiceTimes): readonly string[] {
  const one = (cores: number): Saturation =>
    findSaturation((rate) => forwardAll(times, { ...shapeOf(1, rate), cores }));
  const beyond = Math.round(shareBeyond(DEMAND, one(CORES).callsPerSecond * PLANNED) * 100);
  const sizes = OTHER_CORES.map((cores) => {
    const { callsPerSecond, first } = one(cores);
    return `${cores} cores ${hundreds(callsPerSecond)} (${first})`;
  });
  return [
    'all forwarded (TAPEDECK_NODE_READS=off), the same:',
    '',
    '| nodes | calls/s | bn a day | full first | next | hot | push |',
    `|${'---|'.repeat(7)}`,
    ...NODES.map(
      (nodes) => `| ${measureCapacity((shape) => forwardAll(times, shape), nodes).cells} |`,
    ),
    '',
    `all forwarded, nodes of ${SMALL_CORES} cores: ${smallNodes((shape) => forwardAll(times, shape))}`,
    `one node, either way: ${sizes.join(', ')}`,
    `of 1.5 bn calls, ${beyond} % arrive in hours that need more than ${PLANNED * 100} % of one node`,
  ];
}

const smallNodes = (networkOf: (shape: Shape) => Network): string =>
  SMALL_NODES.map((nodes) => {
    const { callsPerSecond, first } = findSaturation((rate) =>
      networkOf({ ...shapeOf(nodes, rate), cores: SMALL_CORES }),
    );
    return `${nodes}: ${hundreds(callsPerSecond)} (${first})`;
  }).join(', ');

const shapeOf = (nodes: number, callsPerSecond: number): Shape => ({
  nodes,
  callsPerSecond,
  cores: CORES,
  demand: DEMAND,
});

const hundreds = (callsPerSecond: number): number => Math.round(callsPerSecond / 100) * 100;

const quantiles = ({ times }: RunResult, kind: Kind): string => {
  const some = times.get(kind) ?? [];
  return `${formatMs(median(some))} / ${formatMs(p99(some))}`;
};

/** Billions of calls of a day whose peak the planned load carries. */
const bnADay = (callsPerSecond: number): string =>
  ((callsPerSecond * PLANNED * 86_400) / Math.max(...HOURS) / 1e9).toFixed(2);

interface Capacity {
  /** Planned calls per second. */
  readonly planned: number;
  readonly cells: string;
}

function measureCapacity(networkOf: (shape: Shape) => Network, nodes: number): Capacity {
  const full = findSaturation((rate) => networkOf(shapeOf(nodes, rate)));
  const { callsPerSecond, first, second } = full;
  const planned = callsPerSecond * PLANNED;
  const result = runCalls(networkOf(shapeOf(nodes, planned)), CALLS);
  const cells = [
    nodes,
    hundreds(callsPerSecond),
    bnADay(callsPerSecond),
    first,
    second,
    quantiles(result, 'hot'),
    quantiles(result, 'push'),
  ].join(' | ');
  return { planned, cells };
}

function ownRow(at: (shape: Shape) => ReplicaReads, nodes: number, peak: number): string {
  const { cells, planned } = measureCapacity((shape) => at(shape).network, nodes);
  const rate = Math.min(peak, planned);
  const { counts, network, quotas } = at(shapeOf(nodes, rate));
  const result = runCalls(network, CALLS);
  const untilMs = (CALLS * 1_000) / rate;
  const messageCount = quotas.requestTimesMs.filter((ms) => ms >= untilMs / 5).length;
  const groups = result.groupsPerSecond[0] ?? 0;
  const ofAll = (count: number): string => ((100 * count) / counts.all).toFixed(1);
  return `| ${[
    cells,
    planned >= peak ? quantiles(result, 'hot') : 'not carried',
    (mixOf(DEMAND, nodes).cold * 100).toFixed(1),
    ofAll(counts.unfollowed),
    ofAll(counts.paused),
    ofAll(counts.quota),
    ofAll(counts.waitedPause),
    ofAll(counts.waitedQuota),
    // A quota request and its answer; per change: pause, acknowledgement, and the change with the resume.
    Math.round((2 * messageCount * 1_000) / (untilMs * 0.8)),
    Math.round(groups * 3 * (nodes - 1)),
    Math.round(groups + 1_000 / LEDGER_MS),
  ].join(' | ')} |`;
}
