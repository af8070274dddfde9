// Files of datasets in a bucket: the same answers, even if copies are lost or damaged, and plain words where
// the store is unavailable.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CopyObjectCommand, DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, test } from 'vitest';
import { makeBackup } from '../../../jobs/backup/backup.ts';
import { restoreBackup, verifyBackup } from '../../../jobs/backup/restore.ts';
import { bucketFinding } from '../../../cli/doctor/bucketChecks.ts';
import type { AtCrashPoint } from '../../../store/base/crashPoints.ts';
import { localDisk } from '../../../store/base/disk.ts';
import { readSettings } from '../../../store/base/settings/settings.ts';
import { retryRemovals } from '../../../store/files/fileTombstones.ts';
import { get, load, loaded, read, send } from '../../base/client.ts';
import { lakePaths, startServer } from '../../base/server.ts';
import { startSwift, type Swift } from '../../base/servers/swift.ts';
import { lakeInBucket, type LakeInBucket } from './lakeInBucket.ts';

const swift = await startSwift();
const MISSING = 'Swift is not on this machine (Debian: swift-proxy, -account, -container, -object)';
const bucketTest = test.skipIf(swift === undefined && process.env['CI'] !== 'true');

let store: Swift;
let lake: LakeInBucket;
beforeAll(async () => {
  if (swift === undefined) {
    assert.notEqual(process.env['CI'], 'true', MISSING);
    return;
  }
  store = swift;
  lake = await lakeInBucket(store);
});
afterAll(async () => {
  await lake?.[Symbol.asyncDispose]();
  await swift?.[Symbol.asyncDispose]();
});

const named = async (): Promise<readonly string[]> =>
  (await lake.keys()).filter((key) => /^lake.*parquet$/.test(key));

const csv = (symbol: string, from: number, days: number): string =>
  `symbol,date,close\n${Array.from({ length: days }, (_, day) => {
    const date = new Date(Date.UTC(2020, 0, 1 + from + day)).toISOString().slice(0, 10);
    return `${symbol},${date},${from + day}.25\n`;
  }).join('')}`;

bucketTest(
  'loaded records are in the bucket before the answer, and are read from there without a copy',
  async () => {
    let before: string;
    {
      await using server = await lake.start();
      await loaded(server, 'D', csv('A', 0, 50), { key: 'symbol', date: 'date' });
      await loaded(server, 'D', csv('B', 0, 50));
      before = await read(server, '/data/WS/D?limit=1000');
      assert.equal(JSON.parse(before).length, 100);
      assert.equal((await named()).length, 2);
    }
    await rm(join(lake.folder, 'lake'), { recursive: true });
    await using server = await lake.start();
    assert.equal(await read(server, '/data/WS/D?limit=1000'), before);
    const sql = await send(server, 'POST', '/sql-query/WS', {
      sqlQuery: 'SELECT symbol, count(*) AS n FROM WS.D GROUP BY 1 ORDER BY 1',
    });
    assert.equal(sql.text, '[{"symbol":"A","n":50},{"symbol":"B","n":50}]');
    const metrics = await (await fetch(`${server.base}/metrics`)).text();
    assert.match(metrics, /tapedeck_file_cache_fetched 2\n/);
    assert.match(metrics, /tapedeck_file_cache_files 2\n/);
  },
);

bucketTest('a damaged copy is fetched again, and no answer shows it', async () => {
  await using server = await lake.start();
  const before = await read(server, '/data/WS/D?limit=1000');
  const [first = ''] = (await lakePaths(server)).filter((path) => path.endsWith('.parquet'));
  await truncate(join(lake.folder, 'lake', first), 100);
  assert.equal(await read(server, '/data/WS/D?limit=999'), before);
  const [second = ''] = (await lakePaths(server)).filter((path) => path.endsWith('.parquet'));
  await appendFile(join(lake.folder, 'lake', second), 'x');
  const verdict = await server.tapedeck.services.fileCheck.checkAll();
  assert.deepEqual(verdict.damaged, []);
});

