// kill -9 while download addresses are used: served downloads are counted, a used address stays used, and
// an address that was charged but not used still works.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { fetchText, headers, type Killable, killable } from './rounds/killable.ts';
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
  const [type] = JSON.parse(await fetchText(base, 'GET', '/files')) as readonly [
    { readonly metadata: { readonly numberOfDownloads: number } },
  ];
  return type.metadata.numberOfDownloads;
}

test('a kill loses no download count, and no address serves twice', async (t) => {
  for (const seed of seedsOf(t)) {
    const random = seeded(seed);
    const data = join(root, String(seed));
    const first = await serve(data);
    await fetchText(first.base, 'POST', '/workspaces', '{"name":"WS"}');
    await fetchText(first.base, 'PUT', '/file-types/WS/KILLED', '{}');
    await fetchText(first.base, 'POST', '/file-types/WS/KILLED/files', 'bytes');
    const all: string[] = [];
    for (let at = 0; at < ADDRESSES + UNUSED; at += 1) all.push(await address(first.base));
    const [unused, used] = [all.slice(0, UNUSED), all.slice(UNUSED)];
    const served = new Set<string>();
    const races = used.map(async (location) => {
      try {
        const answer = await fetch(first.base + location);
        if ((await answer.text()) === 'bytes') served.add(location);
      } catch {
        // The kill broke the connection.
      }
    });
    await sleep(random.between(1, 60));
    await first.kill();
    await Promise.all(races);
    const second = await serve(data);
    const counted = await downloads(second.base);
    const summary = `seed ${seed}: ${served.size} served, ${counted} counted`;
    assert.ok(counted >= served.size && counted <= ADDRESSES, summary);
    let left = 0;
    for (const location of used) {
      const { status } = await fetch(second.base + location);
      if (status === 200) left += 1;
      if (status === 200) assert.ok(!served.has(location), `${summary}; one was served again`);
      else assert.equal(status, 410, summary);
    }
    assert.equal(counted + left, ADDRESSES, summary);
    for (const location of unused) {
      assert.equal((await fetch(second.base + location)).status, 200, summary);
    }
    assert.equal(await downloads(second.base), ADDRESSES + UNUSED, summary);
    note(t, summary);
    await second.kill();
  }
});
