// A dataset's upkeep: many small loads become few files, storage has a limit that does not affect reads,
// and texts of the index have a maximum length.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { makeUpkeep } from '../../../jobs/upkeep/upkeep.ts';
import { createWorkspace } from '../../../store/lake/datasetEdits.ts';
import { readSnapshots } from '../../../store/lake/history/retention.ts';
import { get, load, loaded, read } from '../../base/client.ts';
import { lakePaths, startServer, type TestServer } from '../../base/server.ts';

const GB = 1024 ** 3;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEEP = { allMs: DAY_MS, hourlyMs: 30 * DAY_MS, dailyMs: 100 * DAY_MS };

const NIGHTS = 15;

test('nightly loads become one file; every answer and every old version stays the same', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const { services } = server.tapedeck;
  const { lake } = services;
  const upkeep = makeUpkeep({ ...services, keep: KEEP });
  const snapshots: number[] = [];
  for (let day = 1; day <= NIGHTS; day += 1) {
    const date = `2020-01-${String(day).padStart(2, '0')}`;
    const rows = Array.from({ length: 20 }, (_, at) => `S${at},${date},${day * 100 + at}`);
    const correction = day % 7 === 0 ? `\nS0,2020-01-01,${day}` : '';
    const how = { key: 'symbol', date: 'date' };
    const csv = `symbol,date,v\n${rows.join('\n')}${correction}\n`;
    snapshots.push((await loaded(server, 'NIGHTLY', csv, how)).snapshot);
  }
  const dataset = lake.directory.dataset('WS', 'NIGHTLY');
  assert.ok(dataset);
  const all = '/data/WS/NIGHTLY?limit=1000';
  const before = await read(server, all);
  const then = await read(server, `${all}&asOf=${snapshots[9]}`);
  const files = async (): Promise<number> => (await lake.table(dataset.tableId))?.files.length ?? 0;
  assert.equal(await files(), NIGHTS);
  await upkeep.compactChanged();
  assert.equal(await files(), 1);
  assert.equal(await read(server, all), before);
  assert.equal(await read(server, `${all}&asOf=${snapshots[9]}`), then);
  await upkeep.compactChanged();
  assert.equal(await files(), 1, 'nothing is left to do');
  const versions = await get(server, '/datasets/WS/NIGHTLY/versions?limit=1');
  const [newest] = (await versions.json()) as readonly { compaction: boolean; inserted: number }[];
  assert.deepEqual([newest?.compaction, newest?.inserted], [true, NIGHTS * 20]);
});

test('above the storage limit loads fail with the amount, reads work, space permits loads', async () => {
  await using server = await startServer();
  await loaded(server, 'D', 'symbol,date,v\nA,2020-01-01,1\n');
  const { accounts, lake, storage } = server.tapedeck.services;
  const { accountId } = server.tapedeck;
  const { live, history } = await storage.workspaceBytes('WS');
  assert.ok(live > 0);
  assert.equal(history, 0);
  const account = accounts.account(accountId);
  assert.ok(account);
  const tier = { ...account.tier, storageBytesMax: live };
  Object.assign(account as { tier: object }, { tier });
  const refused = await load(server, 'D', 'symbol,date,v\nB,2020-01-01,1\n');
  assert.equal(refused.status, 402);
  const pattern = new RegExp(`WS stores ${live} bytes, 0 of them history; .* is ${live}`);
  assert.match(await refused.text(), pattern);
  const url = `${server.base}/v1/record/WS/D?token=${server.secret}`;
  const pushed = await fetch(url, { method: 'POST', body: '{"symbol":"B","date":"2020-01-01"}' });
  assert.equal(pushed.status, 402);
  assert.equal(await read(server, '/data/WS/D'), '[{"symbol":"A","date":"2020-01-01","v":1}]');
  Object.assign(account as { tier: object }, { tier: { ...tier, storageBytesMax: live * 9 } });
  await loaded(server, 'D', 'symbol,date,v\nB,2020-01-01,1\n');
  assert.ok((await storage.workspaceBytes('WS')).live > live, `${lake.snapshot}`);
});

