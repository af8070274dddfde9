// A load whose process is killed: the first time it is retried automatically, then it is a server error.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { ownProcesses } from '../../store/duckdb/slot.ts';
import { load } from '../base/client.ts';
import { startServer } from '../base/server.ts';

/** Uses processes of its own, which the test kills as they start. */
const KILLED = { seams: { processes: ownProcesses } };

const rows = Array.from({ length: 400_000 }, (_, at) => `K${at},2024-01-01,${at}`).join('\n');
const body = `symbol,date,v\n${rows}\n`;

/** Children of a process, as Linux lists them. */
function childrenOf(pid: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Kills each new child, up to the given number, while the work runs; returns the number of kills. */
async function killing(kills: number, work: Promise<Response>): Promise<number> {
  const seenPids = new Set(childrenOf(process.pid));
  const over = work.then(() => true);
  let killed = 0;
  while (killed < kills) {
    const [next] = childrenOf(process.pid).filter((pid) => !seenPids.has(pid));
    if (next !== undefined) {
      seenPids.add(next);
      await sleep(100);
      process.kill(next, 'SIGKILL');
      killed += 1;
    }
    if (await Promise.race([over, sleep(5, false)])) break;
  }
  return killed;
}

/** A load is attempted twice, and a process may wait for each attempt. */
const KILLS_MAX = 6;

const skip = process.platform !== 'linux';

test('a load whose process is killed once is retried and succeeds', { skip }, async () => {
  await using server = await startServer(KILLED);
  const work = load(server, 'ONCE', body);
  assert.equal(await killing(1, work), 1);
  const answer = await work;
  assert.equal(answer.status, 200, await answer.text());
});

test(
  'a load whose process is killed again and again is 503, not the fault of its body',
  { skip },
  async () => {
    await using server = await startServer(KILLED);
    const work = load(server, 'TWICE', body);
    // A process that was started ahead may be killed before its first request: that costs no attempt.
    assert.ok((await killing(KILLS_MAX, work)) >= 2);
    const answer = await work;
    assert.equal(answer.status, 503);
    assert.match(await answer.text(), /job \w+ ended in ERROR, its process was killed/);
    assert.equal((await load(server, 'TWICE', body)).status, 200);
  },
);
