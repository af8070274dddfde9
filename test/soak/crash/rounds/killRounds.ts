// kill -9 against the real server: traffic, a kill at a random time or at a named crash point, a
// restart, and a check that all acknowledged data is stored, once and complete.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkLedger } from './ledgerLaw.ts';
import { keepReading, type Meter } from '../reader.ts';
import { type Order, type Report, type Seeded, seeded } from './seeded.ts';
import { dropBroken, usageOf, verify } from '../verdict.ts';
import { COMMIT_POINTS, type CrashPoint, type Fuse, Victim } from '../victim/victimProcess.ts';
import { Writer } from '../victim/writer.ts';

const POINTS: readonly [CrashPoint, ...CrashPoint[]] = [
  'spool-written',
  'job-recorded',
  ...COMMIT_POINTS,
  'charges-taken',
  'charges-committed',
];

const WRITERS = 3;
const READERS = 3;
/** Rounds on one folder before a new one: the tests are restarts on folders that crashes left. */
const ROUNDS_OF_A_FOLDER = 8;
/** If nothing passes the armed point by then, the server is killed anyway. */
const POINT_MS_MAX = 2_500;

interface Plan {
  /** Undefined: at a random time. */
  readonly fuse: Fuse | undefined;
  readonly afterMs: number;
  /** The DuckDB children die with the server. */
  readonly group: boolean;
  /** A second kill, this long after the restart began or at a point of its recovery. */
  readonly again: { readonly fuse: Fuse | undefined; readonly afterMs: number } | undefined;
}

function planOf(round: number, random: Seeded): Plan {
  const inTurn = POINTS[Math.floor(round / 3) % POINTS.length] ?? POINTS[0];
  const point = round % 3 === 2 ? undefined : round % 3 === 0 ? inTurn : random.pick(POINTS);
  const again = random.chance(0.25);
  const burns = random.chance(0.5);
  return {
    fuse: point === undefined ? undefined : { point, passes: random.between(0, 5) },
    afterMs: random.between(20, 900),
    group: random.chance(0.3),
    again: again
      ? {
          fuse: burns ? { point: random.pick(POINTS), passes: random.between(0, 1) } : undefined,
          afterMs: random.between(50, 900),
        }
      : undefined,
  };
}

export async function crashRounds({ count, seed, log }: Order): Promise<Report> {
  const random = seeded(seed);
  // The points alternate over many short runs too.
  const first = random.between(0, 3 * POINTS.length - 1);
  const failures: string[] = [];
  const tally = { kills: 0, batches: 0, reads: 0, lost: 0, reachMs: 0 };
  let folder: KillFolder | undefined;
  try {
    for (let round = 0; round < count; round += 1) {
      const plan = planOf(first + round, random);
      if (folder !== undefined && folder.rounds >= ROUNDS_OF_A_FOLDER) {
        failures.push(...(await folder.close()).map((what) => `seed ${seed}, close: ${what}`));
        folder = undefined;
      }
      folder ??= await KillFolder.open(random.fork());
      const faults: string[] = [];
      const summary = await folder.round(plan, (what) => faults.push(what), tally);
      const name = `seed ${seed}, round ${round} (${summary})`;
      failures.push(...faults.slice(0, 10).map((what) => `${name}: ${what}`));
      log(`${name}: ${faults.length === 0 ? 'ok' : faults.join('\n  ')}`);
      if (faults.length > 0) folder = await dropBroken(folder);
    }
    failures.push(...((await folder?.close()) ?? []));
    folder = undefined;
  } finally {
    await folder?.[Symbol.asyncDispose]();
  }
  const notes = [
    `${tally.kills} kills, ${tally.batches} batches sent, ${tally.reads} reads judged`,
    `the ledger lost ${tally.lost} messages, none answered over ${tally.reachMs} ms before a kill`,
  ];
  return { seed, count, failures, notes };
}

interface Tally {
  kills: number;
  batches: number;
  reads: number;
  lost: number;
  reachMs: number;
}

/** One data folder and its clients, over many kills. */
class KillFolder implements AsyncDisposable {
  readonly #folder: string;
  readonly #random: Seeded;
  readonly #writers: readonly Writer[];
  #victim: Victim | undefined;
  rounds = 0;

  private constructor(folder: string, random: Seeded) {
    this.#folder = folder;
    this.#random = random;
    this.#writers = Array.from({ length: WRITERS }, (_, at) => new Writer(`w${at}`, random.fork()));
  }

