// Checks a restarted server: all acknowledged data is returned by its own endpoints and by an independent
// reader, and its ledger is correct.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileFaults, foreignRows, unequal, unfinishedJobs, waitForJobs } from './aftermath.ts';
import { DATASET_NAMES, seenIn } from './rounds/batches.ts';
import { ANSWER_ROWS_MAX, type Meter, readRows } from './reader.ts';
import type { Seeded } from './rounds/seeded.ts';
import { judge, type Track } from './track.ts';
import type { Door } from './victim/writer.ts';

const JOB_MS_MAX = 120_000;
const LOOK_MS = 20;

/** Messages used this month, after the ledger wrote all delivered charges. */
export async function usageOf(door: Door): Promise<number> {
  const answer = await fetch(`${door.base}/v1/account/usage/messages?token=${door.secret}`);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`usage was answered ${answer.status}: ${text}`);
  const usage = JSON.parse(text) as {
    readonly monthlyUsage: number;
    readonly tokenUsage: Readonly<Record<string, number>>;
  };
  const byToken = Object.values(usage.tokenUsage).reduce((sum, messages) => sum + messages, 0);
  if (byToken !== usage.monthlyUsage) {
    throw new Error(`usage by token is ${byToken}, of the month ${usage.monthlyUsage}`);
  }
  return usage.monthlyUsage;
}

/** Checks the folder; returns how many batches of each track are stored. */
export async function verify(
  folder: string,
  door: Door,
  tracks: readonly Track[],
  random: Seeded,
  fault: (what: string) => void,
): Promise<ReadonlyMap<Track, number>> {
  for (const id of unfinishedJobs(folder)) await jobEnds(door, id, fault);
  for (const what of await waitForJobs(folder)) fault(what);
  const before = await usageOf(door);
  const meter: Meter = [];
  const batchCounts = new Map<Track, number>();
  const foreign = random.pick(DATASET_NAMES);
  for (const dataset of DATASET_NAMES) {
    const rows = await readRows(door, dataset, '', meter, () => 0);
    if (rows === undefined) throw new Error('the restarted server went away');
    if (rows.length >= ANSWER_ROWS_MAX) throw new Error(`${dataset} outgrew one answer`);
    const seen = seenIn(rows);
    const mine = tracks.filter((track) => track.dataset === dataset);
    for (const what of judge(seen, mine, finalSpan)) fault(`after the restart: ${what}`);
    for (const track of mine) batchCounts.set(track, track.explain(seen, ...finalSpan(track)).at);
    if (dataset !== foreign) continue;
    for (const what of unequal(rows, await foreignRows(folder, dataset))) fault(what);
  }
  const charged = (await usageOf(door)) - before;
  const headers = meter.reduce((sum, { messages = 0 }) => sum + messages, 0);
  if (charged !== headers) fault(`without a crash: headers ${headers}, ledger ${charged}`);
  for (const what of await ledgerFaults(folder, door)) fault(what);
  for (const what of await fileFaults(folder)) fault(what);
  return batchCounts;
}

/** Faults that the server finds when it recomputes every charge from the journal. */
async function ledgerFaults(folder: string, door: Door): Promise<readonly string[]> {
  const token = (await readFile(join(folder, 'admin-token'), 'utf8')).trim();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${door.base}/v1/admin/verify-ledger`, { headers });
  const text = await answer.text();
  if (answer.status !== 200) return [`verify-ledger was answered ${answer.status}: ${text}`];
  return (JSON.parse(text) as { readonly faults: readonly string[] }).faults;
}

/** Acknowledged batches must be stored; sent ones may be. */
const finalSpan = (track: Track): readonly [number, number] => [track.acknowledged, track.sent];

/** Polls a job through its endpoint until it ends. */
async function jobEnds(door: Door, id: string, fault: (what: string) => void): Promise<void> {
  const giveUpMs = Date.now() + JOB_MS_MAX;
  for (;;) {
    const answer = await fetch(`${door.base}/v1/jobs/WS/ingest/${id}?token=${door.secret}`);
    const text = await answer.text();
    if (answer.status !== 200) return fault(`job ${id} was answered ${answer.status}: ${text}`);
    const job = JSON.parse(text) as { readonly status: string; readonly error: string | null };
    if (job.status === 'INGESTED') return;
    if (job.status === 'ERROR') {
      if (!job.error) fault(`job ${id} ended in ERROR without a reason`);
      return;
    }
    if (Date.now() > giveUpMs) return fault(`job ${id} hangs in ${job.status}`);
    await sleep(LOOK_MS);
  }
}

/** Deletes a folder after a failure: it proves nothing more. */
export async function dropBroken(folder: AsyncDisposable): Promise<undefined> {
  await folder[Symbol.asyncDispose]();
}
