// kill -9 and power loss at the counts of continuous integration; `npm run soak` runs the full
// counts. Also proves that both suites can fail.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { type Batch, csvOf, seenIn } from './rounds/batches.ts';
import { crashRounds } from './rounds/killRounds.ts';
import { checkLedger } from './rounds/ledgerLaw.ts';
import { lifeRounds } from './rounds/lifeRounds.ts';
import { firstStartCuts, powerLossPrefixes, replay } from './rounds/powerLoss.ts';
import { onceRounds } from './rounds/onceRounds.ts';
import { pushRounds } from './rounds/pushRounds.ts';
import type { Meter } from './reader.ts';
import { type Report, seeded } from './rounds/seeded.ts';
import { judge, Track } from './track.ts';

const KILL_ROUNDS = 1;
const PUSH_ROUNDS = 1;
const LIFE_ROUNDS = 1;
const PREFIXES = 2;

const quiet = (): void => undefined;

function expectNone(context: TestContext, { seed, count, failures, notes }: Report): void {
  note(context, `seed ${seed}, count ${count}: ${notes.join('; ')}`);
  assert.deepEqual(failures, []);
}

test('a killed server loses nothing that it acknowledged', async (context) => {
  for (const seed of seedsOf(context)) {
    expectNone(context, await crashRounds({ count: KILL_ROUNDS, seed, log: quiet }));
  }
});

test('acknowledged pushes are stored once after a kill', async (context) => {
  for (const seed of seedsOf(context)) {
    expectNone(context, await pushRounds({ count: PUSH_ROUNDS, seed, log: quiet }));
  }
});

test('a write with a key is stored once, however often its server is killed', async (context) => {
  for (const seed of seedsOf(context)) {
    expectNone(context, await onceRounds({ count: PUSH_ROUNDS, seed, log: quiet }));
  }
});

test('pushes, purges, compaction and backups survive kills, and no purged record returns', async (t) => {
  for (const seed of seedsOf(t)) {
    expectNone(t, await lifeRounds({ count: LIFE_ROUNDS, seed, log: quiet }));
  }
});

test('a power loss at any point loses nothing that was acknowledged', async (context) => {
  for (const seed of seedsOf(context)) {
    expectNone(context, await powerLossPrefixes({ count: PREFIXES, seed, log: quiet }));
  }
});

test('a first start that is interrupted anywhere is completed by the next start', async (context) => {
  expectNone(context, await firstStartCuts({ seed: 1, log: quiet }));
});

test('the replay notices a missing fsync', async () => {
  for (const omission of ['file syncs', 'folder syncs'] as const) {
    const { failures } = await replay({ count: 4, seed: 7, log: quiet }, omission);
    assert.ok(failures.length > 0, `no prefix without its ${omission} was broken`);
  }
});

describe('the checker detects', () => {
  const batch: Batch = {
    id: 'w0-b2',
    dataset: 'A',
    mode: 'replace',
    writes: [
      { key: 'w0-set', rows: 3, version: 2 },
      { key: 'w0-b2', rows: 2, version: 1 },
    ],
  };
  const first: Batch = { ...batch, id: 'w0-b1', writes: [{ key: 'w0-set', rows: 3, version: 1 }] };
  const wrongs: Readonly<Record<string, (rows: Row[], old: Row[]) => readonly Row[]>> = {
    'a lost batch': (_rows, old) => old,
    'a lost record': (rows) => rows.slice(1),
    'a doubled record': (rows) => [...rows, ...rows.slice(0, 1)],
    'a batch that is half there': (rows) => rows.filter(({ owner }) => owner === 'w0-set'),
    'a replacement that is half there': (rows, old) => [...rows.slice(1), ...old.slice(0, 1)],
    'an old record beside the new one': (rows, old) => [...rows, ...old],
    'a changed value': (rows) => rows.map((row, at) => (at === 0 ? { ...row, note: '' } : row)),
    'records of nobody': (rows) => [...rows, ...rows.map((row) => ({ ...row, owner: 'x' }))],
  };
  const track = new Track('w0', 'A');
  for (const one of [first, batch]) track.send(one);
  track.acknowledge(false);
  const judged = (rows: readonly Row[]): readonly string[] =>
    judge(seenIn(rows), [track], () => [track.acknowledged, track.sent]);
  test('nothing in correct records', () => assert.deepEqual(judged(rowsOf(batch)), []));
  for (const [what, spoil] of Object.entries(wrongs)) {
    test(what, () => assert.notDeepEqual(judged(spoil(rowsOf(batch), rowsOf(first))), []));
  }
});

test('the ledger may lack one settle window and the calls in flight, and may hold no excess', () => {
  const killedMs = 10_000;
  const call = (messages: number | undefined, endedMs: number | undefined): Meter[number] => ({
    messages,
    endedMs,
    bound: () => 7,
  });
  const meter = [call(5, 5_000), call(3, killedMs - 40), call(undefined, undefined)];
  const faultsOf = (charged: number): number => checkLedger(meter, charged, killedMs).faults.length;
  assert.deepEqual([4, 5, 8, 15, 16].map(faultsOf), [1, 0, 0, 0, 1]);
});

type Row = Readonly<Record<string, unknown>>;

/** The batch's records as an answer returns them, in key order. */
function rowsOf(batch: Batch): Row[] {
  // The body of this seed is not compressed.
  const [header = '', ...lines] = csvOf(batch, seeded(1)).toString().trimEnd().split('\n');
  const names = header.split(',');
  const rows = lines.map((line) => {
    const cells = /^(.*?),(.*?),(.*?),(\d+),(.*?),"(.*)"$/.exec(line)?.slice(1) ?? [];
    const values = cells.map((cell) => cell.replaceAll('""', '"'));
    return Object.fromEntries(names.map((name, at) => [name, values[at]]));
  });
  return rows.sort((one, other) => (String(one['item']) < String(other['item']) ? -1 : 1));
}
