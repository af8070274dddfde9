// Pushed records and kill -9: writers push rising versions of their own record, each replacing the one
// before, loads trigger flushes continuously, and the server dies at a named point. Acknowledged records
// are stored afterwards, once, and no record that was never sent.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Report, type Seeded, seeded } from './seeded.ts';
import { COMMIT_POINTS, Victim } from '../victim/victimProcess.ts';
import type { Door } from '../victim/writer.ts';

const WRITERS = 6;
const ROUND_MS_MAX = 4_000;
const POINTS = ['pushes-written', 'pushes-committed', ...COMMIT_POINTS] as const;

export const DATASET = 'PUSHED';

/** Versions of one writer's record: the newest that was sent, and the newest acknowledged. */
export interface Track {
  readonly symbol: string;
  sent: number;
  acknowledged: number;
}

interface Order {
  readonly count: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** Kills the server of one folder `count` times. */
export async function pushRounds({ count, seed, log }: Order): Promise<Report> {
  const random = seeded(seed);
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-pushes-'));
  const tracks = newTracks(WRITERS);
  const failures: string[] = [];
  let pushes = 0;
  let victim = await Victim.start(folder);
  try {
    await loadRow(victim.door, 'first', 0);
    for (let round = 0; round < count; round += 1) {
      const fuse = { point: random.pick(POINTS), passes: random.between(0, 6) };
      await victim.arm(fuse);
      pushes += await traffic(victim, tracks, random);
      await victim.exited();
      const where = `seed ${seed}, round ${round}, ${victim.killedAt ?? 'no point reached'}`;
      await victim[Symbol.asyncDispose]();
      victim = await Victim.start(folder);
      for (const what of await faultsOf(victim.door, tracks)) failures.push(`${where}: ${what}`);
    }
    for (const what of await victim.close()) failures.push(`seed ${seed}: ${what}`);
  } finally {
    await victim[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
  log(`seed ${seed}: ${count} kills, ${pushes} pushes acknowledged`);
  return { seed, count, failures, notes: [`${pushes} pushes acknowledged`] };
}

export const newTracks = (count: number): readonly Track[] =>
  Array.from({ length: count }, (_, at) => ({ symbol: `W${at}`, sent: 0, acknowledged: 0 }));

/** Pushes rising versions of a record until the server is gone or `over`; returns the acknowledged count. */
export async function pushing(victim: Victim, track: Track, over?: AbortSignal): Promise<number> {
  let pushes = 0;
  while (!victim.isGone && over?.aborted !== true) {
    track.sent += 1;
    const version = track.sent;
    if (!(await push(victim.door, track.symbol, version))) continue;
    track.acknowledged = version;
    pushes += 1;
  }
  return pushes;
}

async function traffic(victim: Victim, tracks: readonly Track[], random: Seeded): Promise<number> {
  const { door } = victim;
  // Each load's turn begins with a flush.
  const loader = async (): Promise<number> => {
    for (let at = 0; !victim.isGone; at += 1) {
      await loadRow(door, 'loaded', at).catch(() => undefined);
      await sleep(random.between(5, 60));
    }
    return 0;
  };
  const clients = [...tracks.map((track) => pushing(victim, track)), loader()];
  await Promise.race([victim.exited(), sleep(ROUND_MS_MAX, undefined, { ref: false })]);
  victim.kill(false);
  return (await Promise.all(clients)).reduce((sum, pushes) => sum + pushes, 0);
}

async function push({ base, secret }: Door, symbol: string, version: number): Promise<boolean> {
  const url = `${base}/v1/record/WS/${DATASET}?duplicateKeyHandling=replace&token=${secret}`;
  const body = JSON.stringify({ symbol, date: '2020-01-01', version });
  try {
    const answer = await fetch(url, { method: 'POST', body });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

export async function loadRow(
  { base, secret }: Door,
  symbol: string,
  version: number,
  dataset: string = DATASET,
): Promise<void> {
  const how = 'wait=true&duplicateKeyHandling=replace&key=symbol&date=date';
  const url = `${base}/v1/data/WS/${dataset}?${how}&token=${secret}`;
  const body = `symbol,date,version\n${symbol},2020-01-01,${version}\n`;
  const answer = await fetch(url, { method: 'POST', body });
  await answer.arrayBuffer();
}

interface Row {
  readonly symbol: string;
  readonly version: number;
}

export async function faultsOf(
  { base, secret }: Door,
  tracks: readonly Track[],
): Promise<readonly string[]> {
  const answer = await fetch(`${base}/v1/data/WS/${DATASET}?limit=1000&token=${secret}`);
  const text = await answer.text();
  if (answer.status !== 200) return [`answered ${answer.status}: ${text}`];
  const rows = JSON.parse(text) as readonly Row[];
  return tracks.flatMap(({ symbol, sent, acknowledged }) => {
    const mine = rows.filter((row) => row.symbol === symbol);
    if (mine.length === 0 && acknowledged === 0) return [];
    const version = mine[0]?.version ?? -1;
    const good = mine.length === 1 && version >= acknowledged && version <= sent;
    const summary = `${mine.length} records of ${symbol}, version ${version}`;
    return good ? [] : [`${summary}: ${acknowledged} was acknowledged, ${sent} sent`];
  });
}
