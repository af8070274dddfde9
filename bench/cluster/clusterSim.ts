// Measures service times, then simulates the capacity of several nodes, as built and with all calls forwarded.
// Prints the rows of docs/operate/scale.md.
import { median, p99 } from '../base/measure.ts';
import { type Answering, answering } from './answering.ts';
import { LEDGER_MS, type Shape } from './cluster.ts';
import { DEMAND, HOURS, type Kind, mixOf, peakRate, shareBeyond } from './demand.ts';
import { type Elsewhere, NOT_HERE } from './times/elsewhere.ts';
import { handingOn } from './handingOn.ts';
import type { Network } from './network.ts';
import type { Ran } from './run.ts';
import { runCalls, type Saturation, saturationOf } from './saturation.ts';
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
  return [...measured(times), '', ...simulated(times)];
}

function measured(times: ServiceTimes): readonly string[] {
  const { catalog, catalogKind, direct, elsewhere, handedOn, hop, message, question } = times;
  const kinds = (['hot', 'cold', 'sql', 'push'] as const).map((kind) => {
    const { below, beside, catalog: books, loop } = times[kind];
    return `| ${kind} | ${[loop, beside, below, books].map(shown).join(' | ')} |`;
  });
  const heard =
    catalog.heardP50 === undefined
      ? ''
      : `; notifying 7 listeners ${shown(catalog.heardP50)} / ${shown(catalog.heardP99 ?? 0)}`;
  return [
    `| processor ms of a call | loop | other threads | DuckDB | ${catalogKind} |`,
    '|---|---|---|---|---|',
    ...kinds,
    `| hot, at a front | ${shown(hop.front)} | ${shown(hop.beside)} | - | - |`,
    `| hot, additional at the server behind a front | ${shown(hop.added)} | - | - | - |`,
    `| a message between nodes | ${shown(message)} | - | - | - |`,
    `| a quota request in a message | ${shown(question.asked)} | - | - | - |`,
    `| the same, at the serving node, which answers it | ${shown(question.answered)} | - | - | - |`,
    ...(elsewhere === undefined ? ['', NOT_HERE] : measuredElsewhere(elsewhere)),
    '',
    `hot read alone, p50 / p99 ms: ${shown(direct.p50)} / ${shown(direct.p99)}, ` +
      `through a front ${shown(handedOn.p50)} / ${shown(handedOn.p99)}`,
    `commit in ${catalogKind}, p50 / p99 ms: ${shown(catalog.commitP50)} / ` +
      `${shown(catalog.commitP99)}, its processor ${shown(catalog.commitCpu)}${heard}`,
  ];
}

const measuredElsewhere = ({ handedOn, own, report, serving }: Elsewhere): readonly string[] => [
  `| hot, of two nodes, at the serving node | ${shown(serving.loop)} | ${shown(serving.beside)} | - | - |`,
  `| the same, at the other node | ${shown(own.loop)} | ${shown(own.beside)} | - | - |`,
  `| the same, meanwhile reports at the serving node | ${shown(report)} | - | - | - |`,
  '',
  `of reads of memory at the other node ${(handedOn * 100).toFixed(1)} % were forwarded`,
];

const shown = (ms: number): string => (ms >= 0.995 ? ms.toFixed(1) : ms.toFixed(3));

function simulated(times: ServiceTimes): readonly string[] {
  const { elsewhere } = times;
  const own = elsewhere === undefined ? [] : [...simulatedOwn(times, elsewhere), ''];
  return [...own, ...simulatedHandedOn(times)];
}

function simulatedOwn(times: ServiceTimes, elsewhere: Elsewhere): readonly string[] {
  const peak = peakRate(DEMAND);
  const at = (shape: Shape): Answering => answering(times, elsewhere, shape, SEED);
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
    `as built, nodes of ${SMALL_CORES} cores: ${ofSmall((shape) => at(shape).network)}`,
  ];
}

function simulatedHandedOn(times: ServiceTimes): readonly string[] {
  const one = (cores: number): Saturation =>
    saturationOf((rate) => handingOn(times, { ...shapeOf(1, rate), cores }));
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
    ...NODES.map((nodes) => `| ${carriedBy((shape) => handingOn(times, shape), nodes).cells} |`),
    '',
    `all forwarded, nodes of ${SMALL_CORES} cores: ${ofSmall((shape) => handingOn(times, shape))}`,
    `one node, either way: ${sizes.join(', ')}`,
    `of 1.5 bn calls, ${beyond} % arrive in hours that need more than ${PLANNED * 100} % of one node`,
  ];
}

const ofSmall = (networkOf: (shape: Shape) => Network): string =>
  SMALL_NODES.map((nodes) => {
    const { callsPerSecond, first } = saturationOf((rate) =>
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

const quantiles = ({ times }: Ran, kind: Kind): string => {
  const some = times.get(kind) ?? [];
  return `${shown(median(some))} / ${shown(p99(some))}`;
};

/** Billions of calls of a day whose peak the planned load carries. */
const bnADay = (callsPerSecond: number): string =>
  ((callsPerSecond * PLANNED * 86_400) / Math.max(...HOURS) / 1e9).toFixed(2);

interface Carried {
  /** Planned calls per second. */
  readonly planned: number;
  readonly cells: string;
}

function carriedBy(networkOf: (shape: Shape) => Network, nodes: number): Carried {
  const full = saturationOf((rate) => networkOf(shapeOf(nodes, rate)));
  const { callsPerSecond, first, second } = full;
  const planned = callsPerSecond * PLANNED;
  const ran = runCalls(networkOf(shapeOf(nodes, planned)), CALLS);
  const cells = [
    nodes,
    hundreds(callsPerSecond),
    bnADay(callsPerSecond),
    first,
    second,
    quantiles(ran, 'hot'),
    quantiles(ran, 'push'),
  ].join(' | ');
  return { planned, cells };
}

function ownRow(at: (shape: Shape) => Answering, nodes: number, peak: number): string {
  const { cells, planned } = carriedBy((shape) => at(shape).network, nodes);
  const rate = Math.min(peak, planned);
  const { counts, network, quotas } = at(shapeOf(nodes, rate));
  const ran = runCalls(network, CALLS);
  const untilMs = (CALLS * 1_000) / rate;
  const asked = quotas.askedMs.filter((ms) => ms >= untilMs / 5).length;
  const groups = ran.groupsPerSecond[0] ?? 0;
  const ofAll = (count: number): string => ((100 * count) / counts.all).toFixed(1);
  return `| ${[
    cells,
    planned >= peak ? quantiles(ran, 'hot') : 'not carried',
    (mixOf(DEMAND, nodes).cold * 100).toFixed(1),
    ofAll(counts.untold),
    ofAll(counts.quiet),
    ofAll(counts.quota),
    ofAll(counts.waitedQuiet),
    ofAll(counts.waitedQuota),
    // A quota request and its answer; per change: pause, acknowledgement, and the change with the resume.
    Math.round((2 * asked * 1_000) / (untilMs * 0.8)),
    Math.round(groups * 3 * (nodes - 1)),
    Math.round(groups + 1_000 / LEDGER_MS),
  ].join(' | ')} |`;
}
