// The bombs of test/soak/fuzz/sql: each is refused or ended by a limit, the server stays up, and concurrent
// series reads are answered.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { note } from '../../base/notes.ts';
import { allAttacks } from './sql/attacks.ts';
import { faultsOf } from './sql/verdicts.ts';
import { openWorld, type World } from './sql/world.ts';

/** Most bombs run until their deadline. */
const DEADLINE_MS = 100;

let world: World;
beforeAll(async () => {
  world = await openWorld(DEADLINE_MS);
});
afterAll(() => world[Symbol.asyncDispose]());

const BOMBS = allAttacks().filter(({ theme }) => theme === 'bombs');

/** Maximum time of a read during a bomb: both cores may be busy. */
const READ_MS_MAX = 5_000;

test('bombs end, and concurrent series reads are answered', async (context) => {
  const faults: string[] = [];
  const stop = new AbortController();
  const reads = readAlways(world, stop.signal, faults);
  for (const bomb of BOMBS) {
    const startedMs = performance.now();
    faults.push(...(await faultsOf(world, bomb)));
    const ms = Math.round(performance.now() - startedMs);
    if (ms > 2 * DEADLINE_MS) note(context, `${ms} ms ${bomb.name}`);
  }
  stop.abort();
  const { count, slowestMs } = await reads;
  note(context, `${count} reads beside, the slowest took ${Math.round(slowestMs)} ms`);
  assert.ok(faults.length === 0, `\n${faults.length} faults\n${faults.join('\n')}`);
  assert.ok(count > 100, `${count} reads`);
});

test('nothing is left behind', async () => {
  assert.deepEqual(await world.faults(), []);
});

interface Reads {
  readonly count: number;
  readonly slowestMs: number;
}

const READ_EVERY_MS = 50;

/** Reads from memory and from files alternately. */
async function readAlways(
  { server }: World,
  signal: AbortSignal,
  faults: string[],
): Promise<Reads> {
  const url = `${server.base}/v1/data/WS/QUOTES/IBM?range=max&token=${server.publishable}`;
  const expected = await (await fetch(url)).text();
  let count = 0;
  let slowestMs = 0;
  while (!signal.aborted) {
    const startedMs = performance.now();
    const answer = await fetch(`${url}&cache=${count % 2 === 0}`);
    const text = await answer.text();
    const ms = performance.now() - startedMs;
    if (text !== expected) faults.push(`a read beside answers ${answer.status}: ${text}`);
    if (ms > READ_MS_MAX) faults.push(`a read beside took ${Math.round(ms)} ms`);
    slowestMs = Math.max(slowestMs, ms);
    count += 1;
    await sleep(READ_EVERY_MS);
  }
  return { count, slowestMs };
}
