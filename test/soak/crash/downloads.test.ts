// kill -9 while addresses are used: what was served is counted, an address that was used stays used, and
// one that was paid for and not used works.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { asked, headers, type Killable, killable } from './rounds/killable.ts';
import { seeded } from './rounds/seeded.ts';

const ADDRESSES = 60;
const UNUSED = 3;

let root = '';
const children: ChildProcess[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-kill-downloads-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(root, { recursive: true, force: true });
});

const serve = (data: string): Promise<Killable> => killable(data, children);

async function address(base: string): Promise<string> {
  const url = `${base}/v1/files/download/KILLED`;
  const answer = await fetch(url, { headers, redirect: 'manual' });
  return answer.headers.get('location') ?? '';
}

async function downloads(base: string): Promise<number> {
  const [type] = JSON.parse(await asked(base, 'GET', '/files')) as readonly [
    { readonly metadata: { readonly numberOfDownloads: number } },
  ];
  return type.metadata.numberOfDownloads;
}

test('a kill loses no count, and gives no address a second time', async (t) => {
  for (const seed of seedsOf(t)) {
    const random = seeded(seed);
    const data = join(root, String(seed));
    const first = await serve(data);
    await asked(first.base, 'POST', '/workspaces', '{"name":"WS"}');
    await asked(first.base, 'PUT', '/file-types/WS/KILLED', '{}');
    await asked(first.base, 'POST', '/file-types/WS/KILLED/files', 'bytes');
    const all: string[] = [];
    for (let at = 0; at < ADDRESSES + UNUSED; at += 1) all.push(await address(first.base));
    const [unused, used] = [all.slice(0, UNUSED), all.slice(UNUSED)];
    const served = new Set<string>();
    const races = used.map(async (location) => {
      try {
        const answer = await fetch(first.base + location);
        if ((await answer.text()) === 'bytes') served.add(location);
      } catch {
        // The kill took it.
      }
    });
    await sleep(random.between(1, 60));
    await first.kill();
    await Promise.all(races);
    const second = await serve(data);
    const counted = await downloads(second.base);
    const told = `seed ${seed}: ${served.size} served, ${counted} counted`;
    assert.ok(counted >= served.size && counted <= ADDRESSES, told);
    let left = 0;
    for (const location of used) {
      const { status } = await fetch(second.base + location);
      if (status === 200) left += 1;
      if (status === 200) assert.ok(!served.has(location), `${told}; one was served again`);
      else assert.equal(status, 410, told);
    }
    assert.equal(counted + left, ADDRESSES, told);
    for (const location of unused) {
      assert.equal((await fetch(second.base + location)).status, 200, told);
    }
    assert.equal(await downloads(second.base), ADDRESSES + UNUSED, told);
    note(t, told);
    await second.kill();
  }
});
