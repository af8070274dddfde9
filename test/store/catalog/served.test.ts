// The catalog on a thread of its own: its writes are read here, and refusals arrive unchanged.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { migrate } from '../../../store/catalog/migrate.ts';
import { openServed } from '../../../store/sqlite/sqliteDatabase.ts';

test('a transaction on the thread is whole or nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-served-'));
  const database = openServed(join(folder, 'catalog.db'));
  try {
    await migrate(database);
    const row = { key: 'a', value: '1' };
    await database.insertInto('folder').values(row).execute();
    await assert.rejects(database.insertInto('folder').values(row).execute(), /UNIQUE/);
    const read = () =>
      database.selectFrom('folder').select('value').where('key', '=', 'a').executeTakeFirst();
    await assert.rejects(
      database.transaction().execute(async (inside) => {
        await inside.updateTable('folder').set({ value: '2' }).where('key', '=', 'a').execute();
        throw new Error('no');
      }),
      /no/,
    );
    assert.deepEqual({ ...(await read()) }, { value: '1' });
  } finally {
    await database.destroy();
    await rm(folder, { recursive: true });
  }
});

test('a transaction that the end of the catalog cuts off ends, and does not wait for ever', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-served-'));
  const database = openServed(join(folder, 'catalog.db'));
  try {
    await migrate(database);
    const cut = database.transaction().execute(async (inside) => {
      await inside.insertInto('folder').values({ key: 'b', value: '1' }).execute();
      await database.destroy();
      await inside.insertInto('folder').values({ key: 'c', value: '1' }).execute();
    });
    await assert.rejects(cut, /the catalog is closed/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
