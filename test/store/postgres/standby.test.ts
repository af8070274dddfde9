// Two servers, one catalog in PostgreSQL, one bucket: the second one waits, and replaces the first one when
// that stops. Acknowledged records are stored, the bill equals the reported messages, and only one serves at
// any time.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, test } from 'vitest';
import { readSettings } from '../../../store/base/settings/settings.ts';
import { PostgresEngine } from '../../../store/postgres/engine.ts';
import { fetchText, headers, type Killable, killable } from '../../soak/crash/rounds/killable.ts';
import { note } from '../../base/notes.ts';
import { freePort } from '../../base/servers/daemon.ts';
import { startSwift } from '../../base/servers/swift.ts';
import { startWire } from '../../base/servers/wire.ts';
import { lakeInBucket } from '../bucket/lakeInBucket.ts';
import { postgresHere, type PostgresHere } from './postgresHere.ts';

const [localPostgres, swift] = await Promise.all([postgresHere(), startSwift()]);
if (swift === undefined) assert.notEqual(process.env['CI'], 'true', 'Swift is not here');
const here = localPostgres as PostgresHere;
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([localPostgres?.[Symbol.asyncDispose](), swift?.[Symbol.asyncDispose]()]);
});

const KEY = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';

const DATASET = JSON.stringify({
  dataset: {
    datasetId: 'D',
    schema: {
      properties: {
        symbol: { type: 'string' },
        day: { type: 'string', format: 'date' },
        n: { type: 'integer' },
      },
    },
    columnMapping: { key: 'symbol', date: 'day' },
  },
});

const readAnswer = async (base: string, path: string): Promise<string> => {
  const answer = await fetch(`${base}${path}`);
  return `${answer.status} ${await answer.text()}`;
};

/** Pushes until `isOver`; returns the acknowledged numbers. */
async function pushing(server: Killable, isOver: () => boolean): Promise<readonly number[]> {
  const done: number[] = [];
  for (let n = 0; !isOver(); n += 1) {
    const body = JSON.stringify([{ symbol: `S${n}`, day: '2024-01-01', n }]);
    const url = `${server.base}/v1/record/WS/D`;
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
    if (answer?.status === 200) done.push(n);
    await answer?.arrayBuffer().catch(() => undefined);
  }
  return done;
}

/** The pushed numbers in the dataset, with repeats. */
async function numbersAt({ base }: Killable): Promise<readonly number[]> {
  const all = await fetchText(base, 'GET', '/data/WS/D?limit=10000');
  const records = JSON.parse(all) as readonly { readonly n: number }[];
  return records.map(({ n }) => n).filter((n) => n >= 0);
}

async function prepare({ base }: Killable): Promise<void> {
  await fetchText(base, 'POST', '/workspaces', '{"name":"WS"}');
  await fetchText(base, 'POST', '/datasets/WS', DATASET);
  const loaded = '[{"symbol":"L","day":"2024-01-01","n":-1}]';
  await fetchText(base, 'POST', '/data/WS/D?wait=true', loaded);
}

test.skipIf(localPostgres === undefined || swift === undefined)(
  'a standby takes over when the server is killed: nothing acknowledged is lost',
  async (context) => {
    assert.ok(swift);
    await using lake = await lakeInBucket(swift);
    const other = await mkdtemp(join(tmpdir(), 'tapedeck-standby-'));
    try {
      const shared = {
        ...lake.settings,
        TAPEDECK_DATABASE: here.url('pair'),
        TAPEDECK_ENCRYPTION_KEY: KEY,
        TAPEDECK_STANDBY: 'on',
      };
      const first = await killable(lake.folder, children, shared);
      const port = String(await freePort());
      const monitoring = `http://127.0.0.1:${await freePort()}/metrics`;
      const waits = killable(other, children, {
        ...shared,
        TAPEDECK_METRICS_PORT: new URL(monitoring).port,
        TAPEDECK_FOLDER: other,
        TAPEDECK_PORT: port,
      });
      const place = `http://127.0.0.1:${port}`;
      while ((await readAnswer(place, '/healthz').catch(() => '')) !== '200 ok\n') await sleep(50);
      const serving = new URL(first.base).host;
      while ((await readAnswer(place, '/readyz')) !== `200 ready: ${serving} serves\n`)
        await sleep(50);

      assert.match(await (await fetch(monitoring)).text(), /^tapedeck_serving_node\{/m);

      await prepare(first);
      const read = await fetchText(first.base, 'GET', '/data/WS/D/L');
      await sleep(300);
      let isOver = false;
      const acknowledged = pushing(first, () => isOver);
      await sleep(700);
      const killedMs = performance.now();
      await first.kill();
      isOver = true;
      const second = await waits;
      const tookMs = Math.round(performance.now() - killedMs);
      const sent = await acknowledged;
      note(
        context,
        `${sent.length} pushes were acknowledged; the other one served after ${tookMs} ms`,
      );
      assert.ok(sent.length > 10);
      assert.equal(await fetchText(second.base, 'GET', '/data/WS/D/L'), read);
      assert.match(await (await fetch(monitoring)).text(), /^tapedeck_lake_snapshot \d+$/m);
      const numbers = await numbersAt(second);
      assert.equal(new Set(numbers).size, numbers.length, 'once each');
      for (const n of sent) assert.ok(numbers.includes(n), `${n} was acknowledged`);
      await sleep(300);
      const usage = JSON.parse(await fetchText(second.base, 'GET', '/account/usage')) as {
        readonly messages: { readonly keyUsage: Readonly<Record<string, number>> };
      };
      assert.equal(usage.messages.keyUsage['WS.D'], 3 + numbers.length, 'as reported by both');
    } finally {
      await rm(other, { recursive: true, force: true });
    }
  },
);

test.skipIf(localPostgres === undefined)(
  'a server without contact to PostgreSQL ends before another one may take over',
  async () => {
    await using wire = await startWire(here.postgres.port);
    const takeoverErrors: Error[] = [];
    const engine = await PostgresEngine.open(here.settings('guarded', wire.port), {
      guard: { everyMs: 50, lostMs: 600 },
      onTaken: (error) => takeoverErrors.push(error),
    });
    await sleep(1_000);
    assert.deepEqual(takeoverErrors, [], 'in contact all the time');
    wire.breakAfter(0, 'stall');
    for (const untilMs = performance.now() + 5_000; takeoverErrors.length === 0; await sleep(20)) {
      assert.ok(performance.now() < untilMs);
    }
    assert.match(String(takeoverErrors[0]), /did not answer for 600 ms: another server may serve/);
    await engine.close();
  },
);

test('a standby without the shared catalog and bucket is refused', () => {
  const database = { TAPEDECK_DATABASE: 'postgres://u:p@localhost/d', TAPEDECK_STANDBY: 'on' };
  const rule = /TAPEDECK_STANDBY=on needs TAPEDECK_DATABASE, TAPEDECK_DATA=s3:/;
  assert.throws(() => readSettings({ TAPEDECK_STANDBY: 'on' }), rule);
  assert.throws(() => readSettings({ ...database, TAPEDECK_ENCRYPTION_KEY: KEY }), rule);
  assert.throws(() => readSettings({ ...database, TAPEDECK_STANDBY: 'yes' }), /must be on or off/);
});
