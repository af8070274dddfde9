// Small loads of a workspace run on one instance of DuckDB, one after the other, until one of them fails.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { createWorkspace } from '../../store/lake/datasetEdits.ts';
import { load, loaded, send } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';

/** Runs a statement on the instance of a workspace as its jobs do. */
async function ask(server: TestServer, workspace: string, statement: string): Promise<unknown> {
  const { lake, temporary } = {
    ...server.tapedeck.services,
    temporary: join(server.folder, 'tmp'),
  };
  const walls = [join(temporary, workspace), lake.files.localPath(workspace)];
  const folder = join(temporary, workspace, 'look');
  mkdirSync(folder, { recursive: true });
  const pool = server.tapedeck.services.ingestion.pool.forWorkspace(walls);
  const question = { files: [], folder, statements: [statement], deadlineMs: 20_000 };
  try {
    return (await pool.rows(question))[0];
  } finally {
    rmSync(join(temporary, workspace), { recursive: true });
  }
}

const MARK = 'CREATE TABLE mark AS SELECT 1 AS a';
const MARKED = `SELECT count(*)::INTEGER AS n FROM duckdb_tables() WHERE table_name = 'mark'`;
const [YES, NO] = [[{ n: 1 }], [{ n: 0 }]];

const rows = (value: number): string => `symbol,date,v\nA,2024-01-0${value},${value}\n`;

test('loads, pushes and deletes of a workspace share one instance, and a failed load ends it', async () => {
  await using server = await startServer();
  await createWorkspace(server.tapedeck.services.lake, 'WS2', server.tapedeck.accountId, 0);
  await loaded(server, 'FIRST', rows(1));
  await ask(server, 'WS', MARK);
  await loaded(server, 'FIRST', rows(2));
  await loaded(server, 'SECOND', rows(3));
  await loaded(server, 'SECOND', 'symbol,date,v\nA,2024-01-03,9\n', {
    duplicateKeyHandling: 'replace',
  });
  assert.equal((await send(server, 'DELETE', '/data/WS/FIRST/A?to=2024-01-01')).status, 200);
  assert.deepEqual(await ask(server, 'WS', MARKED), YES);
  assert.deepEqual(await ask(server, 'WS2', MARKED), NO, 'another workspace has its own');
  const damaged = Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(100), Buffer.from('PAR1')]);
  assert.equal((await load(server, 'BAD', damaged)).status, 400);
  assert.deepEqual(await ask(server, 'WS', MARKED), NO, 'the load ran on it');
  assert.deepEqual(readdirSync(join(server.folder, 'tmp')), []);
  assert.deepEqual(readdirSync(join(server.folder, 'spool')), []);
});
