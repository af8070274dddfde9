// A random history of loads, pushes, purges, compaction and thinning on a recorded disk: the moments of
// each send and acknowledgement, every durable operation, and every commit of the catalog.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { compactDataset } from '../../../jobs/upkeep/compaction.ts';
import { makeUpkeep } from '../../../jobs/upkeep/upkeep.ts';
import { localDisk } from '../../../store/base/disk.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import type { Seeded } from './rounds/seeded.ts';
import { liveOne, type Subjects } from './victim/subjects.ts';
import { type Omission, recordingDisk, Tape } from './rounds/tape.ts';
import type { Track } from './track.ts';
import { commitsOf } from './rounds/walCommits.ts';
import { Writer } from './victim/writer.ts';

/** A data folder that is written once and can be rebuilt in its state at any cut. */
export interface History {
  readonly folder: string;
  readonly tape: Tape;
  /** The catalog's main file: its log was never checkpointed into it. */
  readonly catalog: Buffer;
  readonly wal: Buffer;
  readonly tracks: readonly Track[];
  readonly subjects: Subjects;
  /** Batches of a track that were sent and acknowledged at a moment. */
  counts(track: Track, moment: number): { readonly acknowledged: number; readonly sent: number };
  readonly cuts: readonly Cut[];
  readonly faults: readonly string[];
}

/** Power is lost after a moment and before the next one, with `walBytes` of the log on the disk. */
export interface Cut {
  readonly moment: number;
  readonly walBytes: number;
}

interface HistoryOptions {
  readonly omission?: Omission;
  /** Batches of each writer. */
  readonly batches?: number;
}

const WRITERS = 2;
const BATCHES = 6;
const SUBJECTS = 3;
/** Versions expire after moments, so that the tape includes their end. */
const KEEP = { allMs: 150, hourlyMs: 300, dailyMs: 0 };
const LIVE_MS = 60;

/** Settings of the recorded server and of the servers that open the rebuilt folder. */
export const SETTINGS = {
  TAPEDECK_CHILDREN: '1',
  // The key file is not written through the Disk.
  TAPEDECK_ENCRYPTION_KEY: '5'.repeat(64),
} as const;

export async function recordHistory(
  folder: string,
  random: Seeded,
  { omission = 'nothing', batches = BATCHES }: HistoryOptions = {},
): Promise<History> {
  const catalogPath = join(folder, 'catalog.db');
  mkdirSync(folder, { recursive: true });
  const holder = holdLog(catalogPath);
  const catalog = readFileSync(catalogPath);
  const tape = new Tape(`${catalogPath}-wal`);
  const disk = recordingDisk(localDisk, tape, random.fork(), omission);
  const clock = random.chance(0.5) ? () => Date.now() : wobblingClock(random.fork());
  const names = Array.from({ length: WRITERS }, (_, at) => `w${at}`);
  const writers = names.map((name) => new Writer(name, random.fork()));
  const batchMarks: {
    track: Track;
    moment: number;
    kind: 'sent' | 'acknowledged';
    count: number;
  }[] = [];
  const makeMarker = (kind: 'sent' | 'acknowledged') => (track: Track) => {
    batchMarks.push({ track, kind, count: track.sent, moment: tape.mark(`${kind} ${track.sent}`) });
  };
  const faults: string[] = [];
  const moment = (what: string): number => tape.mark(what);
  const subjects: Subjects = { all: [], dataset: 'L', moment };
  const events = {
    sending: makeMarker('sent'),
    acknowledged: makeMarker('acknowledged'),
    fault: (what: string) => void faults.push(what),
  };
  try {
    tape.mark('opening');
    const seams = { disk, clock, at: (point: string) => void tape.mark(point) };
    const server = await startServer({ folder, settings: SETTINGS, seams });
    tape.mark('started');
    const live = batches === 0 ? undefined : keepUp(server);
    const clients = writers.map((writer) => writer.run(server, events, () => false, batches));
    for (let at = 0; at < SUBJECTS && batches > 0; at += 1) {
      if (!(await liveOne(subjects, server, random))) faults.push('a subject was refused');
    }
    await Promise.all(clients);
    await live?.stop();
    await server.close();
    tape.mark('closed');
    const wal = readFileSync(`${catalogPath}-wal`);
    const counts = (track: Track, moment: number): { acknowledged: number; sent: number } => {
      const mine = batchMarks.filter((one) => one.track === track && one.moment <= moment);
      const most = (kind: string): number =>
        Math.max(0, ...mine.filter((one) => one.kind === kind).map(({ count }) => count));
      return { acknowledged: most('acknowledged'), sent: most('sent') };
    };
    const tracks = writers.flatMap((writer) => writer.tracks);
    const cuts = cutsOf(tape, wal);
    return { folder, tape, catalog, wal, tracks, subjects, counts, cuts, faults };
  } finally {
    holder.close();
  }
}

/** Compacts files and thins versions continuously, while the clients run. */
function keepUp({ tapedeck }: TestServer): { stop(): Promise<void> } {
  const { services } = tapedeck;
  const { expireVersions } = makeUpkeep({ ...services, keep: KEEP });
  let going = true;
  const rounds = async (): Promise<void> => {
    while (going) {
      await sleep(LIVE_MS);
      for (const dataset of services.lake.directory.datasets('WS')) {
        await services.runner.inTurn('WS', dataset.dataset, async () => {
          await compactDataset(dataset, services.ingestion, 3);
        });
      }
      await expireVersions();
    }
  };
  const done = rounds();
  return {
    stop: async () => {
      going = false;
      await done;
    },
  };
}

/**
 * A reader that holds the empty catalog's snapshot: SQLite then never checkpoints the log, so that the
 * log alone is the history of every commit.
 */
function holdLog(path: string): DatabaseSync {
  const holder = new DatabaseSync(path);
  holder.exec('PRAGMA journal_mode = WAL');
  holder.exec('BEGIN');
  holder.prepare('SELECT count(*) FROM sqlite_master').get();
  return holder;
}

/** Wall clocks are adjusted, sometimes backwards: no order may depend on them. */
function wobblingClock(random: Seeded): () => number {
  let offsetMs = 0;
  return () => {
    if (random.chance(0.05)) offsetMs = random.between(-3_000, 3_000);
    return Date.now() + offsetMs;
  };
}

/** Every moment with the log at that time, and every commit between it and the next moment. */
function cutsOf(tape: Tape, wal: Buffer): readonly Cut[] {
  const commits = commitsOf(wal);
  return tape.moments.flatMap(({ walBytes }, moment) => {
    const next = tape.moments[moment + 1]?.walBytes ?? walBytes;
    const now = commits.filter((end) => end <= walBytes).at(-1) ?? 0;
    const between = commits.filter((end) => end > walBytes && end <= next);
    return [now, ...between].map((end) => ({ moment, walBytes: end }));
  });
}
