// Published files beside what else happens to a data folder: backups, crashes, limits, files of others.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { restoreBackup } from '../../jobs/backup/restore.ts';
import { localDisk } from '../../store/base/disk.ts';
import { loaded, send } from '../client.ts';
import { served, startServer, type TestServer } from '../server.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-published-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const TYPE = '/file-types/WS/NOTES';

async function publish(server: TestServer, body: string): Promise<string> {
  await send(server, 'PUT', TYPE, {});
  const url = `${server.base}/v1${TYPE}/files?token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return text;
}

async function download(server: TestServer): Promise<string> {
  const url = `${server.base}/v1/files/download/NOTES?token=${server.secret}`;
  const answer = await fetch(url);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return text;
}

const published = (folder: string): Promise<readonly string[]> =>
  readdir(join(folder, 'published')).catch(() => []);

test('a backup has the published files, and what is restored serves them', async () => {
  const [folder, target, restored] = ['data', 'backup', 'restored'].map((name) => join(root, name));
  assert.ok(folder !== undefined && target !== undefined && restored !== undefined);
  await served(folder, async (server) => {
    await publish(server, 'first');
    await publish(server, 'kept');
    const { adminToken } = server.tapedeck.services;
    const headers = { authorization: `Bearer ${adminToken}` };
    const body = JSON.stringify({ target });
    const url = `${server.base}/v1/admin/backup`;
    const answer = await fetch(url, { method: 'POST', headers, body });
    assert.equal(answer.status, 200, await answer.text());
  });
  assert.equal((await published(target)).length, 1, 'the one that has ended is left out');
  await restoreBackup(target, restored, localDisk);
  await served(restored, async (server) => assert.equal(await download(server), 'kept'));
});

test('what a crash left goes, what no row names is put aside', async () => {
  const folder = join(root, 'crashed');
  await served(folder, async (server) => {
    await publish(server, 'kept');
    const coming = { symbol: '', date: '', bytes: 0, sha256: '', ended_ms: null };
    const row = { type_id: 'none', workspace: 'WS', ...coming, committed_ms: null };
    const { database } = server.tapedeck.services;
    await database
      .insertInto('publication')
      .values({ publication_id: 'half', ...row })
      .execute();
  });
  await writeFile(join(folder, 'published', 'half'), 'half');
  await writeFile(join(folder, 'published', 'foreign'), 'foreign');
  await served(folder, async (server) => assert.equal(await download(server), 'kept'));
  assert.equal((await published(folder)).length, 1);
  const aside = await readdir(join(folder, 'unclaimed'), { recursive: true });
  assert.deepEqual(
    aside.filter((path) => path.endsWith('foreign') || path.endsWith('half')).length,
    1,
  );
});

test('files that have ended go, and count as stored until then', async () => {
  let nowMs = Date.parse('2024-02-29T17:00:00Z');
  await using server = await startServer({ seams: { clock: () => nowMs, watch: false } });
  const { publications, storage } = server.tapedeck.services;
  const live = async (): Promise<number> => (await storage.of('WS')).live;
  await publish(server, 'four');
  await publish(server, 'seven77');
  assert.equal(await live(), 11);
  nowMs += 180_000;
  await publications.look();
  assert.equal(await live(), 7);
  assert.equal((await published(server.folder)).length, 1);
  const told = await send(server, 'DELETE', TYPE);
  assert.equal(told.status, 200, told.text);
  nowMs += 180_000;
  await publications.look();
  assert.equal(await live(), 0);
  assert.equal((await published(server.folder)).length, 0);
});

test('a file of the source folder is published; nothing outside it is', async () => {
  const sources = join(root, 'sources');
  await mkdir(sources);
  await writeFile(join(sources, 'a.csv'), 'of the folder');
  await writeFile(join(root, 'secret'), 'outside');
  await symlink(join(root, 'secret'), join(sources, 'link'));
  await symlink('/etc', join(sources, 'etc'));
  const settings = { TAPEDECK_SOURCE_FOLDER: sources };
  await using server = await startServer({ settings });
  await send(server, 'PUT', TYPE, {});
  const made = (path: string): ReturnType<typeof send> =>
    send(server, 'POST', `${TYPE}/made`, { path });
  const right = await made('a.csv');
  assert.equal(right.status, 200, right.text);
  assert.equal(await download(server), 'of the folder');
  const wrong = [
    'link',
    'etc/passwd',
    '../secret',
    join(root, 'secret'),
    'none',
    '*',
    '.',
    'a\u0000',
  ];
  for (const path of wrong) {
    const { status, text } = await made(path);
    assert.equal(status, 400, `${path}: ${text}`);
    assert.match(text, /path|leads out|is not there|no file|control/, path);
  }
  assert.equal(await download(server), 'of the folder');
  assert.deepEqual(await readdir(join(server.folder, 'tmp')), []);
});

test('an export of a version is published in each format', async () => {
  await using server = await startServer();
  await loaded(server, 'PRICES', 'symbol,date,close\nA,2024-01-02,1\n', {
    key: 'symbol',
    date: 'date',
  });
  await send(server, 'PUT', TYPE, {});
  for (const format of ['csv', 'jsonl', 'parquet', 'arrow']) {
    const body = { dataset: 'PRICES', format };
    const { status, text } = await send(server, 'POST', `${TYPE}/made`, body);
    assert.equal(status, 200, `${format}: ${text}`);
  }
  const query = { query: 'SELECT close FROM PRICES', format: 'csv' };
  await send(server, 'POST', `${TYPE}/made`, query);
  assert.equal(await download(server), 'close\n1\n');
  const wrong = [{}, { dataset: 'NONE', format: 'csv' }, { ...query, dataset: 'PRICES' }];
  for (const body of [...wrong, { dataset: 'PRICES' }, { path: 'a', format: 'csv' }]) {
    const { status, text } = await send(server, 'POST', `${TYPE}/made`, body);
    assert.equal(status, 400, `${JSON.stringify(body)}: ${text}`);
  }
});
