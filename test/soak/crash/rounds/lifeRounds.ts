// The whole life of a dataset and kill -9: pushes, loads, purges, compaction, thinning and backups
// run concurrently, and the server dies at a crash point of any of them. Acknowledged data is stored
// afterwards, once; purged data is in no file; every version is returned unchanged.
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyBackup } from '../../../../jobs/backup/restore.ts';
import { lookInto } from '../../../base/holders.ts';
import { fileFaults, foreignRows, foreignVersions, unequal, waitForJobs } from '../aftermath.ts';
import { DATASET, faultsOf, loadRow, newTracks, pushing, type Track } from './pushRounds.ts';
import { type Order, type Report, type Seeded, seeded } from './seeded.ts';
import { liveOne, subjectFaults, type Subjects } from '../victim/subjects.ts';
import { COMMIT_POINTS, Victim } from '../victim/victimProcess.ts';
import type { Door } from '../victim/writer.ts';

const WRITERS = 3;
const SUBJECTS_AT_ONCE = 2;
/** Under this load a turn of the dataset takes long: some points are passed late. */
const ROUND_MS_MAX = 10_000;
/** Versions that are compared after each round. */
const VERSIONS_LOOKED_AT = 6;

const SHORT = 'SHORT';

const POINTS = [
  'purge-written',
  'purge-open',
  'purge-committed',
  'purge-removed',
  'retention-open',
  'retention-committed',
  'compaction-written',
  'flush-begun',
  'backup-held',
  'backup-copied',
  'pushes-written',
  'pushes-committed',
  ...COMMIT_POINTS,
] as const;

/** How often a point may be passed before the kill: enough for purges to be answered before it. */
function passesOf(point: (typeof POINTS)[number]): number {
  if (point.startsWith('pushes')) return 200;
  return (COMMIT_POINTS as readonly string[]).includes(point) ? 12 : 1;
}

/** One folder over many kills. */
interface Life {
  readonly folder: string;
  readonly backup: string;
  readonly tracks: readonly Track[];
  readonly subjects: Subjects;
  readonly random: Seeded;
}

export async function lifeRounds({ count, seed, log }: Order): Promise<Report> {
  const random = seeded(seed);
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-life-'));
  let now = 0;
  const subjects = { all: [], dataset: DATASET, moment: () => (now += 1) };
  const tracks = newTracks(WRITERS);
  const [folder, backup] = [join(root, 'data'), join(root, 'backup')];
  const life: Life = { folder, backup, tracks, subjects, random };
  // The points of a purge come first, so that short runs include them.
  const first = random.between(0, count < POINTS.length ? 3 : POINTS.length - 1);
  const failures: string[] = [];
  const killedAt = new Set<string>();
  let victim = await Victim.start(folder);
  try {
    await loadRow(victim.door, 'first', 0);
    await makeShort(victim.door);
    for (let round = 0; round < count; round += 1) {
      const point = POINTS[(first + round) % POINTS.length] ?? POINTS[0];
      await victim.arm({ point, passes: random.between(0, passesOf(point)) });
      await victim.live();
      await traffic(victim, life);
      await victim.exited();
      killedAt.add(victim.killedAt ?? 'no point reached');
      const where = `seed ${seed}, round ${round}, ${victim.killedAt ?? `${point} not reached`}`;
      await victim[Symbol.asyncDispose]();
      victim = await Victim.start(folder);
      const faults = await judgeLife(victim.door, life);
      failures.push(...faults.map((what) => `${where}: ${what}`));
      log(`${where}: ${faults.length === 0 ? 'ok' : faults.join('\n  ')}`);
    }
    for (const what of await victim.close()) failures.push(`seed ${seed}: ${what}`);
  } finally {
    await victim[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  }
  const purged = life.subjects.all.filter((one) => Number.isFinite(one.purged)).length;
  const notes = [
    `${life.subjects.all.length} subjects, ${purged} purges answered`,
    `${tracks.reduce((sum, { acknowledged }) => sum + acknowledged, 0)} newest pushes`,
    `killed at ${killedAt.size} different points`,
  ];
  return { seed, count, failures, notes };
}

async function traffic(victim: Victim, life: Life): Promise<void> {
  const { door } = victim;
  const subject = async (random: Seeded): Promise<void> => {
    while (!victim.isGone) {
      if (!(await liveOne(life.subjects, door, random))) await sleep(5);
    }
  };
  const loader = async (random: Seeded): Promise<void> => {
    for (let at = 0; !victim.isGone; at += 1) {
      const dataset = random.chance(0.5) ? DATASET : SHORT;
      await loadRow(door, `loaded${at % 7}`, at, dataset).catch(() => undefined);
      await sleep(random.between(50, 400));
    }
  };
  const keeper = async (random: Seeded): Promise<void> => {
    while (!victim.isGone) {
      await backUp(door, life).catch(() => undefined);
      await sleep(random.between(100, 1_000));
    }
  };
  const { random } = life;
  const clients = [
    ...life.tracks.map((track) => pushing(victim, track)),
    ...Array.from({ length: SUBJECTS_AT_ONCE }, () => subject(random.fork())),
    loader(random.fork()),
    keeper(random.fork()),
  ];
  await Promise.race([victim.exited(), sleep(ROUND_MS_MAX, undefined, { ref: false })]);
  victim.kill(false);
  await Promise.all(clients);
}

/** A dataset that keeps no history at all. */
async function makeShort(door: Door): Promise<void> {
  await loadRow(door, 'first', 0, SHORT);
  const url = `${door.base}/v1/datasets/WS/${SHORT}?token=${door.secret}`;
  const answer = await fetch(url, { method: 'PATCH', body: '{"historyDays":0}' });
  if (answer.status !== 200) throw new Error(await answer.text());
}

async function backUp({ base }: Door, { folder, backup }: Life): Promise<void> {
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ target: backup });
  const answer = await fetch(`${base}/v1/admin/backup`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
}