  static async open(random: Seeded): Promise<KillFolder> {
    return new KillFolder(await mkdtemp(join(tmpdir(), 'tapedeck-kill-')), random);
  }

  /** Runs a round; returns a short description of it. */
  async round(plan: Plan, fault: (what: string) => void, tally: Tally): Promise<string> {
    this.rounds += 1;
    try {
      const victim = this.#victim ?? (await this.#firstStart(tally));
      const meter: Meter = [];
      const before = await usageOf(victim.door);
      await this.#traffic(victim, plan, meter, fault);
      tally.kills += 1;
      tally.reads += meter.length;
      const next = await this.#recover(plan, fault, tally);
      this.#victim = next;
      const usage = await usageOf(next.door);
      const tracks = this.#writers.flatMap((writer) => writer.tracks);
      tally.batches += tracks.reduce((sum, { sent }) => sum + sent, 0);
      const finding = checkLedger(meter, usage - before, victim.killedMs);
      for (const what of finding.faults) fault(what);
      tally.lost += finding.lost;
      tally.reachMs = Math.max(tally.reachMs, finding.reachMs);
      const batchCounts = await verify(this.#folder, next.door, tracks, this.#random, fault);
      for (const writer of this.#writers) writer.settle((track) => batchCounts.get(track) ?? 0);
      const left = victim.leftProcesses();
      if (left.length > 0) fault(`processes of the killed server still run: ${left.join(', ')}`);
      await victim[Symbol.asyncDispose]();
      return describeRound(plan, victim);
    } catch (error) {
      fault(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return describeRound(plan, undefined);
    }
  }

  /** Ends the server as an operator would. */
  async close(): Promise<readonly string[]> {
    const faults = (await this.#victim?.close()) ?? [];
    await this[Symbol.asyncDispose]();
    return faults;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#victim?.[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Kills some first starts of a new folder, then starts it and lets it live. */
  async #firstStart(tally: Tally): Promise<Victim> {
    while (this.#random.chance(0.5)) {
      await using early = Victim.launch(this.#folder);
      await sleep(this.#random.between(100, 900));
      early.kill(true);
      await early.exited();
      tally.kills += 1;
    }
    return started(await Victim.start(this.#folder));
  }

  async #traffic(
    victim: Victim,
    plan: Plan,
    meter: Meter,
    fault: (what: string) => void,
  ): Promise<void> {
    const tracks = this.#writers.flatMap((writer) => writer.tracks);
    const stopped = (): boolean => killing || victim.isGone;
    let killing = false;
    if (plan.fuse !== undefined) await victim.arm(plan.fuse);
    const clients = [
      ...this.#writers.map((writer) => writer.run(victim.door, { fault }, stopped)),
      ...Array.from({ length: READERS }, () =>
        keepReading(victim.door, tracks, this.#random.fork(), meter, fault, stopped),
      ),
    ];
    const late = plan.fuse === undefined ? plan.afterMs : POINT_MS_MAX;
    await Promise.race([victim.exited(), sleep(late, undefined, { ref: false })]);
    killing = true;
    victim.kill(plan.group);
    await Promise.all(clients);
    await victim.exited();
    if (plan.group) await victim[Symbol.asyncDispose]();
  }

  /** Restarts the server; if the plan requires it, kills it once more during the restart. */
  async #recover(plan: Plan, fault: (what: string) => void, tally: Tally): Promise<Victim> {
    if (plan.again !== undefined) {
      await using again = Victim.launch(this.#folder, plan.again.fuse);
      await Promise.race([again.exited(), sleep(plan.again.afterMs, undefined, { ref: false })]);
      if (again.isGone && again.killedAt === undefined)
        fault(`a restart ended: ${again.errorOutput}`);
      again.kill(false);
      await again.exited();
      tally.kills += 1;
    }
    return started(await Victim.start(this.#folder));
  }
}

async function started(victim: Victim): Promise<Victim> {
  if (victim.started) return victim;
  const { errorOutput } = victim;
  await victim[Symbol.asyncDispose]();
  throw new Error(`the server did not start again: ${errorOutput}`);
}

function describeRound(plan: Plan, victim: Victim | undefined): string {
  const where = victim?.killedAt ?? (plan.fuse === undefined ? 'random time' : 'no point reached');
  const passes = plan.fuse === undefined ? plan.afterMs : plan.fuse.passes;
  return `${where} ${passes}${plan.group ? ', with children' : ''}${plan.again ? ', twice' : ''}`;
}
