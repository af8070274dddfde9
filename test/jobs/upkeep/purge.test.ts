// A purge: nothing of the records is left, in no version, no file and no page of the catalog, and
// whoever asks for what was before is told so. What others keep stays as it was.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { get, loaded, read } from '../../base/client.ts';
import { eventually, holders, lookInto } from '../../base/holders.ts';
import { ask } from '../../soak/laws/history/histories.ts';
import { startServer, type TestServer } from '../../base/server.ts';

/** Texts that are nowhere else: a key, and values that were stored, pushed and quoted by a log. */
const KEY = 'KEYzqxj7';
const PLANTED = [KEY, 'VALUEzqxj7', 'PUSHEDzqxj7', 'WIDENEDzqxj7'] as const;

const HEADER = 'symbol,date,v,note\n';
const INDEX = { key: 'symbol', date: 'date' };
const REPLACE = { duplicateKeyHandling: 'replace' };
const ROWS = '/data/WS/D?limit=1000&format=csv';

const others = (from: number): string =>
  Array.from({ length: 20 }, (_, at) => `S${from + at},2020-01-01,${at},n\n`).join('');

/** The answer's status and its text. */
async function remove(
  server: TestServer,
  path: string,
  token = server.secret,
): Promise<readonly [number, string]> {
  const url = `${server.base}/v1${path}${path.includes('?') ? '&' : '?'}token=${token}`;
  const answer = await fetch(url, { method: 'DELETE' });
  return [answer.status, await answer.text()];
}

const told = (records: number): readonly [number, string] => [
  200,
  `{"success":true,"message":"purged ${records} records"}`,
];

/** A dataset in which the planted texts went every way that records go; two of its versions. */
async function plant(server: TestServer): Promise<readonly [number, number]> {
  const [, value, pushed, widened] = PLANTED;
  // What widens a type is quoted by the log. It comes behind the 10,000 rows of which the type is told.
  const widening = `${KEY},2020-01-05,${widened},${value}\n`;
  await loaded(server, 'WIDE', `${HEADER}${others(0).repeat(600)}${widening}`, {
    ...INDEX,
    duplicateKeyHandling: 'ignore',
  });
  const csv = `${HEADER}${KEY},2020-01-01,1,${value}\n${others(0)}`;
  const first = await loaded(server, 'D', csv, INDEX);
  await loaded(server, 'D', `${HEADER}${KEY},2020-01-01,2,${value}2\n`, REPLACE);
  await ask(server, 'DELETE', `/data/WS/D/${KEY}`);
  await ask(server, 'DELETE', `/data/WS/D/S3`);
  await loaded(server, 'D', `${HEADER}${KEY},2020-01-02,3,${value}3\n${others(30)}`, REPLACE);
  const record = { symbol: KEY, date: '2020-01-03', v: 4, note: pushed };
  await ask(server, 'POST', '/record/WS/D', JSON.stringify(record));
  await loaded(server, 'D', `${HEADER}${others(60)}`);
  await ask(server, 'POST', '/record/WS/D', JSON.stringify({ ...record, date: '2020-01-04' }));
  const { snapshot } = await loaded(server, 'D', `${HEADER}${others(120)}`);
  return [first.snapshot, snapshot];
}

