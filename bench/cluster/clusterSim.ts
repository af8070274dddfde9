// What several nodes carry, as they are built and as they could be: service times measured here, then a
// simulation over them. It prints the rows of docs/scale.md.
import { median, p99 } from '../measure.ts';
import { asBuilt } from './asBuilt.ts';
import { LEDGER_MS, type Shape } from './cluster.ts';
import { DEMAND, HOURS, type Kind, mixOf, peakRate, shareBeyond } from './demand.ts';
import { type OwnMemory, ownMemory } from './ownMemory.ts';
import type { Ran } from './run.ts';
import { runCalls, type Saturation, saturationOf } from './saturation.ts';
import { measureServices, type ServiceTimes } from './serviceTimes.ts';

const NODES = [1, 2, 4, 8, 16, 32, 64] as const;
const CORES = 8;
const OTHER_CORES = [2, 4, 16, 32] as const;
const SMALL_CORES = 2;
const SMALL_NODES = [1, 2, 4, 8] as const;
/** An operator plans for so much of what is full at saturation. */
const PLANNED = 0.8;
const CALLS = 100_000;
const SEED = 7;

export async function benchClusterSim(folder: string, rows: number): Promise<readonly string[]> {
  const times = await measureServices(folder, rows);
  return [...measured(times), '', ...simulated(times)];
}

function measured(times: ServiceTimes): readonly string[] {
  const { catalog, catalogKind, direct, handedOn, hop, message } = times;
  const kinds = (['hot', 'cold', 'sql', 'push'] as const).map((kind) => {
    const { below, beside, catalog: books, loop } = times[kind];
    return `| ${kind} | ${[loop, beside, below, books].map(shown).join(' | ')} |`;
  });
  const heard =
    catalog.heardP50 === undefined
      ? ''
      : `; told to 7 who listen ${shown(catalog.heardP50)} / ${shown(catalog.heardP99 ?? 0)}`;
  return [
    `| processor ms of a call | loop | other threads | DuckDB | ${catalogKind} |`,
    '|---|---|---|---|---|',
    ...kinds,
    `| hot, at a front | ${shown(hop.front)} | ${shown(hop.beside)} | - | - |`,
    `| hot, more at the server behind a front | ${shown(hop.added)} | - | - | - |`,
    `| a message between nodes | ${shown(message)} | - | - | - |`,
    '',
    `hot read alone, p50 / p99 ms: ${shown(direct.p50)} / ${shown(direct.p99)}, ` +
      `through a front ${shown(handedOn.p50)} / ${shown(handedOn.p99)}`,
    `commit in ${catalogKind}, p50 / p99 ms: ${shown(catalog.commitP50)} / ` +
      `${shown(catalog.commitP99)}, its processor ${shown(catalog.commitCpu)}${heard}`,
  ];
}

const shown = (ms: number): string => (ms >= 0.995 ? ms.toFixed(1) : ms.toFixed(3));

function simulated(times: ServiceTimes): readonly string[] {
  const peak = peakRate(DEMAND);
  const rows = NODES.map((nodes) => rowOf(times, nodes, peak));
  const one = (cores: number): Saturation =>
    saturationOf((rate) => asBuilt(times, { ...shapeOf(1, rate), cores }));
  const carried = one(CORES).callsPerSecond * PLANNED;
  const beyond = Math.round(shareBeyond(DEMAND, carried) * 100);
  const sizes = OTHER_CORES.map((cores) => {
    const { callsPerSecond, first } = one(cores);
    return `${cores} cores ${hundreds(callsPerSecond)} (${first})`;
  });
  const small = SMALL_NODES.map((nodes) => {
    const { callsPerSecond, first } = saturationOf((rate) =>
      asBuilt(times, { ...shapeOf(nodes, rate), cores: SMALL_CORES }),
    );
    return `${nodes}: ${hundreds(callsPerSecond)} (${first})`;
  });
  return [
    `${CORES} cores a node; hot reads and pushes: p50 / p99 ms at ${PLANNED * 100} % of calls/s; messages` +
      ` and commits at the peak of ${Math.round(peak)} calls/s, or at ${PLANNED * 100} % where that is less`,
    '',
    '| nodes | as built: calls/s | bn a day | full first | next | hot | push' +
      ' | own memories: calls/s | bn a day | full first | next | hot | push' +
      ' | hot at the peak | cold % | quota/s | bus/s | commits/s |',
    `|${'---|'.repeat(18)}`,
    ...rows,
    '',
    `as built, one node: ${sizes.join(', ')}`,
    `as built, nodes of ${SMALL_CORES} cores: ${small.join(', ')}`,
    `of 1.5 bn calls, ${beyond} % come in hours that ask for more than ${PLANNED * 100} % of one node`,
  ];
}

const shapeOf = (nodes: number, callsPerSecond: number): Shape => ({
  ...{ nodes, callsPerSecond, cores: CORES, demand: DEMAND },
});

const hundreds = (callsPerSecond: number): number => Math.round(callsPerSecond / 100) * 100;

const quantiles = ({ times }: Ran, kind: Kind): string => {
  const some = times.get(kind) ?? [];
  return `${shown(median(some))} / ${shown(p99(some))}`;
};

/** What a day may have whose peak is carried by what is planned for. */
const bnADay = (callsPerSecond: number): string =>
  ((callsPerSecond * PLANNED * 86_400) / Math.max(...HOURS) / 1e9).toFixed(2);

function rowOf(times: ServiceTimes, nodes: number, peak: number): string {
  const built = saturationOf((rate) => asBuilt(times, shapeOf(nodes, rate)));
  const builtRan = runCalls(asBuilt(times, shapeOf(nodes, built.callsPerSecond * PLANNED)), CALLS);
  const nextAt = (rate: number): OwnMemory => ownMemory(times, shapeOf(nodes, rate), SEED);
  const next = saturationOf((rate) => nextAt(rate).network);
  const planned = next.callsPerSecond * PLANNED;
  const nextRan = runCalls(nextAt(planned).network, CALLS);
  const carries = planned >= peak;
  const rate = Math.min(peak, planned);
  const { network, quotas } = nextAt(rate);
  const ran = runCalls(network, CALLS);
  const untilMs = (CALLS * 1_000) / rate;
  const asked = quotas.askedMs.filter((ms) => ms >= untilMs / 5).length;
  // A question and its answer; what the writing node asks goes nowhere.
  const quota = nodes === 1 ? 0 : (2 * asked * 1_000) / (untilMs * 0.8);
  const groups = ran.groupsPerSecond[0] ?? 0;
  return `| ${[
    nodes,
    ...[hundreds(built.callsPerSecond), bnADay(built.callsPerSecond), built.first, built.second],
    ...[quantiles(builtRan, 'hot'), quantiles(builtRan, 'push')],
    ...[hundreds(next.callsPerSecond), bnADay(next.callsPerSecond), next.first, next.second],
    ...[quantiles(nextRan, 'hot'), quantiles(nextRan, 'push')],
    carries ? quantiles(ran, 'hot') : 'not carried',
    (mixOf(DEMAND, nodes).cold * 100).toFixed(1),
    Math.round(quota),
    Math.round(groups * 2 * (nodes - 1)),
    Math.round(groups + (nodes * 1_000) / LEDGER_MS),
  ].join(' | ')} |`;
}
