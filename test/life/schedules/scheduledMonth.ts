// A simulated month of schedules against a real server: sources with faults, kills, downtime,
// a clock that goes back. At its end the history accounts for every due time once, and
// each dataset has every record of its source once.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Seeded, seeded } from '../../soak/crash/rounds/seeded.ts';
import { dueTimes } from './cronOracle.ts';
import { FaultySources, valueAt } from './faultySources.ts';
import { Subject } from '../subjectProcess.ts';

interface ScheduledOrder {
  readonly schedules: number;
  readonly days: number;
  readonly seed: number;
}

interface ScheduledReport {
  readonly failures: readonly string[];
  readonly summary: Readonly<Record<string, unknown>>;
}

interface Planned {
  readonly id: string;
  readonly dataset: string;
  readonly cron: string;
  readonly missedRuns: 'once' | 'skip' | 'all';
}

interface RunView {
  readonly due: number;
  readonly dueRuns: number;
  readonly attempt: number;
  readonly outcome: string;
  readonly status: string | null;
  readonly error: string | null;
  readonly created: number;
}

interface World {
  readonly folder: string;
  readonly sources: FaultySources;
  readonly random: Seeded;
  readonly planned: Planned[];
  readonly tally: Record<string, number>;
  subject: Subject;
}

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 1, 1, 0, 0, 30);
const ATTEMPTS = 3;
/** Share of the hours in which the server is killed. */
const KILLED_HOURS = 0.04;
const REPORTED_MAX = 20;
const SETTINGS = {
  TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on',
  TAPEDECK_SOURCE_TIMEOUT: '10000',
  TAPEDECK_LOG: 'silent',
};
/** Shares of a hundred schedules: most run daily. */
const CRONS: readonly (readonly [least: number, make: (random: Seeded) => string])[] = [
  [99, () => '*/30 * * * *'],
  [96, (random) => `${random.between(0, 59)} * * * *`],
  [80, (random) => `${random.between(0, 59)} */6 * * *`],
  [70, (random) => `${random.between(0, 59)} ${random.between(0, 23)} * * 1-5`],
  [0, (random) => `${random.between(0, 59)} ${random.between(0, 23)} * * *`],
];

