// The memory of a node that answers reads beside the one that serves: a query that began before a change
// still finds the earlier state. The node that serves is a real server; its messages arrive immediately.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'vitest';
import { openReplica, readingPools } from '../../../app/nodes/replica.ts';
import { currentMoment } from '../../../reads/series/moments.ts';
import { compactDataset } from '../../../jobs/upkeep/compaction.ts';
import { flushDataset } from '../../../jobs/run/flush.ts';
import { VersionOutdated } from '../../../store/files/files.ts';
import { loaded, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const INDEX = { key: 'symbol', date: 'day' };
const LOADED = 3;
const PUSHED = 5;

const dayOf = (n: number): string => new Date(n * 86_400_000).toISOString().slice(0, 10);

async function push(server: TestServer, from: number, to: number): Promise<void> {
  const records = Array.from({ length: to - from }, (_, n) => {
    return { symbol: 'A', day: dayOf(from + n), v: from + n };
  });
  const { status, text } = await send(server, 'POST', '/record/WS/K', records);
  assert.equal(status, 200, text);
}

/** Another node's memory over the same catalog, which receives all messages of the server. */
async function replicaOf(server: TestServer, tableId: number) {
  const { database, lake, pending, settings } = server.tapedeck.services;
  const root = join(server.folder, 'other');
  const folder = { lake: join(root, 'lake'), temporary: join(root, 'tmp') };
  for (const path of Object.values(folder)) await mkdir(path, { recursive: true });
  const pools = readingPools(settings, folder);
  const snapshot = lake.snapshot;
  const replica = await openReplica({
    settings,
    database,
    files: lake.files,
    copies: [],
    folder,
    pools,
    snapshot,
  });
  let applyQueue: Promise<unknown> = Promise.resolve();
  const applyMessages = (...news: Parameters<typeof replica.apply>): void => {
    applyQueue = applyQueue.then(() => replica.apply(...news));
  };
  applyMessages({ kind: 'table', pending: { tableId, rows: pending.pendingRows(tableId) } });
  lake.onChange((change) => applyMessages({ kind: 'changed', change }));
  pending.onPush((pushes) => applyMessages({ kind: 'pushed', made: pushes }));
  pending.onFlush((id, at, sequences) =>
    applyMessages({ kind: 'flushed', tableId: id, snapshot: at, sequences }),
  );
  return { services: replica.services, heard: () => applyQueue };
}

test('a query that began before records were stored, and files compacted, finds all', async () => {
  const settings = { TAPEDECK_ENCRYPTION_KEY: 'ab'.repeat(32) };
  await using server = await startServer({ settings, seams: { watch: false } });
  const csv = Array.from({ length: LOADED }, (_, n) => `A,${dayOf(n)},${n}`).join('\n');
  await loaded(server, 'K', `symbol,day,v\n${csv}\n`, INDEX);
  const { ingestion, lake, pending, runner } = server.tapedeck.services;
  const dataset = lake.directory.dataset('WS', 'K');
  assert.ok(dataset);
  const { tableId } = dataset;
  const { heard, services } = await replicaOf(server, tableId);
  await push(server, LOADED, LOADED + PUSHED);
  await heard();
  const began = currentMoment(services);
  await runner.inTurn('WS', 'K', async () => {
    await flushDataset(dataset, { pending, ingestion });
    assert.ok((await compactDataset(dataset, ingestion, 1)) > 1);
  });
  await loaded(server, 'K', `symbol,day,v\nB,${dayOf(0)},0\n`);
  await heard();
  const countRecords = async (): Promise<number> => {
    const table = await services.lake.recentTable(tableId, began.snapshot);
    const rows = services.pending.rowsBeside(tableId, began.snapshot, undefined, began.sequence);
    return (table?.records ?? 0) + rows.length;
  };
  assert.equal(await countRecords(), LOADED + PUSHED);
  // Purged records are nowhere, and a query that began before the purge starts again.
  await send(server, 'DELETE', '/data/WS/K/A?purge=true');
  await heard();
  assert.deepEqual(services.pending.rowsBeside(tableId, began.snapshot), []);
  await assert.rejects(countRecords(), VersionOutdated);
});