test('nothing of purged records is left in the folder, and history says why it ended', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-purge-'));
  let server = await startServer({ folder, seams: { watch: false } });
  try {
    const versions = await plant(server);
    await loaded(server, 'OTHER', `${HEADER}A,2020-01-01,1,stays\n`);
    const other = await read(server, '/data/WS/OTHER');
    const kept = (await read(server, ROWS)).split('\n').filter((line) => !line.includes('zqxj7'));
    const planted = await lookInto(folder);
    for (const text of PLANTED) assert.notDeepEqual(planted(text), [], text);
    await read(server, `/data/WS/D?queryId=q1&limit=1000`);
    assert.deepEqual(await remove(server, `/data/WS/WIDE/${KEY}?purge=true`), told(1));
    assert.deepEqual(await remove(server, `/data/WS/D/${KEY}?purge=true`), told(4));
    const purged = await lookInto(folder);
    for (const text of PLANTED) assert.deepEqual(purged(text), [], text);
    assert.equal(await read(server, ROWS), kept.join('\n'), 'the others stay');
    const gone = /^"asOf" refers to a version that was purged: the first .* is \d+, of 2\d{3}-/;
    for (const asOf of versions) {
      const answer = await get(server, `/data/WS/D?asOf=${asOf}`);
      assert.deepEqual([answer.status, gone.test(await answer.text())], [410, true]);
    }
    const url = `${server.base}/v1/changes/WS/D?since=${versions[1]}&token=${server.secret}`;
    const changes = await fetch(url);
    assert.equal(changes.status, 410);
    assert.match(await changes.text(), /\\"since\\" refers to a version that was purged/);
    const anew = await read(server, `/data/WS/D?queryId=q1&limit=1000&format=csv`);
    assert.equal(anew, kept.join('\n'), 'a named query begins again');
    assert.equal(await read(server, '/data/WS/OTHER'), other);
    const { snapshot } = server.tapedeck.services.lake;
    assert.equal(await read(server, `${ROWS}&asOf=${snapshot}`), kept.join('\n'));
    const listed = JSON.parse(await read(server, '/datasets/WS/D/versions')) as readonly object[];
    assert.deepEqual(
      listed.map((version) => ({ ...version, date: 0 })),
      [
        {
          snapshot,
          date: 0,
          jobId: null,
          author: server.tapedeck.accountId,
          message: '4 records purged from WS.D',
          inserted: 0,
          deleted: 4,
          compaction: false,
        },
      ],
    );
    await server.close();
    const closed = await lookInto(folder);
    for (const text of PLANTED) assert.deepEqual(closed(text), [], `${text}, closed`);
    server = await startServer({ folder, seams: { watch: false } });
    assert.equal(await read(server, ROWS), kept.join('\n'), 'after a restart');
    assert.equal((await get(server, `/data/WS/D?asOf=${versions[0]}`)).status, 410);
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test('a dataset that is deleted with its history leaves nothing in the folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-purge-'));
  let server = await startServer({ folder, seams: { watch: false } });
  try {
    await plant(server);
    await loaded(server, 'OTHER', `${HEADER}A,2020-01-01,1,stays\n`);
    const planted = await lookInto(folder);
    for (const text of PLANTED) assert.notDeepEqual(planted(text), [], text);
    for (const [name, query] of [
      ['WIDE', ''],
      ['D', '?purge=true'],
    ] as const) {
      const deleted = `{"success":true,"message":"Dataset has been deleted","datasetId":"${name}"}`;
      assert.deepEqual(await remove(server, `/datasets/WS/${name}${query}`), [200, deleted]);
      assert.equal((await get(server, `/data/WS/${name}`)).status, 404);
    }
    const [key, , pushed] = PLANTED;
    const left = await lookInto(folder);
    assert.deepEqual(left(pushed), [], 'only D had it');
    assert.notDeepEqual(left(key), [], 'old versions of WIDE have it');
    // One of the same name is another: nothing of the former comes back.
    await loaded(server, 'D', `${HEADER}A,2020-01-01,1,n\n`, INDEX);
    assert.equal(await read(server, '/data/WS/D?filter=symbol'), '[{"symbol":"A"}]');
    assert.equal(await read(server, '/data/WS/OTHER?filter=note'), '[{"note":"stays"}]');
    await server.close();
    assert.deepEqual(await holders(folder, pushed), [], 'closed');
    server = await startServer({ folder, seams: { watch: false } });
    assert.equal(await read(server, '/data/WS/OTHER?filter=note'), '[{"note":"stays"}]');
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test('a purge that finds nothing ends nothing; what was only history is purged too', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const csv = `${HEADER}${KEY},2020-01-01,1,n\nA,2020-01-01,1,n\n`;
  const { snapshot } = await loaded(server, 'D', csv, INDEX);
  assert.deepEqual(await remove(server, `/data/WS/D/NONE?purge=true`), told(0));
  const dated = `/data/WS/D/${KEY}?purge=true&from=2021-01-01`;
  assert.deepEqual(await remove(server, dated), told(0));
  assert.equal((await get(server, `/data/WS/D?asOf=${snapshot}`)).status, 200);
  await loaded(server, 'D', `${HEADER}B,2020-01-01,1,n\n`, { overwrite: 'true' });
  assert.deepEqual(await remove(server, `/data/WS/D/${KEY}?purge=true`), told(1));
  assert.equal((await get(server, `/data/WS/D?asOf=${snapshot}`)).status, 410);
  assert.deepEqual(await holders(server.folder, KEY), []);
  assert.equal(await read(server, '/data/WS/D?filter=symbol'), '[{"symbol":"B"}]');
  assert.deepEqual(await remove(server, `/data/WS/D/B?purge=true`), told(1));
  assert.equal(await read(server, '/data/WS/D'), '[]');
});

test('readers that have the files open keep them; the last one takes them along', async () => {
  await using server = await startServer({ seams: { watch: false } });
  await loaded(server, 'D', `${HEADER}${KEY},2020-01-01,1,n\nA,2020-01-01,1,n\n`, INDEX);
  const { lake } = server.tapedeck.services;
  const dataset = lake.directory.dataset('WS', 'D');
  const files = (await lake.table(dataset?.tableId ?? 0))?.files ?? [];
  const [one, other] = [await lake.files.open(files), await lake.files.open(files)];
  assert.deepEqual(await remove(server, `/data/WS/D/${KEY}?purge=true`), told(1));
  const [held] = await holders(server.folder, KEY);
  assert.equal(held, `lake/${files[0]?.path}`);
  one.release();
  one.release();
  assert.deepEqual(await holders(server.folder, KEY), [held]);
  await assert.rejects(lake.files.open(files), /the version was removed/);
  other.release();
  await eventually(async () => (await holders(server.folder, KEY)).length === 0);
  assert.equal(await read(server, '/data/WS/D?limit=9&filter=symbol'), '[{"symbol":"A"}]');
});

/** Of a reader: three that never rest read 90 times beside each purge, with PostgreSQL. */
const PAUSE_MS = 15;

test('reads beside purges answer one side or the other', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const keys = Array.from({ length: 30 }, (_, at) => `P${String(at).padStart(2, '0')}`);
  const csv = keys.map((key) => `${key},2020-01-01,1,n\n`).join('');
  await loaded(server, 'D', `${HEADER}${csv}`, INDEX);
  let purged = 0;
  let reads = 0;
  const reader = async (): Promise<void> => {
    while (purged < keys.length - 1) {
      const least = purged;
      const rows = JSON.parse(await read(server, '/data/WS/D?limit=99')) as readonly object[];
      const [most, fewest] = [keys.length - least, keys.length - purged - 1];
      assert.ok(
        rows.length <= most && rows.length >= fewest,
        `${rows.length} of ${fewest}-${most}`,
      );
      reads += 1;
      await sleep(PAUSE_MS);
    }
  };
  const writer = async (): Promise<void> => {
    for (const key of keys.slice(1)) {
      assert.deepEqual(await remove(server, `/data/WS/D/${key}?purge=true`), told(1));
      purged += 1;
    }
  };
  await Promise.all([writer(), reader(), reader(), reader()]);
  assert.ok(reads > 0);
});

test('a purge needs a secret token with the right to delete', async () => {
  await using server = await startServer({ seams: { watch: false } });
  await loaded(server, 'D', `${HEADER}A,2020-01-01,1,n\n`, INDEX);
  const rights = ['read', 'delete'] as const;
  const grants = [{ datasets: 'WS.D', rights: [...rights] }];
  const make = async (kind: 'publishable' | 'secret', own: object): Promise<string> => {
    const body = JSON.stringify({ kind, ...own });
    const made = await ask(server, 'POST', '/account/tokens', body);
    return (JSON.parse(made) as { readonly token: string }).token;
  };
  const path = '/data/WS/D/NONE';
  const open = await make('publishable', { grants });
  assert.equal((await remove(server, path, open))[0], 200);
  assert.equal((await remove(server, `${path}?purge=true`, open))[0], 401);
  const secret = await make('secret', { grants });
  assert.deepEqual(await remove(server, `${path}?purge=true`, secret), told(0));
});