export async function scheduledMonth(order: ScheduledOrder): Promise<ScheduledReport> {
  const random = seeded(order.seed);
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-schedules-'));
  await using sources = await FaultySources.open(random.fork());
  const subject = await Subject.start(folder, START_MS, SETTINGS);
  const world: World = {
    folder,
    sources,
    random,
    subject,
    planned: [],
    tally: {
      kills: 0,
      downHours: 0,
    },
  };
  try {
    for (let at = 0; at < order.schedules; at += 1) await plan(world, at);
    const endMs = await live(world, order.days);
    const failures = await verify(world, endMs);
    await world.subject.close();
    const summary = { ...world.tally, answers: sources.counts, schedules: order.schedules };
    return { failures: failures.slice(0, REPORTED_MAX), summary };
  } finally {
    await world.subject[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

async function plan(world: World, at: number): Promise<void> {
  const { random, sources } = world;
  const dice = random.between(0, 99);
  const randomCron = CRONS.find(([least]) => dice >= least)?.[1](random) ?? '0 0 * * *';
  // The first schedule has its first due time right after the start.
  const cron = at === 0 ? '1 * * * *' : randomCron;
  const missedRuns = random.pick(['once', 'skip', 'all'] as const);
  const dataset = `D${at}`;
  const source = { type: 'HTTP', url: sources.urlOf(dataset) };
  const { dataSourceId } = await ask(world, 'POST', '/data-sources/WS', source);
  const { ingestionScheduleId: id } = await ask(world, 'POST', '/ingestion-schedules/WS', {
    dataSourceId,
    datasetId: dataset,
    cron,
    missedRuns,
    columnMapping: {
      key: 'key',
      date: 'day',
    },
    attempts: ATTEMPTS,
    retryWaitSeconds: 120,
  });
  world.planned.push({ id: String(id), dataset, cron, missedRuns });
}

/** Plays hour after hour, with kills; returns the end time. */
async function live(world: World, days: number): Promise<number> {
  const { random, tally } = world;
  const endMs = START_MS + days * 24 * HOUR_MS;
  let ms = START_MS;
  while (ms < endMs) {
    const until = Math.min(endMs, ms + HOUR_MS);
    const hour = world.subject.order({ order: 'schedules', fromMs: ms, untilMs: until });
    if (!random.chance(KILLED_HOURS)) {
      const failed = await hour;
      if (failed !== undefined) throw new Error(`an hour failed: ${failed}`);
      ms = until;
      continue;
    }
    await new Promise((resolve) => setTimeout(resolve, random.between(0, 1_500)));
    await world.subject[Symbol.asyncDispose]();
    await hour;
    tally['kills'] = (tally['kills'] ?? 0) + 1;
    // Down for hours, or restarted immediately with a clock that went back.
    const down = random.chance(0.5) ? random.between(1, 30) * HOUR_MS : 0;
    tally['downHours'] = (tally['downHours'] ?? 0) + down / HOUR_MS;
    ms = Math.min(endMs, ms + down);
    world.subject = await Subject.start(world.folder, ms, SETTINGS);
  }
  // It may have restarted at the very end.
  await world.subject.order({ order: 'schedules', fromMs: endMs, untilMs: endMs });
  return endMs;
}

async function verify(world: World, endMs: number): Promise<readonly string[]> {
  const failures: string[] = [];
  const { sources, tally } = world;
  for (const planned of world.planned) {
    const runs = await historyOf(world, planned);
    failures.push(...faultsOf(planned, runs, endMs).map((what) => `${planned.dataset}: ${what}`));
    for (const { outcome, status } of runs) {
      const name = status === null ? outcome : `${outcome} ${status}`;
      tally[name] = (tally[name] ?? 0) + 1;
    }
  }
  // The next run loads the records that were missed because of faults.
  sources.faults = 0;
  for (const planned of world.planned) {
    const path = `/ingestion-schedules/WS/${planned.id}/run?wait=true`;
    await ask(world, 'POST', path, undefined);
    failures.push(...(await recordFaults(world, planned)));
  }
  return failures;
}

/** All runs of a schedule, oldest first. */
async function historyOf(world: World, { id }: Planned): Promise<readonly RunView[]> {
  const runs: RunView[] = [];
  for (;;) {
    const path = `/ingestion-history/WS/${id}?first=1000&sort=asc&offset=${runs.length}`;
    const page = (await ask(world, 'GET', path, undefined)) as unknown as readonly RunView[];
    runs.push(...page);
    if (page.length < 1_000) return runs;
  }
}

/** Checks that every due time is in exactly one run, or in one that is marked as skipped. */
function faultsOf(
  { cron, missedRuns }: Planned,
  runs: readonly RunView[],
  endMs: number,
): readonly string[] {
  const due = [START_MS, ...dueTimes(cron, START_MS, endMs)];
  const faults: string[] = [];
  const covered = new Map<number, number>();
  const first = runs.filter(({ attempt }) => attempt <= 1);
  for (const run of first) {
    // The last of them: the first due time may be half a minute after the start.
    const from = due.findLastIndex(
      (ms) => Math.abs(ms - run.due) < 60_000 && ms <= run.due + 1_000,
    );
    if (from < 0) faults.push(`a run was due at no due time: ${JSON.stringify(run)}`);
    for (let at = from; at >= 0 && at < from + run.dueRuns; at += 1) {
      covered.set(at, (covered.get(at) ?? 0) + 1);
    }
    if (missedRuns === 'all' && run.dueRuns !== 1) faults.push('one run for several due times');
    if (missedRuns !== 'skip' && run.outcome !== 'RUN') faults.push(`a run was ${run.outcome}`);
    if (run.outcome === 'RUN' && run.status !== 'INGESTED' && run.status !== 'ERROR') {
      faults.push(`a run is ${run.status} at the end`);
    }
  }
  const times = due.map((_, at) => covered.get(at) ?? 0);
  const lost = times.filter((count) => count === 0).length;
  const doubled = times.filter((count) => count > 1).length;
  if (lost > 0) faults.push(`${lost} of ${due.length} due times (${cron}) in no run`);
  if (doubled > 0) faults.push(`${doubled} of ${due.length} due times (${cron}) in two runs`);
  return [...faults, ...retryFaults(runs)];
}

/** Transient faults are retried, up to three times; permanent ones are not. */
function retryFaults(runs: readonly RunView[]): readonly string[] {
  const faults: string[] = [];
  for (const tries of Map.groupBy(runs, ({ due }) => due).values()) {
    const ordered = tries
      .filter(({ attempt }) => attempt > 0)
      .sort((a, b) => a.attempt - b.attempt);
    ordered.forEach((run, at) => {
      if (run.attempt !== at + 1) faults.push(`attempt ${run.attempt} came as number ${at + 1}`);
      if (at === ordered.length - 1) return;
      if (run.status !== 'ERROR') faults.push(`what ended in ${run.status} was tried again`);
      if (/\b404\b/.test(run.error ?? '')) faults.push(`tried again: ${run.error}`);
    });
    if (ordered.length > ATTEMPTS) faults.push(`${ordered.length} attempts, of ${ATTEMPTS}`);
  }
  return faults;
}

/** Checks for all records of the source, each once and unchanged. */
async function recordFaults(world: World, { dataset }: Planned): Promise<readonly string[]> {
  const expectedCount = world.sources.recordsOf(dataset);
  const sql = `SELECT count(*) AS n, count(DISTINCT item) AS d, max(item) AS most,
    sum(value) AS total FROM ${dataset}`;
  const path = `/sql-query/WS?sqlQuery=${encodeURIComponent(sql)}`;
  const [row] = (await ask(world, 'GET', path, undefined)) as unknown as readonly object[];
  let total = 0;
  for (let at = 0; at < expectedCount; at += 1) total += valueAt(at);
  const expected = { n: expectedCount, d: expectedCount, most: expectedCount - 1, total };
  const same = JSON.stringify(row) === JSON.stringify(expected);
  return same ? [] : [`${dataset} has ${JSON.stringify(row)}, not ${JSON.stringify(expected)}`];
}

async function ask(
  { subject }: World,
  method: string,
  path: string,
  value: object | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const body = value === undefined ? {} : { body: JSON.stringify(value) };
  const headers = { authorization: `Bearer ${subject.door.secret}` };
  const answer = await fetch(`${subject.door.base}/v1${path}`, { method, headers, ...body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}