bucketTest('a file that the bucket lost is reported as missing there', async () => {
  await using server = await lake.start();
  const [key = ''] = await named();
  const copyTarget = { Bucket: lake.bucket, Key: 'kept' };
  const object = { Bucket: lake.bucket, Key: `some/where/${key}` };
  const source = `${lake.bucket}/some/where/${key}`;
  await lake.client.send(new CopyObjectCommand({ ...copyTarget, CopySource: source }));
  await lake.client.send(new DeleteObjectCommand(object));
  const { damaged } = await server.tapedeck.services.fileCheck.checkAll();
  assert.deepEqual(
    damaged.map(({ path, what }) => [`lake/${path}`, what]),
    [[key, `is missing in s3://${lake.bucket}/some/where`]],
  );
  const back = { ...object, CopySource: `${lake.bucket}/kept` };
  await lake.client.send(new CopyObjectCommand(back));
  assert.deepEqual((await server.tapedeck.services.fileCheck.checkAll()).damaged, []);
});

bucketTest(
  'while the store is unavailable only files with a copy are read, and loads wait for it',
  async () => {
    await using server = await lake.start({ TAPEDECK_SOURCE_FOLDER: lake.folder });
    const source = { type: 'FILE', path: 'vendor.csv', name: 'vendor' };
    await writeFile(join(lake.folder, source.path), csv('G', 0, 10));
    const response = await send(server, 'POST', '/data-sources/WS', source);
    const before = await read(server, '/data/WS/D?limit=1000');
    const snapshot = server.tapedeck.services.lake.snapshot;
    lake.wire.breakAfter(0, 'close');
    assert.equal(await read(server, '/data/WS/D?limit=998'), before);
    const loading = load(server, 'D', csv('C', 0, 10));
    const { dataSourceId } = JSON.parse(response.text) as { readonly dataSourceId: string };
    const order = { dataSourceId, datasetId: 'D' };
    const fetching = send(server, 'POST', '/jobs/WS/ingest?wait=true', order);
    await assert.rejects(lake.start({ TAPEDECK_FOLDER: `${lake.folder}-2` }), /s3:.*some.where: /);
    assert.equal(server.tapedeck.services.lake.snapshot, snapshot, 'no version was created');
    await rm(join(lake.folder, 'lake'), { recursive: true });
    const away = await get(server, '/data/WS/D?limit=997');
    assert.equal(away.status, 503);
    assert.doesNotMatch(await away.text(), /s3:|127\.0\.0\.1/);
    lake.wire.mend();
    assert.equal(await read(server, '/data/WS/D?limit=997'), before);
    for (const answer of [await loading, await fetching]) assert.equal(answer.status, 200);
    assert.equal(JSON.parse(await read(server, '/data/WS/D?limit=1000')).length, 120);
  },
);

bucketTest('copies keep to their bound, and answers stay the same', async () => {
  const small = { TAPEDECK_FILE_CACHE: String(1024 ** 2), TAPEDECK_CACHE_BYTES: '0' };
  await using server = await lake.start(small);
  const valueOf = (at: number): string => createHash('sha256').update(`${at}`).digest('hex');
  const rows = Array.from({ length: 20_000 }, (_, at) => `K${at},${valueOf(at)}`);
  for (const id of ['L0', 'L1', 'L2']) {
    await loaded(server, id, `k,v\n${rows.join('\n')}\n`, { key: 'k' });
  }
  const { fileCache } = server.tapedeck.services;
  for (let round = 0; round < 2; round += 1) {
    for (const id of ['L0', 'L1', 'L2']) {
      const text = await read(server, `/data/WS/${id}/K77`);
      assert.match(text, new RegExp(valueOf(77)));
    }
  }
  const bytes = fileCache?.state.bytes ?? Infinity;
  assert.ok(bytes <= 1024 ** 2, `${bytes} bytes of copies`);
  assert.ok((fileCache?.state.fetched ?? 0) >= 3, 'evicted files were fetched again');
});

bucketTest('dropped files leave the bucket, and orphans leave it with the next start', async () => {
  {
    await using server = await lake.start();
    const answer = await send(server, 'DELETE', '/datasets/WS/L1?purge=true');
    assert.equal(answer.status, 200, answer.text);
    const of = async (id: string): Promise<readonly string[]> =>
      (await named()).filter((key) => key.startsWith(`lake/WS/${id}/`));
    assert.deepEqual(await of('L1'), []);
    lake.wire.breakAfter(0, 'close');
    assert.equal((await send(server, 'DELETE', '/datasets/WS/L2?purge=true')).status, 503);
    lake.wire.mend();
    assert.equal((await get(server, '/data/WS/L2')).status, 404, 'readers no longer find it');
    const { database, lake: served } = server.tapedeck.services;
    await retryRemovals(database, served.files);
    assert.deepEqual(await of('L2'), [], 'a refused removal is retried');
  }
  const strange = { Bucket: lake.bucket, Key: 'some/where/lake/WS/D/strange.parquet' };
  await lake.client.send(new PutObjectCommand({ ...strange, Body: 'nobody’s' }));
  const day = 86_400_000;
  {
    await using server = await lake.start();
    assert.ok((await lake.keys()).includes('lake/WS/D/strange.parquet'), 'it may be another’s');
    assert.equal((await get(server, '/data/WS/D?limit=1')).status, 200);
  }
  await using server = await lake.start({}, { clock: () => Date.now() + 2 * day });
  const keys = await lake.keys();
  assert.equal(keys.includes('lake/WS/D/strange.parquet'), false);
  assert.ok(
    keys.some((key) => /^unclaimed\/.*strange/.test(key)),
    keys.join(),
  );
  assert.equal((await get(server, '/data/WS/D?limit=1')).status, 200);
});