test('a new account stores 5 GB, the owner of the server 4 TB, and both limits are shown', async () => {
  await using server = await startServer();
  const { accounts, lake } = server.tapedeck.services;
  const accountId = await accounts.createAccount('guest', 'free');
  const { text: secret } = await accounts.createToken(accountId, 'secret');
  await createWorkspace(lake, 'GUEST', accountId, 0);
  const limitOf = async (token: string): Promise<number | undefined> => {
    const answer = await fetch(`${server.base}/v1/workspaces?token=${token}`);
    const [first] = (await answer.json()) as readonly { storage: { limit: number } }[];
    return first?.storage.limit;
  };
  assert.deepEqual([await limitOf(secret), await limitOf(server.secret)], [5 * GB, 4_096 * GB]);
  const headers = { authorization: `Bearer ${server.tapedeck.services.adminToken}` };
  const status = await fetch(`${server.base}/v1/admin/status`, { headers });
  const { storage } = (await status.json()) as {
    readonly storage: readonly { readonly workspace: string; readonly limit: number }[];
  };
  const limits = new Map(storage.map(({ limit, workspace }) => [workspace, limit]));
  assert.deepEqual([limits.get('GUEST'), limits.get('WS')], [5 * GB, 4_096 * GB]);
});

test('a text of the index has at most 1,500 bytes, in loads and pushes', async () => {
  await using server = await startServer();
  const key = 'k'.repeat(1_500);
  const csv = `symbol,date,v\n${key},2020-01-01,1\n${key}x,2020-01-01,2\n`;
  for (const round of ['first', 'second']) {
    const job = await loaded(server, 'LONG', csv, { key: 'symbol', date: 'date' });
    assert.deepEqual([job.recordsInvalid, job.recordsValidated], [1, 1], round);
  }
  for (const [symbol, status] of [
    [`${'k'.repeat(1_499)}y`, 200],
    [`${key}z`, 400],
  ] as const) {
    const url = `${server.base}/v1/record/WS/LONG?token=${server.secret}`;
    const body = JSON.stringify({ symbol, date: '2020-01-02', v: 1 });
    const answer = await fetch(url, { method: 'POST', body });
    assert.equal(answer.status, status, await answer.text());
  }
});

const LOADS = 18;

test('versions are thinned by age; the rest answer as before, files of the others are removed', async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  await using server = await startServer({ seams: { clock: () => nowMs, watch: false } });
  const { database, lake } = server.tapedeck.services;
  const upkeep = makeUpkeep({ ...server.tapedeck.services, keep: KEEP });
  const answers: { readonly snapshot: number; readonly text: string }[] = [];
  for (let at = 0; at < LOADS; at += 1) {
    nowMs += at % 3 === 0 ? 20 * HOUR_MS : 20 * 60_000;
    const csv = `symbol,date,v\nA,2020-01-01,${at}\nB${at},2020-01-01,1\n`;
    const how = { duplicateKeyHandling: 'replace', key: 'symbol', date: 'date' };
    const { snapshot } = await loaded(server, 'D', csv, how);
    answers.push({ snapshot, text: await read(server, '/data/WS/D?limit=1000') });
    // An overwrite leaves a file that only its own version needs.
    await loaded(server, 'E', csv, { overwrite: 'true', key: 'symbol', date: 'date' });
  }
  nowMs += 10 * DAY_MS;
  const all = await readSnapshots(database);
  const newest = new Map(
    all.map(({ snapshot, timeMs }) => [Math.floor(timeMs / HOUR_MS), snapshot]),
  );
  const keptSnapshots = new Set(newest.values());
  assert.ok(keptSnapshots.size > 8 && keptSnapshots.size < all.length / 2);
  const filesBefore = (await lakePaths(server)).length;
  await upkeep.expireVersions();
  await upkeep.expireVersions();
  const asOf = async (snapshot: number): Promise<readonly [number, string]> => {
    const answer = await get(server, `/data/WS/D?limit=1000&asOf=${snapshot}`);
    return [answer.status, await answer.text()];
  };
  for (const { snapshot } of all) {
    const [status, text] = await asOf(snapshot);
    const then = answers.findLast((one) => one.snapshot <= snapshot)?.text;
    if (!keptSnapshots.has(snapshot)) assert.equal(status, 410, `snapshot ${snapshot} is gone`);
    else if (then !== undefined) assert.deepEqual([status, text], [200, then], `at ${snapshot}`);
  }
  const filesAfter = (await lakePaths(server)).length;
  assert.ok(filesAfter < filesBefore, `${filesAfter} of ${filesBefore} files`);
  const changes = await fetch(`${server.base}/v1/changes/WS/D?since=0&token=${server.secret}`);
  const versions = (await changes.json()) as readonly { inserted: unknown[] }[];
  const inserted = versions.reduce((sum, version) => sum + version.inserted.length, 0);
  assert.equal(inserted, LOADS + 1, 'remaining versions include the records of removed ones');
  nowMs += 200 * DAY_MS;
  await upkeep.expireVersions();
  assert.equal((await asOf(lake.snapshot))[0], 200, 'the latest version always stays');
  const [status, why] = await asOf([...keptSnapshots][0] ?? 0);
  const thinned = `"asOf" refers to a version that was thinned out with age: the first available version`;
  assert.deepEqual([status, why.slice(0, thinned.length)], [410, thinned]);
});

