// Schedules as their owner sees them: run immediately, paused while a job runs, no overlap, retried after a
// transient fault, and with a clock that is set back.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import type { HealthReport } from '../../jobs/upkeep/health.ts';
import { startServer, type TestServer } from '../base/server.ts';

const SETTINGS = { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };
const START_MS = Date.UTC(2024, 1, 29, 17);
const CSV = 'symbol,date,price\nAUDI,2024-01-01,10.5\n';

type JsonObject = Readonly<Record<string, unknown>>;

/** A source whose responses can be held back, with the faults that it returns first. */
async function openSource(faults: number[] = []) {
  let gate = Promise.resolve();
  let requestCount = 0;
  const server = createServer((_request, response) => {
    requestCount += 1;
    void gate.then(() => response.writeHead(faults.shift() ?? 200).end(CSV));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices.csv`,
    countRequests: () => requestCount,
    hold: (until: Promise<void>) => {
      gate = until;
    },
    [Symbol.asyncDispose]: (): Promise<void> => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function ask(
  server: TestServer,
  method: string,
  path: string,
  value?: object,
): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const body = value === undefined ? {} : { body: JSON.stringify(value) };
  const answer = await fetch(`${server.base}/v1${path}`, { method, headers, ...body });
  const json = (await answer.json()) as JsonObject;
  assert.ok(answer.ok || answer.status === 409, JSON.stringify(json));
  return json;
}

/** Creates a schedule of a source; returns its id. */
async function scheduled(server: TestServer, url: string, more: object = {}): Promise<string> {
  const source = await ask(server, 'POST', '/data-sources/WS', { type: 'HTTP', url });
  const { dataSourceId } = source;
  const plan = { dataSourceId, datasetId: 'PRICES', every: 'hour', ...more };
  const schedule = await ask(server, 'POST', '/ingestion-schedules/WS', plan);
  return String(schedule['ingestionScheduleId']);
}

const history = async (server: TestServer, id: string): Promise<readonly JsonObject[]> =>
  (await ask(
    server,
    'GET',
    `/ingestion-history/WS/${id}?sort=asc`,
  )) as unknown as readonly JsonObject[];

/** Waits until no job runs. */
async function idle({ tapedeck }: TestServer): Promise<void> {
  const { runner } = tapedeck.services;
  while (runner.load().running + runner.load().waiting > 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a running job is not overtaken, and a pause lets it end and starts no other', async () => {
  await using source = await openSource();
  let now = START_MS;
  const seams = { watch: false, clock: () => now };
  await using server = await startServer({ settings: SETTINGS, seams });
  const { scheduler } = server.tapedeck.services;
  const released = Promise.withResolvers<void>();
  source.hold(released.promise);
  const id = await scheduled(server, source.url);
  assert.equal(await scheduler.takeDue(), 1, 'it runs immediately');
  assert.equal((await ask(server, 'GET', `/ingestion-schedules/WS/${id}`))['running'], true);
  now += 3 * 3_600_000;
  assert.equal(await scheduler.takeDue(), 0, 'a due run waits for the running job');
  const conflict = await ask(server, 'POST', `/ingestion-schedules/WS/${id}/run`);
  assert.match(String(conflict['message']), /has not ended yet/);
  const plan = { datasetId: 'PRICES', every: 'hour', state: 'PAUSED' };
  const sources = await ask(server, 'GET', '/data-sources/WS');
  const [{ dataSourceId } = {}] = sources as unknown as readonly JsonObject[];
  await ask(server, 'PUT', `/ingestion-schedules/WS/${id}`, { ...plan, dataSourceId });
  released.resolve();
  await idle(server);
  now += 3 * 3_600_000;
  assert.equal(await scheduler.takeDue(), 0, 'a paused one is never due');
  const runs = await history(server, id);
  assert.deepEqual(
    runs.map(({ status, outcome }) => [outcome, status]),
    [['RUN', 'INGESTED']],
  );
  assert.equal(source.countRequests(), 1);
});

test('a transient fault is retried, a permanent one is not', async () => {
  await using source = await openSource([503, 503, 200, 404]);
  let now = START_MS;
  const seams = { watch: false, clock: () => now };
  await using server = await startServer({ settings: SETTINGS, seams });
  const { scheduler } = server.tapedeck.services;
  const id = await scheduled(server, source.url, { retryWaitSeconds: 60, attempts: 3 });
  for (let tries = 0; tries < 3; tries += 1) {
    assert.equal(await scheduler.takeDue(), 1, `try ${tries + 1}`);
    await idle(server);
    const { retryAt } = await ask(server, 'GET', `/ingestion-schedules/WS/${id}`);
    if (tries === 2) assert.equal(retryAt, null);
    else {
      const wait = Number(retryAt) - now;
      const plain = 60_000 * 2 ** tries;
      assert.ok(wait >= plain * 0.75 && wait <= plain * 1.25, `it waits ${wait} ms`);
      now = Number(retryAt);
    }
  }
  now = START_MS + 3_600_000;
  assert.equal(await scheduler.takeDue(), 1);
  await idle(server);
  const runs = await history(server, id);
  assert.deepEqual(
    runs.map(({ attempt, status }) => [attempt, status]),
    [
      [1, 'ERROR'],
      [2, 'ERROR'],
      [3, 'INGESTED'],
      [1, 'ERROR'],
    ],
  );
  assert.match(String(runs[0]?.['error']), /503/);
  assert.match(String(runs[3]?.['error']), /404/);
  assert.equal((await ask(server, 'GET', `/ingestion-schedules/WS/${id}`))['retryAt'], null);
});

test('a clock that is set back runs nothing twice', async () => {
  await using source = await openSource();
  let now = START_MS;
  const seams = { watch: false, clock: () => now };
  await using server = await startServer({ settings: SETTINGS, seams });
  const { scheduler } = server.tapedeck.services;
  const id = await scheduled(server, source.url);
  for (const minutes of [0, 60, 30, 0, 61, 119]) {
    now = START_MS + minutes * 60_000;
    await scheduler.takeDue();
    await idle(server);
  }
  const runs = await history(server, id);
  assert.deepEqual(runs.map(({ due }) => Number(due)).toSorted(), [START_MS, START_MS + 3_600_000]);
});

const statusOf = async ({ base, tapedeck }: TestServer): Promise<HealthReport> => {
  const headers = { authorization: `Bearer ${tapedeck.services.adminToken}` };
  const answer = await fetch(`${base}/v1/admin/status`, { headers });
  return (await answer.json()) as HealthReport;
};

const metricOf = async (server: TestServer, name: string): Promise<string | undefined> => {
  const { base, tapedeck } = server;
  const open = await (await fetch(`${base}/metrics`)).text();
  assert.match(open, /^tapedeck_schedules_failing [01]$/m);
  assert.ok(!open.includes('PRICES'), 'only the operator sees names');
  const headers = { authorization: `Bearer ${tapedeck.services.adminToken}` };
  const text = await (await fetch(`${base}/metrics`, { headers })).text();
  const place = '\\{workspace="WS",dataset="PRICES",schedule="[^"]*"\\}';
  return new RegExp(`^tapedeck_schedule_${name}${place} (\\S+)$`, 'm').exec(text)?.[1];
};

test('a failing schedule is in metrics and status, with its reason, until a run succeeds', async () => {
  await using source = await openSource([404, 404, 404]);
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-failing-'));
  let now = START_MS;
  const seams = { watch: false, clock: () => now };
  const run = async (server: TestServer): Promise<void> => {
    now += 3_600_000;
    assert.equal(await server.tapedeck.services.scheduler.takeDue(), 1);
    await idle(server);
  };
  try {
    {
      await using server = await startServer({ folder, settings: SETTINGS, seams });
      await scheduled(server, source.url, { attempts: 1 });
      await run(server);
      await run(server);
      assert.equal(await metricOf(server, 'failed_in_a_row'), '2');
      assert.equal(await metricOf(server, 'last_success_seconds'), undefined);
      const { problems, schedules } = await statusOf(server);
      const [first] = problems;
      assert.equal(first?.level, 'fault');
      assert.match(first?.what ?? '', /of WS\.PRICES failed 2 times in a row: .*404/);
      assert.match(first?.advice ?? '', /tapedeck schedule run/);
      assert.equal(schedules[0]?.failedInARow, 2);
      assert.ok(problems.some(({ what }) => what === 'no backup was made'));
    }
    {
      await using server = await startServer({ folder, settings: SETTINGS, seams });
      const { schedules } = await statusOf(server);
      assert.equal(schedules[0]?.failedInARow, 1, 'a start knows that it failed');
      assert.match(schedules[0]?.reason ?? '', /404/);
      await run(server);
      assert.equal(await metricOf(server, 'failed_in_a_row'), '2');
      await run(server);
      assert.equal(await metricOf(server, 'failed_in_a_row'), '0');
      assert.equal(await metricOf(server, 'last_success_seconds'), String(now / 1_000));
      const { problems } = await statusOf(server);
      assert.ok(
        !problems.some(({ what }) => what.startsWith('schedule')),
        JSON.stringify(problems),
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
