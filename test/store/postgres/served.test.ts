// A server whose catalog is in PostgreSQL: odd texts, PostgreSQL unavailable, and a server that is killed.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, test } from 'vitest';
import { loaded, read, send } from '../../base/client.ts';
import { runHere } from '../../cli/commandHere.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { startWire } from '../../base/servers/wire.ts';
import type { AtCrashPoint } from '../../../store/base/crashPoints.ts';
import { postgresHere, type PostgresHere } from './postgresHere.ts';

const localPostgres = await postgresHere();
const here = localPostgres as PostgresHere;
const postgresTest = test.skipIf(localPostgres === undefined);
/** Tests that wait for outages: they run concurrently. */
const outageTest = test.skipIf(localPostgres === undefined).concurrent;
afterAll(() => localPostgres?.[Symbol.asyncDispose]());

const started = (schema: string, folder?: string): Promise<TestServer> => {
  const settings = { TAPEDECK_DATABASE: here.url(schema) };
  return startServer({ settings, ...(folder === undefined ? {} : { folder }) });
};

const INDEX = { key: 'symbol', date: 'date' };

postgresTest('keys with a character 0 are found, beside those without', async () => {
  await using server = await started('zero');
  const keys = ['a\0b', 'a\0', 'a', 'b\u0001', '\uFFFD', '\0'];
  for (const symbol of keys) {
    await loaded(server, 'Z', JSON.stringify([{ symbol, date: '2024-01-01', n: 1 }]), INDEX);
  }
  for (const symbol of keys) {
    const answer = await read(server, `/data/WS/Z/${encodeURIComponent(symbol)}`);
    assert.deepEqual(JSON.parse(answer), [{ symbol, date: '2024-01-01', n: 1 }]);
  }
});

outageTest(
  'PostgreSQL unavailable: reads are answered, writes refused in words, nothing is lost',
  async () => {
    // The other tests need theirs meanwhile.
    await using own = (await postgresHere()) as PostgresHere;
    const settings = { TAPEDECK_DATABASE: own.url('away') };
    await using server = await startServer({ settings });
    await loaded(server, 'D', 'symbol,date,n\nA,2024-01-01,1\n', INDEX);
    const before = await read(server, '/data/WS/D/A');
    const { up } = await own.postgres.down();
    try {
      const charged = await read(server, '/data/WS/D/A');
      assert.equal(charged, before, 'memory answers');
      const push = send(server, 'POST', '/record/WS/D', [
        { symbol: 'B', date: '2024-01-01', n: 2 },
      ]);
      const refused = await push;
      assert.equal(refused.status, 503, refused.text);
      assert.doesNotMatch(
        refused.text,
        /127\.0\.0\.1/,
        'the location of the catalog stays private',
      );
      const soon = performance.now();
      const again = await send(server, 'POST', '/record/WS/D', [
        { symbol: 'C', date: '2024-01-01', n: 3 },
      ]);
      assert.equal(again.status, 503);
      assert.ok(performance.now() - soon < 5_000, 'a later request is refused immediately');
      const ready = await fetch(`${server.base}/readyz`);
      assert.equal(ready.status, 503, await ready.text());
    } finally {
      await up();
    }
    for (let status = 0; status !== 200; await sleep(100)) {
      const one = [{ symbol: 'D', date: '2024-01-01', n: 4 }];
      ({ status } = await send(server, 'POST', '/record/WS/D', one));
    }
    const keys = JSON.parse(await read(server, '/data/WS/D?limit=10')) as readonly {
      symbol: string;
    }[];
    assert.deepEqual(keys.map(({ symbol }) => symbol).sort(), ['A', 'D']);
    // Two answers of a record, and one of two: the one during the outage is charged as well.
    for (let used = 0; used !== 4; await sleep(100)) {
      const usage = JSON.parse((await send(server, 'GET', '/account/usage')).text) as {
        readonly messages: { readonly keyUsage: Readonly<Record<string, number>> };
      };
      used = Object.entries(usage.messages.keyUsage)
        .filter(([key]) => key === 'WS.D')
        .reduce((sum, [, count]) => sum + count, 0);
      assert.ok(used <= 4, `${used} were charged`);
    }
  },
);

