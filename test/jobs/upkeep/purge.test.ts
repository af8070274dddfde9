// A purge: nothing of the records is left in any version, file or page of the catalog, and requests for
// earlier versions are refused with the reason. Other records stay unchanged.
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

/** Unique texts: a key, and values that were stored, pushed and quoted by a log. */
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

const purgeAnswer = (records: number): readonly [number, string] => [
  200,
  `{"success":true,"message":"purged ${records} records"}`,
];

/** Fills a dataset with the planted texts in every way of writing; returns two of its versions. */
async function plant(server: TestServer): Promise<readonly [number, number]> {
  const [, value, pushed, widened] = PLANTED;
  // The log quotes the value that widens a type. It follows the 10,000 rows that define the type.
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

test('nothing of purged records is left in the folder, and requests of history get the reason', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-purge-'));
  let server = await startServer({ folder, seams: { watch: false } });
  try {
    const versions = await plant(server);
    await loaded(server, 'OTHER', `${HEADER}A,2020-01-01,1,stays\n`);
    const other = await read(server, '/data/WS/OTHER');
    const otherLines = (await read(server, ROWS))
      .split('\n')
      .filter((line) => !line.includes('zqxj7'));
    const planted = await lookInto(folder);
    for (const text of PLANTED) assert.notDeepEqual(planted(text), [], text);
    await read(server, `/data/WS/D?queryId=q1&limit=1000`);
    assert.deepEqual(await remove(server, `/data/WS/WIDE/${KEY}?purge=true`), purgeAnswer(1));
    assert.deepEqual(await remove(server, `/data/WS/D/${KEY}?purge=true`), purgeAnswer(4));
    const purged = await lookInto(folder);
    for (const text of PLANTED) assert.deepEqual(purged(text), [], text);
    assert.equal(await read(server, ROWS), otherLines.join('\n'), 'the other records stay');
    const purgedPattern =
      /^"asOf" refers to a version that was purged: the first .* is \d+, of 2\d{3}-/;
    for (const asOf of versions) {
      const answer = await get(server, `/data/WS/D?asOf=${asOf}`);
      assert.deepEqual([answer.status, purgedPattern.test(await answer.text())], [410, true]);
    }
    const url = `${server.base}/v1/changes/WS/D?since=${versions[1]}&token=${server.secret}`;
    const changes = await fetch(url);
    assert.equal(changes.status, 410);
    assert.match(await changes.text(), /\\"since\\" refers to a version that was purged/);
    const anew = await read(server, `/data/WS/D?queryId=q1&limit=1000&format=csv`);
    assert.equal(anew, otherLines.join('\n'), 'a named query begins again');
    assert.equal(await read(server, '/data/WS/OTHER'), other);
    const { snapshot } = server.tapedeck.services.lake;
    assert.equal(await read(server, `${ROWS}&asOf=${snapshot}`), otherLines.join('\n'));
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
    assert.equal(await read(server, ROWS), otherLines.join('\n'), 'after a restart');
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
    // A new dataset of the same name is another one: nothing of the old one returns.
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

test('a purge without matches keeps the history; records of the history only are purged too', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const csv = `${HEADER}${KEY},2020-01-01,1,n\nA,2020-01-01,1,n\n`;
  const { snapshot } = await loaded(server, 'D', csv, INDEX);
  assert.deepEqual(await remove(server, `/data/WS/D/NONE?purge=true`), purgeAnswer(0));
  const dated = `/data/WS/D/${KEY}?purge=true&from=2021-01-01`;
  assert.deepEqual(await remove(server, dated), purgeAnswer(0));
  assert.equal((await get(server, `/data/WS/D?asOf=${snapshot}`)).status, 200);
  await loaded(server, 'D', `${HEADER}B,2020-01-01,1,n\n`, { overwrite: 'true' });
  assert.deepEqual(await remove(server, `/data/WS/D/${KEY}?purge=true`), purgeAnswer(1));
  assert.equal((await get(server, `/data/WS/D?asOf=${snapshot}`)).status, 410);
  assert.deepEqual(await holders(server.folder, KEY), []);
  assert.equal(await read(server, '/data/WS/D?filter=symbol'), '[{"symbol":"B"}]');
  assert.deepEqual(await remove(server, `/data/WS/D/B?purge=true`), purgeAnswer(1));
  assert.equal(await read(server, '/data/WS/D'), '[]');
});

test('files that readers have open remain until the last reader closes them', async () => {
  await using server = await startServer({ seams: { watch: false } });
  await loaded(server, 'D', `${HEADER}${KEY},2020-01-01,1,n\nA,2020-01-01,1,n\n`, INDEX);
  const { lake } = server.tapedeck.services;
  const dataset = lake.directory.dataset('WS', 'D');
  const files = (await lake.table(dataset?.tableId ?? 0))?.files ?? [];
  const [one, other] = [await lake.files.open(files), await lake.files.open(files)];
  assert.deepEqual(await remove(server, `/data/WS/D/${KEY}?purge=true`), purgeAnswer(1));
  const [filePath] = await holders(server.folder, KEY);
  assert.equal(filePath, `lake/${files[0]?.path}`);
  one.release();
  one.release();
  assert.deepEqual(await holders(server.folder, KEY), [filePath]);
  await assert.rejects(lake.files.open(files), /the version was removed/);
  other.release();
  await eventually(async () => (await holders(server.folder, KEY)).length === 0);
  assert.equal(await read(server, '/data/WS/D?limit=9&filter=symbol'), '[{"symbol":"A"}]');
});

/** Pause of a reader: without it, three readers read 90 times beside each purge, with PostgreSQL. */
const PAUSE_MS = 15;

test('concurrent reads see the state before or after a purge', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const keys = Array.from({ length: 12 }, (_, at) => `P${String(at).padStart(2, '0')}`);
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
      assert.deepEqual(await remove(server, `/data/WS/D/${key}?purge=true`), purgeAnswer(1));
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
    const answer = await ask(server, 'POST', '/account/tokens', body);
    return (JSON.parse(answer) as { readonly token: string }).token;
  };
  const path = '/data/WS/D/NONE';
  const open = await make('publishable', { grants });
  assert.equal((await remove(server, path, open))[0], 200);
  assert.equal((await remove(server, `${path}?purge=true`, open))[0], 401);
  const secret = await make('secret', { grants });
  assert.deepEqual(await remove(server, `${path}?purge=true`, secret), purgeAnswer(0));
});