bucketTest('a server that ends before its commit leaves nothing in the bucket', async () => {
  const before = await named();
  {
    const at: AtCrashPoint = (point) => {
      if (point === 'transaction-open') throw new Error('here it ends');
    };
    await using server = await lake.start({}, { at, startsMax: 1 });
    assert.notEqual((await load(server, 'D', csv('E', 0, 10))).status, 200);
    assert.equal((await named()).length, before.length + 1, 'the file was sent before');
  }
  await using server = await lake.start();
  assert.deepEqual(await named(), before);
  assert.doesNotMatch(await read(server, '/data/WS/D?limit=1000'), /"E"/);
});

bucketTest('a removal that a kill cuts in two leaves no copy behind', async () => {
  const copies = (): Promise<readonly string[]> => localDisk.list(join(lake.folder, 'lake/WS/CUT'));
  {
    const disk = {
      ...localDisk,
      remove: async (path: string): Promise<void> => {
        if (path.includes('lake/WS/CUT/')) throw new Error('here it ends');
        await localDisk.remove(path);
      },
    };
    await using server = await lake.start({}, { disk });
    await loaded(server, 'CUT', csv('X', 0, 10), { key: 'symbol', date: 'date' });
    assert.equal((await copies()).length, 1);
    assert.notEqual((await send(server, 'DELETE', '/datasets/WS/CUT?purge=true')).status, 200);
    const left = (await named()).filter((key) => key.startsWith('lake/WS/CUT/'));
    assert.deepEqual([left.length, (await copies()).length], [0, 1], 'gone there, still here');
  }
  await using server = await lake.start();
  assert.deepEqual(await copies(), []);
  assert.equal((await get(server, '/data/WS/CUT')).status, 404);
});

bucketTest('a server that ends before a file has its place leaves no copy behind', async () => {
  const before = [await named(), await localDisk.list(join(lake.folder, 'lake'))];
  {
    const at: AtCrashPoint = (point) => {
      if (point === 'file-synced') throw new Error('here it ends');
    };
    await using server = await lake.start({}, { at, startsMax: 1 });
    assert.notEqual((await load(server, 'D', csv('F', 0, 10))).status, 200);
  }
  await using server = await lake.start();
  assert.deepEqual([await named(), await localDisk.list(join(lake.folder, 'lake'))], before);
  assert.doesNotMatch(await read(server, '/data/WS/D?limit=1000'), /"F"/);
});

bucketTest('the doctor reports the state of the bucket', async () => {
  const of = async (more: Readonly<Record<string, string>>): Promise<readonly [string, string]> => {
    const { bucket } = readSettings({ ...lake.settings, ...more });
    assert.ok(bucket !== undefined);
    const { level, what } = await bucketFinding(bucket);
    return [level, what];
  };
  const [level, what] = await of({});
  assert.equal(level, 'ok', what);
  assert.equal((await of({ TAPEDECK_DATA: `s3://${lake.bucket}/elsewhere` }))[0], 'notice');
  const refused = await of({ TAPEDECK_S3_SECRET: 'wrong' });
  assert.equal(refused[0], 'fault');
  assert.match(refused[1], /refused the credential/);
  assert.doesNotMatch(refused[1], /testing/);
  assert.equal((await of({ TAPEDECK_S3_ENDPOINT: 'http://127.0.0.1:1' }))[0], 'fault');
});

bucketTest('a catalog of other files is not served', async () => {
  const other = await lakeInBucket(store);
  await using disposable = other;
  const settings = {
    ...disposable.settings,
    TAPEDECK_DATA: lake.settings['TAPEDECK_DATA'] ?? '',
  };
  await assert.rejects(
    startServer({ folder: other.folder, settings }),
    /is missing, and s3:.* has \d+ files/,
  );
});

