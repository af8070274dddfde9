// kill -9 while streams are open: what ended before was charged, to the message; of what was open at the end
// no more than was sent. Nothing is charged that nobody got.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { openStream, until } from '../api/streams/listening.ts';
import { note } from '../notes.ts';
import { seedsOf } from '../seeds.ts';
import { asked, killable } from './rounds/killable.ts';
import { seeded } from './rounds/seeded.ts';

const READERS = 12;
const RECORDS = 40;

let root = '';
const children: ChildProcess[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-kill-streams-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(root, { recursive: true, force: true });
});

type Usage = { readonly messages: { readonly keyUsage: Readonly<Record<string, number>> } };

test('a kill loses no charge of a stream that had ended, and makes none up', async (t) => {
  for (const seed of seedsOf(t)) {
    const random = seeded(seed);
    const data = join(root, String(seed));
    const first = await killable(data, children);
    await asked(first.base, 'POST', '/workspaces', '{"name":"WS"}');
    const push = (v: number): Promise<string> =>
      asked(first.base, 'POST', '/record/WS/K', JSON.stringify({ symbol: 'A', v }));
    await asked(
      first.base,
      'POST',
      '/datasets/WS',
      JSON.stringify({
        dataset: {
          datasetId: 'K',
          schema: { properties: { symbol: { type: 'string' }, v: { type: 'integer' } } },
          columnMapping: { key: 'symbol', subkey: 'v' },
        },
      }),
    );
    const readers = await Promise.all(
      Array.from({ length: READERS }, () => openStream(first, '/stream/WS/K')),
    );
    const ended = readers.slice(0, READERS / 2);
    for (let v = 0; v < RECORDS; v += 1) await push(v);
    await until(() => readers.every((reader) => reader.messages().length === RECORDS));
    for (const reader of ended) await reader.close();
    // Longer than the ledger gathers charges.
    await sleep(300);
    const more = Array.from({ length: 30 }, (_, at) => push(RECORDS + at).catch(() => undefined));
    await sleep(random.between(1, 60));
    await first.kill();
    await Promise.all(more);
    await until(() => readers.every((reader) => reader.isEnded()));
    const got = readers.reduce((sum, reader) => sum + reader.messages().length, 0);
    const second = await killable(data, children);
    const usage = JSON.parse(await asked(second.base, 'GET', '/account/usage')) as Usage;
    const charged = usage.messages.keyUsage['WS.K'] ?? 0;
    const least = ended.length * RECORDS;
    assert.ok(charged >= least, `seed ${seed}: ${charged} charged, ${least} were of ended streams`);
    assert.ok(charged <= got, `seed ${seed}: ${charged} charged, ${got} were got`);
    await second.kill();
    note(t, `seed ${seed}: ${charged} charged of ${got}`);
  }
});
