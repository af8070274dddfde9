// The stored bytes of workspaces, as summed in memory.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { Database } from '../../../store/catalog/database.ts';
import { createStorage } from '../../../store/lake/storage.ts';
import { loaded } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';

/** A catalog whose reads of a table fail a number of times. */
function failing(database: Database, table: string, times: number): Database {
  let left = times;
  return new Proxy(database, {
    get: (target, name) => {
      if (name !== 'selectFrom') return Reflect.get(target, name);
      return (from: never) => {
        if (from !== table || left === 0) return target.selectFrom(from);
        left -= 1;
        throw new Error('the catalog can not be read');
      };
    },
  });
}

test('a failed read is retried', async () => {
  await using server = await startServer();
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-01,1\n');
  const { database, lake, storage } = server.tapedeck.services;
  for (const table of ['publication', 'ducklake_data_file']) {
    const before = await storage.workspaceBytes('WS');
    assert.ok(before.live > 0);
    const other = createStorage(failing(database, table, 1), lake, { state: 0 });
    await assert.rejects(other.workspaceBytes('WS'), /can not be read/, table);
    assert.deepEqual(await other.workspaceBytes('WS'), before, table);
    await loaded(server, 'Q', `symbol,date,v\nB,2024-01-01,${table.length}\n`);
    assert.deepEqual(await other.workspaceBytes('WS'), await storage.workspaceBytes('WS'), table);
  }
});
