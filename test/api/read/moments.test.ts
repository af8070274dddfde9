// Repeated reads as of the moment of an earlier answer: pushed records, replaced ones, changes since,
// exports, and the end of a moment. Random histories: test/soak/laws/history/moments.ts.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import {
  readPushEnd,
  expirePushes,
  logPushes,
  readPushes,
} from '../../../store/lake/pushes/pushLog.ts';
import { load, loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const FIRST = '{"symbol":"A","date":"2020-01-01","v":1}';

async function ask(
  server: TestServer,
  path: string,
  init: RequestInit = {},
): Promise<{ readonly text: string; readonly moment: string; readonly answer: Response }> {
  const headers = { authorization: `Bearer ${server.secret}`, ...init.headers };
  const answer = await fetch(`${server.base}/v1${path}`, { ...init, headers });
  const text = await answer.text();
  return { text, moment: answer.headers.get('svccloud-as-of') ?? '', answer };
}

async function push(server: TestServer, v: number, how = 'replace', date = '2020-01-01') {
  const path = `/record/WS/D?duplicateKeyHandling=${how}`;
  const { status, text } = await send(server, 'POST', path, { symbol: 'A', date, v });
  assert.equal(status, 200, text);
}

const flush = (server: TestServer): Promise<void> =>
  server.tapedeck.services.runner.inTurn('WS', 'D', async () => undefined);

const start = async (folder?: string, clock?: () => number): Promise<TestServer> => {
  const seams = { watch: false, ...(clock === undefined ? {} : { clock }) };
  const server = await startServer({ seams, ...(folder === undefined ? {} : { folder }) });
  const { lake } = server.tapedeck.services;
  if (lake.directory.dataset('WS', 'D') === undefined) {
    await loaded(server, 'D', FIRST, { key: 'symbol', date: 'date' });
  }
  return server;
};

const READ = '/data/WS/D/A?limit=10&format=csv';

test('pushed records are returned as of the moment and the time of a read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-moment-'));
  let nowMs = Date.UTC(2026, 0, 1, 12);
  let server = await start(folder, () => nowMs);
  try {
    const earlierReads: { readonly text: string; readonly moment: string; readonly ms: number }[] =
      [];
    for (const v of [2, 3, 4]) {
      nowMs += 60_000;
      await push(server, v);
      nowMs += 60_000;
      const { moment, text } = await ask(server, READ);
      assert.match(text, new RegExp(`,${v}\r?\n$`));
      earlierReads.push({ text, moment, ms: nowMs });
      nowMs += 60_000;
    }
    const all = async (context: string): Promise<void> => {
      for (const { moment, ms, text } of earlierReads) {
        for (const asOf of [moment, ms, new Date(ms).toISOString()]) {
          const again = await ask(server, `${READ}&asOf=${asOf}`);
          assert.equal(again.text, text, `${context}: ${asOf}`);
          assert.equal(again.moment, moment, context);
        }
      }
    };
    await all('before the flush');
    await flush(server);
    await all('after it');
    await server.close();
    server = await start(folder, () => nowMs);
    await all('after a restart');
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test('HEAD, 304, SQL, a batch and an empty answer name their moment too', async () => {
  await using server = await start();
  await push(server, 2);
  const { answer, moment } = await ask(server, READ);
  assert.match(moment, /^\d+:[1-9]\d*$/);
  const tag = answer.headers.get('etag') ?? '';
  const unchanged = await ask(server, READ, { headers: { 'if-none-match': tag } });
  assert.deepEqual([unchanged.answer.status, unchanged.moment], [304, moment]);
  const paths = ['/data/WS/D,D/A', '/data/WS/D/NONE', '/sql-query/WS?sqlQuery=SELECT+v+FROM+D'];
  for (const path of paths) assert.equal((await ask(server, path)).moment, moment, path);
  assert.equal((await ask(server, READ, { method: 'HEAD' })).moment, moment);
  const past = await ask(server, `${READ}&asOf=${moment}`);
  const pastTag = past.answer.headers.get('etag') ?? '';
  await push(server, 3);
  const again = { headers: { 'if-none-match': pastTag } };
  assert.equal((await ask(server, `${READ}&asOf=${moment}`, again)).answer.status, 304);
});

interface Version {
  readonly inserted: readonly unknown[];
  readonly replaced: readonly unknown[];
  readonly deleted: readonly unknown[];
}

test('changes since a moment do not include records that it included', async () => {
  let nowMs = Date.UTC(2026, 0, 1, 12);
  await using server = await start(undefined, () => nowMs);
  nowMs += 1_000;
  await push(server, 2, 'replace');
  await push(server, 2, 'ignore', '2020-01-02');
  await push(server, 9, 'ignore', '2020-01-01');
  nowMs += 1_000;
  const { moment } = await ask(server, READ);
  const readMs = nowMs;
  nowMs += 1_000;
  await push(server, 3, 'replace', '2020-01-02');
  await push(server, 3, 'replace', '2020-01-03');
  await flush(server);
  nowMs += 1_000;
  const since = async (text: string): Promise<readonly unknown[]> => {
    const all = await ask(server, `/changes/WS/D?since=${text}`);
    assert.equal(all.answer.status, 200, all.text);
    return (JSON.parse(all.text) as readonly Version[]).flatMap((one) => [
      ['+', ...one.inserted],
      ['~', ...one.replaced],
      ['-', ...one.deleted],
    ]);
  };
  const expected = [['+', ['A', '2020-01-03']], ['~', ['A', '2020-01-02']], ['-']];
  assert.deepEqual(await since(moment), expected);
  assert.deepEqual(await since(String(readMs)), expected);
  assert.deepEqual(await since(new Date(readMs).toISOString()), expected);
  const [snapshot = ''] = moment.split(':');
  const more = [['+', ['A', '2020-01-02'], ['A', '2020-01-03']], ['~', ['A', '2020-01-01']], ['-']];
  assert.deepEqual(await since(snapshot), more);
  const wrong = await ask(server, '/changes/WS/D?since=soon');
  assert.deepEqual([wrong.answer.status, wrong.text.includes('since')], [400, true]);
});

interface Dated extends Version {
  readonly snapshot: number;
  readonly asOf: string;
}

test('changes include pushes before their flush, and each once for a client that continues', async () => {
  let nowMs = Date.UTC(2026, 0, 1, 12);
  await using server = await start(undefined, () => nowMs);
  const { snapshot } = server.tapedeck.services.lake;
  let cursor = String(snapshot);
  const next = async (): Promise<readonly (readonly unknown[])[]> => {
    const { answer, text } = await ask(server, `/changes/WS/D?since=${cursor}`);
    assert.equal(answer.status, 200, text);
    const items = JSON.parse(text) as readonly Dated[];
    cursor = items.at(-1)?.asOf ?? cursor;
    const lists = items.map(({ inserted, replaced, deleted }) => [inserted, replaced, deleted]);
    return lists.filter((kinds) => kinds.some(({ length }) => length > 0));
  };
  assert.deepEqual(await next(), []);
  nowMs += 1_000;
  await push(server, 2);
  await push(server, 2, 'replace', '2020-01-02');
  await push(server, 9, 'ignore', '2020-01-01');
  const first = [[['A', '2020-01-02']], [['A', '2020-01-01']], []];
  assert.deepEqual(await next(), [first]);
  const [again] = JSON.parse(
    (await ask(server, `/changes/WS/D?since=${snapshot}`)).text,
  ) as Dated[];
  assert.deepEqual([again?.snapshot, again?.asOf], [snapshot, cursor]);
  assert.deepEqual(await next(), [], 'listed changes are not listed again');
  nowMs += 1_000;
  const readMs = nowMs;
  nowMs += 1_000;
  await push(server, 3, 'replace', '2020-01-02');
  await push(server, 3, 'ignore', '2020-01-02');
  await push(server, 3, 'ignore', '2020-01-03');
  const second = [[['A', '2020-01-03']], [['A', '2020-01-02']], []];
  const byTime = await ask(server, `/changes/WS/D?since=${readMs}`);
  const [timed] = JSON.parse(byTime.text) as readonly Dated[];
  assert.deepEqual([timed?.inserted, timed?.replaced], second.slice(0, 2));
  const behind = cursor;
  assert.deepEqual(await next(), [second]);
  await flush(server);
  assert.deepEqual(await next(), [], 'the versions of the flush change nothing more');
  nowMs += 1_000;
  await push(server, 4, 'replace', '2020-01-04');
  cursor = behind;
  const third = [[['A', '2020-01-04']], [], []];
  const replacements = [[], [['A', '2020-01-02']], []];
  const insertions = [[['A', '2020-01-03']], [], []];
  assert.deepEqual(await next(), [replacements, insertions, third]);
  await flush(server);
  assert.deepEqual(await next(), []);
});

test('an export as of a moment includes the pushes until then', async () => {
  const exportFolder = await mkdtemp(join(tmpdir(), 'tapedeck-export-'));
  await using server = await startServer({
    settings: { TAPEDECK_EXPORT_FOLDER: exportFolder },
    seams: { watch: false },
  });
  await loaded(server, 'D', FIRST, { key: 'symbol', date: 'date' });
  await push(server, 2);
  await push(server, 2, 'ignore', '2020-01-02');
  const { moment } = await ask(server, READ);
  await push(server, 3);
  await push(server, 3, 'ignore', '2020-01-03');
  await flush(server);
  const orders = [{ dataset: 'D', rowsPerFile: 1 }, { query: 'SELECT * FROM D ORDER BY date' }];
  const expectedRows = ['2020-01-01,2', '2020-01-02,2'];
  for (const [at, what] of orders.entries()) {
    const target = { type: 'FILE', path: `out${at}` };
    const order = { ...what, asOf: moment, format: 'csv', target };
    const creation = await send(server, 'POST', '/exports/WS', order);
    assert.equal(creation.status, 200, creation.text);
    const { exportId } = JSON.parse(creation.text) as { readonly exportId: string };
    const end = await ended(server, exportId);
    assert.equal(end, 'DONE');
    const folder = join(exportFolder, `out${at}`);
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as {
      readonly asOf: string;
      readonly parts: readonly { readonly name: string }[];
    };
    assert.equal(manifest.asOf, moment);
    const texts = manifest.parts.map(({ name }) => readFile(join(folder, name), 'utf8'));
    const lines = (await Promise.all(texts)).flatMap((text) => text.trim().split(/\r?\n/).slice(1));
    assert.deepEqual(
      lines,
      expectedRows.map((line) => `A,${line}`),
    );
  }
  await rm(exportFolder, { recursive: true, force: true });
});

async function ended(server: TestServer, exportId: string): Promise<string> {
  for (;;) {
    const { text } = await ask(server, `/exports/WS/${exportId}`);
    const { state } = JSON.parse(text) as { readonly state: string };
    if (state !== 'CREATED' && state !== 'RUNNING')
      return `${state}${state === 'DONE' ? '' : text}`;
  }
}

test('a moment whose pushes have expired is 410, its version is not', async () => {
  await using server = await start();
  await push(server, 2);
  const { moment } = await ask(server, READ);
  await flush(server);
  const { database } = server.tapedeck.services;
  await expirePushes(database, Number.MAX_SAFE_INTEGER);
  const expiredAnswer = await ask(server, `${READ}&asOf=${moment}`);
  assert.deepEqual(
    [expiredAnswer.answer.status, expiredAnswer.text.includes('pushes of that moment')],
    [410, true],
  );
  const [snapshot = ''] = moment.split(':');
  assert.equal((await ask(server, `${READ}&asOf=${snapshot}`)).answer.status, 200);
  for (const wrong of ['1:', ':1', '1:x', '1:2:3', `${'1'.repeat(12)}:1`]) {
    assert.equal((await ask(server, `${READ}&asOf=${wrong}`)).answer.status, 400, wrong);
  }
});

test('pushes into a dataset are kept up to a size: the oldest flushes are removed', async () => {
  await using server = await start();
  const { database } = server.tapedeck.services;
  const none = { first_sequence: 1, last_sequence: 1, first_ms: 1, last_ms: 1, body: '' };
  const third = [{ ...none, bytes: 22 * 1024 ** 2 }];
  for (const snapshot of [11, 12, 13]) {
    await logPushes(database, 7, third, { snapshot, timeMs: snapshot });
  }
  const left = database.selectFrom('push_log').select('snapshot_id').where('table_id', '=', 7);
  const ids = (await left.execute()).map(({ snapshot_id }) => snapshot_id);
  assert.deepEqual([ids, await readPushEnd(database, 7)], [[12, 13], 11]);
  assert.deepEqual(await readPushes(database, 7, 13, { kind: 'time', ms: 99 }), []);
});

test('a moment is unchanged after the dataset that set it was deleted before a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-moment-'));
  let server = await start(folder);
  try {
    await loaded(server, 'OTHER', FIRST, { key: 'symbol', date: 'date' });
    const row = { symbol: 'A', date: '2020-01-02', v: 1 };
    assert.equal((await send(server, 'POST', '/record/WS/OTHER', row)).status, 200);
    const { moment, text } = await ask(server, READ);
    assert.equal((await send(server, 'DELETE', '/datasets/WS/OTHER')).status, 200);
    await server.close();
    server = await start(folder);
    await push(server, 5);
    assert.equal((await ask(server, `${READ}&asOf=${moment}`)).text, text);
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test('a purge removes all pushed records, also those that were replaced meanwhile', async () => {
  await using server = await start();
  const { database } = server.tapedeck.services;
  await push(server, 2);
  const { moment } = await ask(server, READ);
  await push(server, 3);
  await flush(server);
  const logged = () => database.selectFrom('push_log').selectAll().execute();
  assert.equal((await logged()).length, 1);
  const { status, text } = await send(server, 'DELETE', '/data/WS/D/A?purge=true');
  assert.equal(status, 200, text);
  assert.deepEqual(await logged(), []);
  assert.equal((await ask(server, `${READ}&asOf=${moment}`)).answer.status, 410);
});

test('a client that sees a load as ingested reads its records', async () => {
  await using server = await startServer();
  for (let version = 1; version <= 4; version += 1) {
    const body = `symbol,date,version\nX,2020-01-01,${version}\n`;
    const query = { wait: 'false', duplicateKeyHandling: 'replace' };
    const answer = await load(server, 'A', body, query);
    const { jobUrl } = (await answer.json()) as { readonly jobUrl: string };
    const path = jobUrl.replace('/v1', '');
    const list = path.slice(0, path.lastIndexOf('/'));
    const looks = Array.from({ length: 3 }, async (_, at) => {
      const place = at === 0 ? `${list}?limit=1` : path;
      for (;;) {
        const { text } = await send(server, 'GET', place);
        if (text.includes('"status":"INGESTED"')) return read(server, '/data/WS/A/X');
        assert.doesNotMatch(text, /"status":"ERROR"/);
      }
    });
    for (const text of await Promise.all(looks)) {
      assert.equal(text, `[{"symbol":"X","date":"2020-01-01","version":${version}}]`);
    }
  }
});