async function judgeLife(door: Door, life: Life): Promise<readonly string[]> {
  const { folder, backup, subjects, tracks, random } = life;
  const unfinished = await waitForJobs(folder);
  const answer = await fetch(urlOf(door, ''));
  const text = await answer.text();
  if (answer.status !== 200) return [`answered ${answer.status}: ${text}`];
  const rows = JSON.parse(text) as readonly Readonly<Record<string, unknown>>[];
  const faults = [
    ...unfinished,
    ...(await faultsOf(door, tracks)),
    ...(await fileFaults(folder)),
    ...subjectFaults(subjects, Number.MAX_SAFE_INTEGER, rows, await lookInto(folder)),
    ...(await versionFaults(door, folder, random)),
    ...(await shortFaults(door, folder)),
  ];
  if (existsSync(join(backup, 'backup.json'))) {
    await verifyBackup(backup).catch((error: unknown) => faults.push(`backup: ${String(error)}`));
  }
  return faults;
}

/** A dataset without history has one version, and it is the newest. */
async function shortFaults(door: Door, folder: string): Promise<readonly string[]> {
  const answer = await fetch(urlOf(door, '', SHORT));
  const text = await answer.text();
  if (answer.status !== 200) return [`${SHORT}: ${answer.status} ${text}`];
  const theirs = await foreignRows(folder, SHORT);
  return unequal(JSON.parse(text) as never, theirs).map((what) => `${SHORT}: ${what}`);
}

/** Every version is complete for another reader too, or has expired for both. */
async function versionFaults(
  door: Door,
  folder: string,
  random: Seeded,
): Promise<readonly string[]> {
  const faults: string[] = [];
  const versions = await foreignVersions(folder, DATASET);
  for (let look = 0; look < VERSIONS_LOOKED_AT; look += 1) {
    const version = versions[random.between(0, versions.length - 1)];
    if (version === undefined) break;
    const answer = await fetch(urlOf(door, `&asOf=${version.snapshot}`));
    const text = await answer.text();
    const where = `version ${version.snapshot}`;
    const theirs = await version.rows();
    if (answer.status === 410 || answer.status === 404) {
      if (theirs !== undefined) faults.push(`${where} has ended, and is there for another reader`);
    } else if (answer.status !== 200) faults.push(`${where}: ${answer.status} ${text}`);
    else if (theirs === undefined) faults.push(`${where} is not there for another reader`);
    else faults.push(...unequal(JSON.parse(text) as object[] as never, theirs));
  }
  return faults;
}

const urlOf = ({ base, secret }: Door, more: string, dataset: string = DATASET): string =>
  `${base}/v1/data/WS/${dataset}?limit=10000&token=${secret}${more}`;
