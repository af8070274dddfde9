// Simulated days of a real server: a load each night, corrections and deletions by day, upkeep as its
// timers run it, restarts, a kill, a full disk. After each day the records equal a plain model, and
// the values that could grow over time are recorded.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Seeded, seeded } from '../soak/crash/rounds/seeded.ts';
import { Bars } from './bars.ts';
import {
  checkCounts,
  deleteDay,
  load,
  loadIfRoom,
  push,
  pushIfRoom,
  readAsOf,
  readLast,
} from './client.ts';
import type { DayEntry } from './diary.ts';
import { moveToSmallDisk, type SmallDisk } from './fullDisk.ts';
import { Subject } from './subjectProcess.ts';
import { folderSize } from './trend.ts';

interface MonthOrder {
  readonly days: number;
  readonly keys: number;
  /** Number of days loaded before the first one. */
  readonly daysBefore: number;
  readonly correctionsADay: number;
  readonly deletionsADay: number;
  /** Number of reads of each length at the end of a day. */
  readonly reads: number;
  readonly seed: number;
  /** Retention of versions, if it differs from `subject.ts`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly log: (entry: DayEntry) => void;
}

interface MonthReport {
  readonly entries: readonly DayEntry[];
  /** Steps that this machine could not run. */
  readonly skipped: readonly string[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LOAD_HOUR = 22;
const FULL_DISK_HOUR = 12;
const RESTART_HOUR = 6;
/** Pushed records are flushed at this age. */
const FLUSH_MS = 15_000;
const FIRST_DAY_MS = Date.UTC(2025, 11, 1);
const RESTART_DAYS = 7;
const LENGTHS = [1, 30, 252] as const;
/** Versions of at least this many days exist, by the settings of the subject. */
const KEPT_DAYS = 4;

/** A read at the end of a day, to be repeated later. */
interface Memory {
  readonly ms: number;
  readonly key: number;
  readonly text: string;
}

interface Life {
  readonly order: MonthOrder;
  readonly folder: string;
  readonly bars: Bars;
  readonly random: Seeded;
  readonly memories: Memory[];
  readonly skipped: string[];
  subject: Subject;
}

interface Day {
  readonly day: number;
  readonly startMs: number;
  readonly pushes: number[];
  readonly ticks: number[];
  loadMs: number;
}

export async function liveMonth(order: MonthOrder): Promise<MonthReport> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-month-'));
  const bars = new Bars(order.keys, FIRST_DAY_MS);
  const startMs = FIRST_DAY_MS + order.daysBefore * DAY_MS;
  const subject = await Subject.start(folder, startMs, order.settings);
  const random = seeded(order.seed);
  const life: Life = { order, folder, bars, random, memories: [], skipped: [], subject };
  const entries: DayEntry[] = [];
  try {
    await loadBefore(life);
    for (let day = 1; day <= order.days; day += 1) {
      const entry = await liveDay(life, day, startMs + (day - 1) * DAY_MS);
      entries.push(entry);
      order.log(entry);
    }
    await life.subject.close();
    return { entries, skipped: life.skipped };
  } finally {
    await life.subject[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

async function loadBefore({ order, bars, subject }: Life): Promise<void> {
  const days: string[] = [];
  for (let day = 0; day < order.daysBefore; day += 1) {
    const csv = bars.nextDay();
    days.push(day === 0 ? csv : csv.slice(csv.indexOf('\n') + 1));
    bars.loaded();
  }
  await load(subject, days.join(''), 'before the first day');
}

async function liveDay(life: Life, number: number, startMs: number): Promise<DayEntry> {
  const { order, bars } = life;
  const day: Day = { day: number, startMs, pushes: [], ticks: [], loadMs: 0 };
  for (let hour = 0; hour < 24; hour += 1) {
    await moveTo(life, startMs + hour * HOUR_MS);
    await correct(life, day, share(order.correctionsADay, hour));
    await erase(life, day, share(order.deletionsADay, hour));
    if (hour === RESTART_HOUR && number % RESTART_DAYS === 0) await restart(life, day);
    if (hour === FULL_DISK_HOUR && number === Math.ceil(order.days / 2)) await fullDisk(life, day);
    await moveTo(life, startMs + hour * HOUR_MS + FLUSH_MS);
    await tick(life, day);
    if (hour !== LOAD_HOUR) continue;
    day.loadMs = await load(life.subject, bars.nextDay(), `day ${number}`);
    bars.loaded();
    await tick(life, day);
  }
  return closeDay(life, day);
}

/** The part of a day's work that falls into an hour. */
const share = (daily: number, hour: number): number =>
  Math.floor((daily * (hour + 1)) / 24) - Math.floor((daily * hour) / 24);

async function moveTo({ subject }: Life, ms: number): Promise<void> {
  assert.equal(await subject.order({ order: 'clock', ms }), undefined);
}

async function tick({ subject }: Life, { day, ticks }: Day): Promise<void> {
  const started = performance.now();
  assert.equal(await subject.order({ order: 'tick' }), undefined, `upkeep on day ${day}`);
  ticks.push(performance.now() - started);
}

/** Most corrections concern the last days, some much earlier ones. */
function choose({ bars, random, order }: Life): { key: number; bar: number } {
  const key = random.between(0, order.keys - 1);
  const oldest = random.chance(0.8) ? Math.max(0, bars.barsOfKey - 100) : 0;
  return { key, bar: random.between(oldest, bars.barsOfKey - 1) };
}

async function correct(life: Life, { day, pushes }: Day, count: number): Promise<void> {
  const { bars, random, subject } = life;
  for (let at = 0; at < count; at += 1) {
    const { key, bar } = choose(life);
    const close = random.between(0, 99_999) + 0.5;
    pushes.push(await push(subject, bars.correction(key, bar, close), `push on day ${day}`));
    bars.corrected(key, bar, close);
  }
}

async function erase(life: Life, { day }: Day, count: number): Promise<void> {
  const { bars, subject } = life;
  for (let at = 0; at < count; at += 1) {
    const { key, bar } = choose(life);
    await deleteDay(subject, key, bars.dayOf(bar), `deletion on day ${day}`);
    bars.deletedDay(key, bar);
  }
}

/** Every second restart is a kill, with pushed records that no file has yet. */
async function restart(life: Life, { day, startMs }: Day): Promise<void> {
  const killed = (day / RESTART_DAYS) % 2 === 0;
  if (killed) await life.subject[Symbol.asyncDispose]();
  else await life.subject.close();
  await begin(life, life.folder, startMs + RESTART_HOUR * HOUR_MS);
  await verify(life, `day ${day}, after a ${killed ? 'kill' : 'restart'}`);
}

async function begin(life: Life, folder: string, ms: number): Promise<void> {
  life.subject = await Subject.start(folder, ms, life.order.settings);
}

/** Compares counts and some keys with the model; returns milliseconds of the reads by their length. */
async function verify(
  { bars, order, random, subject }: Life,
  context: string,
  reads = 5,
): Promise<ReadonlyMap<number, readonly number[]>> {
  await checkCounts(subject, bars, context);
  const times = new Map<number, number[]>();
  for (const length of LENGTHS) {
    const some: number[] = [];
    times.set(length, some);
    for (let at = 0; at < reads; at += 1) {
      some.push(await readLast(subject, bars, random.between(0, order.keys - 1), length, context));
    }
  }
  return times;
}

/** Some hours on a disk that fills up: reads go on, writes fail with the reason, nothing is stored partly. */
async function fullDisk(life: Life, day: Day): Promise<void> {
  await life.subject.close();
  const disk = moveToSmallDisk(life.folder);
  const ms = day.startMs + FULL_DISK_HOUR * HOUR_MS;
  if (disk === undefined) life.skipped.push('the full disk: no memory disk may be mounted');
  else {
    try {
      await begin(life, disk.folder, ms);
      await fillUp(life, disk, day.day);
      await life.subject.close();
    } finally {
      await life.subject[Symbol.asyncDispose]();
      disk.leave();
    }
  }
  await begin(life, life.folder, ms);
  await verify(life, `day ${day.day}, back on its own disk`);
}

async function fillUp(life: Life, disk: SmallDisk, day: number): Promise<void> {
  const { bars, random, subject } = life;
  disk.fill();
  // The loads are of the next night: counts and latest bars would reveal a partial one.
  const csv = bars.nextDay();
  assert.ok(!(await loadIfRoom(subject, csv.padEnd(disk.leftBytes * 2, '\n'))));
  // A small load ends with too little space even for its failure record.
  if (await loadIfRoom(subject, csv)) bars.loaded();
  await verify(life, `day ${day}, on a full disk`);
  for (let at = 0; at < 20; at += 1) {
    const { key, bar } = choose(life);
    const close = random.between(0, 99_999) + 0.75;
    if (await pushIfRoom(subject, bars.correction(key, bar, close)))
      bars.corrected(key, bar, close);
  }
  // Upkeep may fail here, but must do no harm.
  await subject.order({ order: 'tick' });
  await verify(life, `day ${day}, after upkeep on a full disk`);
  disk.empty();
  assert.equal(await subject.order({ order: 'tick' }), undefined, 'upkeep after a full disk');
  await verify(life, `day ${day}, after a full disk`);
}

async function closeDay(life: Life, day: Day): Promise<DayEntry> {
  const { bars, folder, order, random } = life;
  const endMs = day.startMs + DAY_MS - 1;
  // The first round is a warm-up, so that no first read after a commit is measured.
  await verify(life, `end of day ${day.day}`);
  const reads = await verify(life, `end of day ${day.day}`, order.reads);
  const key = random.between(0, order.keys - 1);
  const { subject } = life;
  await moveTo(life, endMs);
  life.memories.push({ ms: endMs, key, text: await readAsOf(subject, key, endMs) });
  for (const memory of life.memories.slice(-KEPT_DAYS)) {
    const then = await readAsOf(subject, memory.key, memory.ms);
    assert.equal(then, memory.text, `day ${day.day}: as of ${new Date(memory.ms).toISOString()}`);
  }
  const weight = await subject.weigh();
  const lake = folderSize(join(folder, 'lake'));
  const { snapshots, filesLive, catalogRows, heapBytes, rowsByTable } = await subject.counts();
  return {
    day: day.day,
    records: bars.count,
    reads,
    rowsByTable,
    rssServer: weight.server,
    rssTree: weight.tree,
    heapBytes,
    lakeFiles: lake.files,
    lakeBytes: lake.bytes,
    filesLive,
    snapshots,
    catalogRows,
    catalogBytes: folderSize(folder).bytes - lake.bytes,
    pushes: day.pushes,
    ticks: day.ticks,
    loadMs: day.loadMs,
  };
}