interface ReadAnswer {
  readonly snapshot: number;
  readonly ms: number;
  readonly text: string;
}

async function changeDays(server: TestServer, historyDays: unknown): Promise<number> {
  const url = `${server.base}/v1/datasets/WS/D?token=${server.secret}`;
  const body = JSON.stringify({ historyDays });
  return (await fetch(url, { method: 'PATCH', body })).status;
}

async function timeOf(server: TestServer, snapshotId: number): Promise<string> {
  const all = await readSnapshots(server.tapedeck.services.database);
  return new Date(all.find(({ snapshot }) => snapshot === snapshotId)?.timeMs ?? 0).toISOString();
}

test('a dataset keeps its own days of history, never more than the server', async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  await using server = await startServer({ seams: { clock: () => nowMs, watch: false } });
  const { lake, storage } = server.tapedeck.services;
  const upkeep = makeUpkeep({ ...server.tapedeck.services, keep: KEEP });
  const how = { overwrite: 'true', key: 'symbol', date: 'date' };
  const versions: ReadAnswer[] = [];
  const path = '/data/WS/D?limit=1000';
  for (let day = 0; day < 12; day += 1) {
    nowMs += 22 * HOUR_MS;
    const { snapshot } = await loaded(server, 'D', `symbol,date,v\nA,2020-01-01,${day}\n`, how);
    // In another hour: of older days only the last version of each hour remains.
    nowMs += 2 * HOUR_MS;
    await loaded(server, 'E', `symbol,date,v\nA,2020-01-01,${day}\n`, how);
    versions.push({ snapshot, ms: nowMs - 2 * HOUR_MS, text: await read(server, path) });
  }
  await upkeep.expireVersions();
  assert.equal(lake.horizon(lake.directory.dataset('WS', 'D')?.tableId ?? -1), undefined);
  const change = (historyDays: unknown): Promise<number> => changeDays(server, historyDays);
  for (const wrong of [-1, 3_651, 1.5, 'x']) assert.equal(await change(wrong), 400, `${wrong}`);
  const before = await storage.workspaceBytes('WS');
  const files = (await lakePaths(server)).length;
  const days = 7;
  assert.equal(await change(days), 200);
  nowMs += 60_000;
  await upkeep.expireVersions();
  await upkeep.expireVersions();
  const cutMs = nowMs - days * DAY_MS;
  const first: ReadAnswer | undefined = versions.findLast(({ ms }) => ms <= cutMs);
  assert.ok(first);
  // The lake's snapshot of that moment: a request with it returns the data as of that moment.
  const floor = first.snapshot + 1;
  const time = await timeOf(server, floor);
  const why = 'is older than the history that this dataset keeps';
  const then = `the first available version is ${floor}, of ${time}`;
  for (const { snapshot, ms, text } of versions) {
    for (const asOf of [snapshot, ms + 60_000]) {
      const answer = await get(server, `${path}&asOf=${asOf}`);
      const received: readonly [number, string] = [answer.status, await answer.text()];
      const ended = [410, `"asOf" refers to a version that ${why}: ${then}`];
      assert.deepEqual(received, ms >= cutMs ? [200, text] : ended, `${snapshot}, asOf ${asOf}`);
    }
  }
  assert.equal(await read(server, `${path}&asOf=${cutMs}`), first.text);
  const after = await storage.workspaceBytes('WS');
  assert.equal(after.live, before.live);
  assert.ok(after.history < before.history, `${after.history} of ${before.history}`);
  const expiredCount = versions.filter(({ snapshot }) => snapshot < first.snapshot).length;
  assert.equal(
    (await lakePaths(server)).length,
    files - expiredCount,
    'a file of each removed version',
  );
  assert.equal((await get(server, `/data/WS/E?asOf=${versions[0]?.snapshot}`)).status, 404);
  assert.equal((await get(server, `/data/WS/E?asOf=${versions[1]?.snapshot}`)).status, 200);
  assert.equal(await change(3_650), 200);
  assert.equal(
    (await get(server, `${path}&asOf=${versions[0]?.snapshot}`)).status,
    410,
    'for good',
  );
  nowMs += 200 * DAY_MS;
  await upkeep.expireVersions();
  assert.equal((await get(server, `${path}&asOf=${floor}`)).status, 410);
  assert.equal(await change(null), 200);
  const view = await fetch(`${server.base}/v1/datasets/WS/D?token=${server.secret}`);
  assert.equal('historyDays' in ((await view.json()) as object), false);
});