outageTest('a load whose connection ends during the commit is completed all the same', async () => {
  await using wire = await startWire(here.postgres.port);
  let cuts = 0;
  const at: AtCrashPoint = (point) => {
    if (point !== 'transaction-open' || cuts === 0) return;
    cuts -= 1;
    wire.cut();
  };
  const settings = { TAPEDECK_DATABASE: here.url('cut_load', wire.port) };
  await using server = await startServer({ settings, seams: { at } });
  await loaded(server, 'D', 'symbol,date,n\nA,2024-01-01,1\n', INDEX);
  cuts = 2;
  await loaded(server, 'D', 'symbol,date,n\nB,2024-01-01,2\n', INDEX);
  assert.equal(cuts, 0);
  const all = JSON.parse(await read(server, '/data/WS/D?limit=10')) as readonly unknown[];
  assert.equal(all.length, 2);
});

outageTest('PostgreSQL unavailable after a commit: it is stored once, and visible', async () => {
  await using wire = await startWire(Number(new URL(here.url('shown')).port));
  let isNext = false;
  let back: NodeJS.Timeout | undefined;
  const at: AtCrashPoint = (point) => {
    if (!isNext || point !== 'transaction-committed') return;
    isNext = false;
    wire.breakAfter(0, 'close');
    wire.cut();
    // Longer than a request to the catalog waits by default.
    back = setTimeout(() => wire.mend(), 12_000);
  };
  const settings = { TAPEDECK_DATABASE: here.url('shown', wire.port) };
  await using server = await startServer({ settings, seams: { at, watch: false } });
  await loaded(server, 'D', 'symbol,n\nA,1\n', { uniqueIndex: 'false' });
  isNext = true;
  const { status } = await loaded(server, 'D', 'symbol,n\nB,2\n');
  clearTimeout(back);
  assert.equal(status, 'INGESTED');
  const records = JSON.parse(await read(server, '/data/WS/D?limit=10')) as readonly object[];
  assert.deepEqual(records, [
    { symbol: 'B', n: 2 },
    { symbol: 'A', n: 1 },
  ]);
});

postgresTest('commands find the catalog in PostgreSQL', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-served-'));
  try {
    const env = { TAPEDECK_DATA: folder, TAPEDECK_DATABASE: here.url('commands') };
    const first = await runHere(['doctor'], { env });
    assert.match(first.stdout, /NOTE {2}database: PostgreSQL at .* has no schema commands yet/);
    assert.match(first.stdout, /WRONG database: .* runs with fsync = off/);
    {
      await using server = await started('commands', folder);
      await loaded(server, 'D', 'symbol,date,n\nA,2024-01-01,1\n', INDEX);
    }
    const list = await runHere(['dataset', 'list', '--json'], { env });
    assert.match(list.stdout, /"datasetId":"D"/, list.stderr);
    const doctor = await runHere(['doctor'], { env });
    assert.match(doctor.stdout, /ok {4}database: .* has the catalog in schema commands/);
    assert.match(doctor.stdout, /ok {4}sources: 0 schedules/);
    const nowhere = { ...env, TAPEDECK_DATABASE: 'postgres://u:geheim@127.0.0.1:1/d' };
    const lost = await runHere(['doctor'], { env: nowhere });
    assert.match(
      lost.stdout,
      /WRONG database: PostgreSQL at 127\.0\.0\.1:1, database d: .*REFUSED/,
    );
    const refused = await runHere(['dataset', 'list'], { env: nowhere });
    assert.match(refused.stderr, /PostgreSQL at 127\.0\.0\.1:1, database d/);
    assert.doesNotMatch(lost.stdout + refused.stderr, /geheim/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
