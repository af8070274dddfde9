// Readers that do not read and senders that do not send: their resources are bounded, and released.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { localDisk } from '../../../store/base/disk.ts';
import { createWorkspace } from '../../../store/lake/datasetEdits.ts';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const rows = Array.from({ length: 400 }, (_, at) => `K${at},2024-01-01,${at}`).join('\n');
/** 160,000 rows, some 16 MB: a file on the disk until it is read. */
const LONG = `SELECT a.symbol || '${'x'.repeat(80)}' AS s, b.v FROM T a, T b`;

const pathOf = (token: string, workspace = 'WS'): string =>
  `/v1/sql-query/${workspace}?${new URLSearchParams({ token, sqlQuery: LONG })}`;

/** Sends a request and reads only the head of the answer. */
function lazy({ base }: TestServer, path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    socket.once('error', reject);
    socket.once('readable', () => resolve(socket));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  });
}

async function bytesIn(folder: string): Promise<number> {
  const names = await localDisk.list(join(folder, 'tmp'));
  return names
    .map((name) => statSync(join(folder, 'tmp', name), { throwIfNoEntry: false }))
    .reduce((sum, entry) => sum + (entry?.size ?? 0), 0);
}

async function until(what: () => Promise<boolean>): Promise<void> {
  for (let time = 0; time < 300 && !(await what()); time += 1) await sleep(50);
  assert.ok(await what());
}

test('unread answers of one account have their share of the disk, and no more', async () => {
  const settings = { TAPEDECK_ANSWER_DISK: String(40 * 1024 ** 2) };
  await using server = await startServer({ settings });
  await loaded(server, 'T', `symbol,date,v\n${rows}\n`);
  const { accounts, lake } = server.tapedeck.services;
  const neighbour = await accounts.createAccount('neighbour', 'scale');
  const token = (await accounts.createToken(neighbour, 'secret')).text;
  await createWorkspace(lake, 'NEXT', neighbour, 0);
  const url = `${server.base}/v1/data/NEXT/T?wait=true&token=${token}`;
  await (await fetch(url, { method: 'POST', body: `symbol,date,v\n${rows}\n` })).text();
  const sockets = [
    await lazy(server, pathOf(server.secret)),
    await lazy(server, pathOf(server.secret)),
  ];
  const storedBytes = await bytesIn(server.folder);
  assert.ok(storedBytes > 20 * 1024 ** 2, `${storedBytes} bytes`);
  const refused = await fetch(`${server.base}${pathOf(server.secret)}`);
  assert.equal(refused.status, 503);
  assert.match(
    await refused.text(),
    /answers of this account that are not read yet take \d+ bytes/,
  );
  await until(async () => (await bytesIn(server.folder)) <= 40 * 1024 ** 2);
  const other = await fetch(`${server.base}${pathOf(token, 'NEXT')}`);
  assert.equal(other.status, 200);
  assert.ok((await other.text()).length > 10_000_000);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await bytesIn(server.folder)) === 0);
  const again = await fetch(`${server.base}${pathOf(server.secret)}`);
  assert.equal(again.status, 200);
  await again.text();
});

test('a client that does not read is disconnected, a slow reader is not', async () => {
  const pace = { bytesPerSecond: 100_000, windowMs: 500 };
  await using server = await startServer({ seams: { pace } });
  await loaded(server, 'T', `symbol,date,v\n${rows}\n`);
  const idle = await lazy(server, pathOf(server.secret));
  const cut = new Promise((resolve) => idle.once('close', resolve));
  idle.on('error', () => undefined);
  assert.ok((await bytesIn(server.folder)) > 10_000_000);
  await until(async () => (await bytesIn(server.folder)) === 0);
  idle.resume();
  await cut;
  const reader = await fetch(`${server.base}${pathOf(server.secret)}`);
  let bytes = 0;
  for await (const piece of reader.body ?? []) {
    bytes += piece.length;
    await sleep(10);
  }
  assert.equal(bytes, Number(reader.headers.get('content-length')));
});
