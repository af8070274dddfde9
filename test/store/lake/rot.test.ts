// Bits that flip in a lake file: an answer is correct, or it is 500 and reports a damaged file. Other files
// stay readable, and no backup and no compaction makes damage permanent.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { compactDataset } from '../../../jobs/upkeep/compaction.ts';
import { get, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const INDEX = { key: 'symbol', date: 'date' };
const csv = (symbol: string, days: number): string => {
  const rows = Array.from({ length: days }, (_, at) => {
    const date = new Date(Date.UTC(2020, 0, 1 + at)).toISOString().slice(0, 10);
    return `${symbol},${date},${at * 1.5}\n`;
  });
  return `symbol,date,price\n${rows.join('')}`;
};

async function lakeFiles(server: TestServer): Promise<readonly string[]> {
  const root = join(server.folder, 'lake');
  const names = await readdir(root, { recursive: true });
  return names.filter((name) => name.endsWith('.parquet')).map((name) => join(root, name));
}

/** The path of the latest file. */
async function newest(server: TestServer, before: readonly string[]): Promise<string> {
  const now = await lakeFiles(server);
  const [newestPath] = now.filter((path) => !before.includes(path));
  assert.ok(newestPath !== undefined);
  return newestPath;
}

/** @param how whether the file keeps its time, as on a disk that rots */
async function flip(path: string, how: 'written' | 'rotten' = 'written'): Promise<Buffer> {
  const bytes = await readFile(path);
  const { mtime } = await stat(path);
  const damaged = Buffer.from(bytes);
  damaged[40] = (damaged[40] ?? 0) ^ 1;
  await writeFile(path, damaged);
  // The file gets another identity, for any clock of the file system.
  await utimes(path, mtime, how === 'rotten' ? mtime : new Date(mtime.getTime() + 5_000));
  return bytes;
}

const WHOLE_SECOND = 1_700_000_000;

/** Dates a file to a second that can be set again, and lets the server read it. */
async function seenAt(server: TestServer, file: string, second: number): Promise<void> {
  await utimes(file, second, second);
  await read(server, '/sql-query/WS?sqlQuery=SELECT%20sum(price)%20AS%20s%20FROM%20D');
}

const DOORS = [
  '/data/WS/D/B?last=9',
  '/data/WS/D/B?last=9&format=csv',
  '/data/WS/D/B?last=9&format=arrow',
  '/time-series/WS.D/B?last=9',
  '/data/WS/D/B?from=2020-01-03&transform=percent_change',
  '/sql-query/WS?sqlQuery=SELECT%20*%20FROM%20D',
  "/sql-query/WS?sqlQuery=SELECT%20sum(price)%20FROM%20D%20WHERE%20symbol='B'",
];

test('a flipped bit is 500 with a sentence, on every endpoint; other files stay readable', async () => {
  await using server = await startServer({ seams: { watch: false } });
  await loaded(server, 'D', csv('A', 50), INDEX);
  const first = await lakeFiles(server);
  await loaded(server, 'D', csv('B', 50));
  const file = await newest(server, first);
  await flip(file);
  for (const path of DOORS.filter((door) => !door.includes('transform'))) {
    const answer = await get(server, path);
    const text = await answer.text();
    assert.equal(answer.status, 500, `${path}: ${text}`);
    assert.match(text, /stored file ducklake-\S+\.parquet is damaged: its SHA-256/, path);
    assert.ok(!text.includes(server.folder) && !text.includes('/lake/'), text);
    assert.equal(answer.headers.get('svccloud-messages-used'), null);
  }
  assert.equal((JSON.parse(await read(server, '/data/WS/D/A?last=9')) as unknown[]).length, 9);
  const pruned =
    "/sql-query/WS?sqlQuery=SELECT%20count(*)%20AS%20n%20FROM%20D%20WHERE%20symbol='A'";
  assert.equal(await read(server, pruned), '[{"n":50}]');
  assert.equal((JSON.parse(await read(server, '/data/WS/D?last=9&asOf=4')) as unknown[]).length, 9);
});

test('a missing, cut or longer file is reported as such, and readable once it is restored', async () => {
  await using server = await startServer({ seams: { watch: false } });
  await loaded(server, 'D', csv('A', 50), INDEX);
  const [file = ''] = await lakeFiles(server);
  const bytes = await readFile(file);
  const querySum = async (): Promise<string> => {
    return (
      await get(server, '/sql-query/WS?sqlQuery=SELECT%20sum(price)%20AS%20s%20FROM%20D')
    ).text();
  };
  await writeFile(file, bytes.subarray(0, bytes.length - 9));
  assert.match(
    await querySum(),
    new RegExp(`has ${bytes.length - 9} bytes instead of ${bytes.length}`),
  );
  await writeFile(file, Buffer.concat([bytes, Buffer.from('x')]));
  assert.match(
    await querySum(),
    new RegExp(`has ${bytes.length + 1} bytes instead of ${bytes.length}`),
  );
  await rm(file);
  assert.match(await querySum(), /is missing/);
  await writeFile(file, bytes);
  assert.equal(await querySum(), '[{"s":1837.5}]');
});

test('damage is detected after a restart too, where nothing but the bytes changed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-rot-'));
  try {
    let server = await startServer({ folder, seams: { watch: false } });
    await loaded(server, 'D', csv('A', 50), INDEX);
    const [file = ''] = await lakeFiles(server);
    await flip(file);
    assert.equal((await get(server, '/data/WS/D/A?last=1')).status, 500);
    await server.close();
    server = await startServer({ folder });
    const ready = async (): Promise<string> => (await fetch(`${server.base}/readyz`)).text();
    for (let n = 0; n < 50 && (await ready()) === 'ready\n'; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.match(await ready(), /ready, but 1 files of the lake are damaged/);
    assert.equal((await get(server, '/data/WS/D/A?last=1')).status, 500);
    await server.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('compaction, edits and backups stop at damage, and nothing is committed', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const target = await mkdtemp(join(tmpdir(), 'tapedeck-rot-backup-'));
  try {
    await loaded(server, 'D', csv('A', 50), INDEX);
    const first = await lakeFiles(server);
    await loaded(server, 'D', csv('B', 50));
    const file = await newest(server, first);
    await seenAt(server, file, WHOLE_SECOND);
    const bytes = await flip(file, 'rotten');
    const { services } = server.tapedeck;
    const dataset = services.lake.directory.dataset('WS', 'D');
    assert.ok(dataset !== undefined);
    const { snapshot } = services.lake;
    await assert.rejects(compactDataset(dataset, services.ingestion, 2), /is damaged/);
    assert.equal(services.lake.snapshot, snapshot);
    const answer = await fetch(`${server.base}/v1/admin/backup`, {
      method: 'POST',
      headers: { authorization: `Bearer ${services.adminToken}` },
      body: JSON.stringify({ target, copy: true }),
    });
    const text = await answer.text();
    assert.equal(answer.status, 409, text);
    assert.match(
      text,
      /lake\/WS\/D\/ducklake-\S+ of the data folder is damaged.*no backup was made/,
    );
    await writeFile(file, bytes);
    assert.equal(await compactDataset(dataset, services.ingestion, 2), 2);
    assert.equal((JSON.parse(await read(server, '/data/WS/D/B?last=99')) as unknown[]).length, 50);
  } finally {
    await rm(target, { recursive: true, force: true });
  }
});