bucketTest(
  'a folder whose files were copied uses the bucket once all of them have arrived',
  async () => {
    await using other = await lakeInBucket(store);
    const local = { TAPEDECK_DATA: other.folder };
    {
      await using server = await startServer({ folder: other.folder, settings: local });
      await loaded(server, 'M', csv('A', 0, 30), { key: 'symbol', date: 'date' });
    }
    await assert.rejects(
      other.start(),
      /1 of 1 files of the catalog are not in s3:.*copy them there/,
    );
    for (const path of await localDisk.list(join(other.folder, 'lake'))) {
      const object = { Bucket: other.bucket, Key: `some/where/lake/${path}` };
      const Body = await readFile(join(other.folder, 'lake', path));
      await other.client.send(new PutObjectCommand({ ...object, Body }));
    }
    {
      await using server = await other.start();
      await loaded(server, 'M', csv('B', 0, 30));
      await rm(join(other.folder, 'lake'), { recursive: true });
      assert.equal(JSON.parse(await read(server, '/data/WS/M?limit=100')).length, 60);
      assert.deepEqual((await server.tapedeck.services.fileCheck.checkAll()).damaged, []);
      await rm(join(other.folder, 'lake'), { recursive: true });
    }
    await assert.rejects(
      startServer({ folder: other.folder, settings: local }),
      /2 of 2 files of the catalog are not in .*they were in s3:/,
    );
  },
);

bucketTest('a backup has the files of the bucket', async () => {
  await rm(join(lake.folder, 'lake'), { recursive: true, force: true });
  await using server = await lake.start({ TAPEDECK_FILE_CACHE: String(1024 ** 2) });
  const target = `${lake.folder}-backup`;
  try {
    const order = { target, withoutKey: false, copy: false, actor: 'test' };
    const summary = await makeBackup(
      { ...order, signal: new AbortController().signal },
      server.tapedeck.services,
    );
    const { faults, manifest } = await verifyBackup(target);
    assert.deepEqual(faults, []);
    const backed = manifest.files.filter(({ path }) => path.startsWith('lake/'));
    assert.deepEqual(backed.map(({ path }) => path).sort(), await named());
    assert.equal(summary.files, manifest.count);
    const before = await read(server, '/data/WS/D?limit=1000');
    const folder = `${target}-restored`;
    await restoreBackup(target, folder, localDisk, true);
    await using restored = await startServer({ folder, settings: { TAPEDECK_DATA: folder } });
    assert.equal(await read(restored, '/data/WS/D?limit=1000'), before, 'a folder again');
  } finally {
    for (const path of [target, `${target}-restored`]) {
      await rm(path, { recursive: true, force: true });
    }
  }
});
test('an invalid combination of settings is reported immediately', () => {
  const wrong = (variables: Readonly<Record<string, string>>, rule: RegExp): void =>
    assert.throws(() => readSettings(variables), rule);
  const keys = { TAPEDECK_S3_KEY_ID: 'a', TAPEDECK_S3_SECRET: 'b' };
  wrong({ TAPEDECK_FILE_CACHE: '2000000' }, /TAPEDECK_FILE_CACHE goes with TAPEDECK_DATA=s3:/);
  wrong({ TAPEDECK_DATA: 's3://bucket' }, /needs TAPEDECK_S3_KEY_ID and TAPEDECK_S3_SECRET/);
  for (const data of ['s3://', 's3://b', 's3://bucket/a b', 's3://bucket//a', 's3://bucket/../a']) {
    wrong({ TAPEDECK_DATA: data, ...keys }, /TAPEDECK_DATA/);
  }
  const place = { TAPEDECK_DATA: 's3://bucket/a', ...keys };
  wrong({ ...place, TAPEDECK_S3_ENDPOINT: 'ftp://x' }, /TAPEDECK_S3_ENDPOINT/);
  wrong({ ...place, TAPEDECK_S3_REGION: 'a/b' }, /TAPEDECK_S3_REGION/);
  wrong({ ...place, TAPEDECK_FILE_CACHE: '12' }, /TAPEDECK_FILE_CACHE/);
  const { bucket, data } = readSettings({ ...place, TAPEDECK_FOLDER: '/srv/deck' });
  assert.deepEqual([bucket?.bucket, bucket?.prefix, data], ['bucket', 'a/', '/srv/deck']);
});
