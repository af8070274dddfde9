// Published files and other events of a data folder: backups, crashes, limits, unrelated files.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, test } from 'vitest';
import { restoreBackup } from '../../jobs/backup/restore.ts';
import { localDisk } from '../../store/base/disk.ts';
import { loaded, send } from '../base/client.ts';
import { served, startServer, type TestServer } from '../base/server.ts';

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

test('a backup contains the published files, and a restored folder serves them', async () => {
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
  assert.equal((await published(target)).length, 1, 'the replaced one is left out');
  await restoreBackup(target, restored, localDisk);
  await served(restored, async (server) => assert.equal(await download(server), 'kept'));
});

test('files of a crash are removed, unknown files are moved aside', async () => {
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

test('replaced and withdrawn files are removed, and count as stored until then', async () => {
  let nowMs = Date.parse('2024-02-29T17:00:00Z');
  await using server = await startServer({ seams: { clock: () => nowMs, watch: false } });
  const { publications, storage } = server.tapedeck.services;
  const live = async (): Promise<number> => (await storage.workspaceBytes('WS')).live;
  await publish(server, 'four');
  await publish(server, 'seven77');
  assert.equal(await live(), 11);
  nowMs += 180_000;
  await publications.removeExpired();
  assert.equal(await live(), 7);
  assert.equal((await published(server.folder)).length, 1);
  const deletion = await send(server, 'DELETE', TYPE);
  assert.equal(deletion.status, 200, deletion.text);
  nowMs += 180_000;
  await publications.removeExpired();
  assert.equal(await live(), 0);
  assert.equal((await published(server.folder)).length, 0);
});

test('only files of the source folder are published', async () => {
  const sources = join(root, 'sources');
  await mkdir(sources);
  await writeFile(join(sources, 'a.csv'), 'of the folder');
  await writeFile(join(root, 'secret'), 'outside');
  await symlink(join(root, 'secret'), join(sources, 'link'));
  await symlink('/etc', join(sources, 'etc'));
  const settings = { TAPEDECK_SOURCE_FOLDER: sources };
  await using server = await startServer({ settings });
  await send(server, 'PUT', TYPE, {});
  const publishPath = (path: string): ReturnType<typeof send> =>
    send(server, 'POST', `${TYPE}/made`, { path });
  const right = await publishPath('a.csv');
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
    const { status, text } = await publishPath(path);
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
  assert.equal(await download(server), 'close\n1.0\n');
  const wrong = [{}, { dataset: 'NONE', format: 'csv' }, { ...query, dataset: 'PRICES' }];
  for (const body of [...wrong, { dataset: 'PRICES' }, { path: 'a', format: 'csv' }]) {
    const { status, text } = await send(server, 'POST', `${TYPE}/made`, body);
    assert.equal(status, 400, `${JSON.stringify(body)}: ${text}`);
  }
});

test('a damaged file is found, reported, not served, and healed from a backup', async () => {
  const [folder, target] = ['rotten', 'rotten-backup'].map((name) => join(root, name));
  assert.ok(folder !== undefined && target !== undefined);
  await served(folder, async (server) => {
    const whole = 'x'.repeat(1_000_000);
    await publish(server, whole);
    const { adminToken, fileCheck } = server.tapedeck.services;
    const headers = { authorization: `Bearer ${adminToken}` };
    const admin = async (path: string, body: object) => {
      const url = `${server.base}/v1/admin/${path}`;
      const options = { method: 'POST', headers, body: JSON.stringify(body) };
      const answer = await fetch(url, options);
      assert.equal(answer.status, 200, path);
      return await answer.json();
    };
    await admin('backup', { target, copy: true });
    const [id = ''] = await published(folder);
    const path = join(folder, 'published', id);
    await writeFile(path, `${'x'.repeat(999_999)}y`);
    // The damage is not known yet: the download breaks off before its end.
    await assert.rejects(download(server), /terminated|aborted|500/);
    const url = `${server.base}/v1/files/download/NOTES?token=${server.secret}`;
    const used = async () => (await send(server, 'GET', '/account/usage')).text;
    const before = await used();
    const answer = await fetch(url);
    assert.equal(answer.status, 500);
    assert.match(await answer.text(), /the published file is damaged/);
    assert.equal(await used(), before, 'a failed download costs nothing');
    const { damaged } = await fileCheck.checkAll();
    assert.deepEqual(
      damaged.map((one) => [one.folder, one.path]),
      [['published', id]],
    );
    assert.deepEqual(await admin('heal', { from: target }), {
      healed: [`published/${id}`],
      left: [],
    });
    assert.equal(await download(server), whole);
  });
});

test('published files are checked in turn', async () => {
  const folder = join(root, 'turns');
  await served(folder, async (server) => {
    for (const text of ['one', 'two', 'three']) {
      await send(server, 'PUT', '/file-types/WS/TURNS', { bySymbol: true });
      const url = `${server.base}/v1/file-types/WS/TURNS/files?symbol=${text}&token=${server.secret}`;
      const answer = await fetch(url, { method: 'POST', body: text });
      assert.equal(answer.status, 200, await answer.text());
    }
    const { damagedPublications, fileCheck } = server.tapedeck.services;
    const ids = await published(folder);
    for (const id of ids) await writeFile(join(folder, 'published', id), 'else');
    for (let turn = 0; damagedPublications.count() < ids.length && turn < 400; turn += 1) {
      await fileCheck.checkNext();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal(damagedPublications.count(), 3);
  });
});

test('the numbers of types and files are limited', async () => {
  await using server = await startServer();
  const { database } = server.tapedeck.services;
  const type = '/file-types/WS/MANY';
  await send(server, 'PUT', type, { bySymbol: true });
  const url = `${server.base}/v1${type}/files?token=${server.secret}`;
  const first = await fetch(`${url}&symbol=FIRST`, { method: 'POST', body: 'first' });
  assert.equal(first.status, 200, await first.text());
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ';
  const fill = (table: string, key: string, most: number, changed: string): Promise<unknown> => {
    const names = sql.raw(`(SELECT group_concat(name) FROM pragma_table_info('${table}'))`);
    return sql<{ names: string }>`SELECT ${names} AS names`.execute(database).then(({ rows }) => {
      const columns = (rows[0]?.names ?? '').split(',');
      const values = columns.map((name) => (name === key ? changed : name)).join();
      const text = `${numbers}${most}) INSERT INTO ${table} SELECT ${values} FROM n, ${table}`;
      return sql.raw(`${text} LIMIT ${most}`).execute(database);
    });
  };
  await fill('publication', 'publication_id', 99_999, "'p' || i");
  await sql`UPDATE publication SET symbol = publication_id WHERE publication_id LIKE 'p%'`.execute(
    database,
  );
  const more = await fetch(`${url}&symbol=MORE`, { method: 'POST', body: 'one more' });
  assert.equal(more.status, 400);
  assert.match(await more.text(), /a file type has at most 100000 files/);
  assert.equal((await published(server.folder)).length, 1, 'no part of it is left');
  await fill('file_type', 'type_id', 999, "'t' || i");
  await sql`UPDATE file_type SET name = type_id WHERE type_id LIKE 't%'`.execute(database);
  const other = await send(server, 'PUT', '/file-types/WS/ONE_MORE', {});
  assert.equal(other.status, 400);
  assert.match(other.text, /a workspace has at most 1000 file types/);
});
