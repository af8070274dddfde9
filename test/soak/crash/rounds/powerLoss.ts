// Power loss: random histories on a recorded disk, replayed up to random points without the unsynced data,
// and opened again by the real server.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTapedeck } from '../../../../app/main.ts';
import { stockedProcesses } from '../../../base/childStock.ts';
import { lookInto } from '../../../base/holders.ts';
import { stockedThreads } from '../../../base/threadStock.ts';
import { readSettings } from '../../../../store/base/settings/settings.ts';
import { fileFaults, foreignRows, unequal, waitForJobs } from '../aftermath.ts';
import { DATASET_NAMES, seenIn } from './batches.ts';
import { type Cut, type History, recordHistory, SETTINGS } from '../history.ts';
import { readRows } from '../reader.ts';
import { rebuild } from '../remains.ts';
import { type Order, type Report, type Seeded, seeded } from './seeded.ts';
import { subjectFaults } from '../victim/subjects.ts';
import type { Omission } from './tape.ts';
import { judge } from '../track.ts';
import { type Core, openCore } from '../../../../app/core.ts';

/** Recording a history takes about as long as replaying this many of its prefixes. */
const PREFIXES_OF_A_HISTORY = 25;

const TOKENS = {
  publishable: 'pk_00000000000000000000000000000001',
  secret: 'sk_00000000000000000000000000000002',
} as const;

export const powerLossPrefixes = (order: Order): Promise<Report> => replay(order, 'nothing');

/** Replays prefixes for a product that omits some syncs. */
export async function replay(order: Order, omission: Omission): Promise<Report> {
  const { count, seed, log } = order;
  const random = seeded(seed);
  const failures: string[] = [];
  let places = 0;
  for (let done = 0; done < count; done += PREFIXES_OF_A_HISTORY) {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-power-'));
    try {
      const history = await recordHistory(folder, random.fork(), { omission });
      places += history.cuts.length;
      failures.push(...history.faults.map((what) => `seed ${seed}, while recording: ${what}`));
      const most = Math.min(PREFIXES_OF_A_HISTORY, count - done);
      for (let prefix = 0; prefix < most; prefix += 1) {
        const cut = history.cuts[random.between(0, history.cuts.length - 1)];
        if (cut === undefined) throw new Error('the history is empty');
        const name = `seed ${seed}, prefix ${done + prefix} (${describeCut(history, cut)})`;
        const faults = await replayOne(history, cut, random.fork());
        failures.push(...faults.slice(0, 10).map((what) => `${name}: ${what}`));
        log(`${name}: ${faults.length === 0 ? 'ok' : faults.join('\n  ')}`);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return { seed, count, failures, notes: [`${count} of ${places} places in the histories`] };
}

/** Replays every cut of a first start, before anything was loaded. */
export async function firstStartCuts({ seed, log }: Omit<Order, 'count'>): Promise<Report> {
  const random = seeded(seed);
  const failures: string[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-first-'));
  try {
    const history = await recordHistory(folder, random.fork(), { batches: 0 });
    const { cuts } = history;
    for (const cut of cuts) {
      const name = `seed ${seed}, first start (${describeCut(history, cut)})`;
      const faults = await replayOne(history, cut, random.fork());
      failures.push(...faults.map((what) => `${name}: ${what}`));
      log(`${name}: ${faults.length === 0 ? 'ok' : faults.join('\n  ')}`);
    }
    return { seed, count: cuts.length, failures, notes: [`${cuts.length} places`] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function describeCut({ tape }: History, cut: Cut): string {
  const what = tape.moments[cut.moment]?.what ?? 'the start';
  return `moment ${cut.moment} of ${tape.moments.length}, ${what}, log ${cut.walBytes}`;
}

/** Faults of the folder that a power loss at this cut leaves, after it was opened again. */
async function replayOne(history: History, cut: Cut, random: Seeded): Promise<readonly string[]> {
  rebuild(history, cut, random);
  const settings = readSettings({
    ...SETTINGS,
    TAPEDECK_DATA: history.folder,
    TAPEDECK_PORT: '0',
    TAPEDECK_DEMO: 'off',
    TAPEDECK_LOG: 'silent',
    TAPEDECK_RATE_LIMIT: 'off',
    TAPEDECK_PUBLISHABLE_TOKEN: TOKENS.publishable,
    TAPEDECK_SECRET_TOKEN: TOKENS.secret,
  });
  const faults: string[] = [];
  try {
    // Most of them need no HTTP server: listening starts processes for reads.
    const listens = random.chance(0.2);
    const core = await (listens
      ? startTapedeck(settings, { threads: stockedThreads, warm: false })
      : openCore(settings, { processes: stockedProcesses, threads: stockedThreads }));
    try {
      faults.push(...(await waitForJobs(history.folder)));
      for (const token of Object.values(TOKENS)) core.services.accounts.identify(token);
      const base = 'base' in core ? String(core.base) : undefined;
      for (const dataset of DATASET_NAMES) {
        faults.push(...(await datasetFaults(history, cut, dataset, base)));
      }
      faults.push(...(await lifeFaults(history, cut, core)));
      faults.push(...(await fileFaults(history.folder)));
    } finally {
      await core.close();
    }
  } catch (error) {
    faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  return faults;
}

/** Faults of the subjects, after pushed records were flushed to a file. */
async function lifeFaults(
  { folder, subjects }: History,
  { moment }: Cut,
  { services }: Core,
): Promise<readonly string[]> {
  await services.runner.inTurn('WS', subjects.dataset, async () => undefined);
  const rows = await foreignRows(folder, subjects.dataset);
  return subjectFaults(subjects, moment, rows, await lookInto(folder));
}

async function datasetFaults(
  history: History,
  { moment }: Cut,
  dataset: string,
  base: string | undefined,
): Promise<readonly string[]> {
  const rows = await foreignRows(history.folder, dataset);
  const mine = history.tracks.filter((track) => track.dataset === dataset);
  const faults = judge(seenIn(rows), mine, (track) => {
    const { acknowledged, sent } = history.counts(track, moment);
    return [acknowledged, sent];
  });
  if (base === undefined || !rows.length) return faults;
  const ours = await readRows({ base, ...TOKENS }, dataset, '', [], () => 0);
  return [...faults, ...unequal(ours ?? [], rows)];
}
