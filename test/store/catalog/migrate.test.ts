// A folder that an earlier version wrote opens with everything in it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { test } from 'vitest';
import { openDatabase } from '../../../store/sqlite/sqliteDatabase.ts';
import { createLakeTables } from '../../../store/catalog/tables/lake.ts';
import { openSecrets } from '../../../store/catalog/secrets/secrets.ts';
import { createServiceTables } from '../../../store/catalog/tables/service.ts';
import { get } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';

/** The catalog of version 1: one account on tier grow with a token of each kind. */
async function writeVersion1(
  folder: string,
  tokens: readonly (readonly [string, string])[],
): Promise<void> {
  const database = openDatabase(join(folder, 'catalog.db'));
  await createLakeTables(database as unknown as Kysely<unknown>);
  await createServiceTables(database as unknown as Kysely<unknown>);
  await database.insertInto('folder').values({ key: 'version', value: '1' }).execute();
  const account = { account_id: 'a1', name: 'first', tier: 'grow', pay_as_you_go: false };
  await database
    .insertInto('account')
    .values({ ...account, created_ms: 1 })
    .execute();
  const secrets = openSecrets('', join(folder, 'key'));
  for (const [kind, text] of tokens) {
    const stored = kind === 'secret' ? secrets.seal(text) : text;
    const place = { token_id: kind, account_id: 'a1', kind, hash: secrets.hash(text), stored };
    await database
      .insertInto('token')
      .values({ ...place, disabled: false, created_ms: 1 })
      .execute();
  }
  const month = { account_id: 'a1', month: '202601', messages: 77 };
  await database.insertInto('balance').values(month).execute();
  await database.destroy();
}

test('a folder of version 1: tokens keep their access, and there are test tokens in addition', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-version1-'));
  try {
    const fixed = await startServer();
    const { publishable, secret } = fixed;
    await fixed.close();
    await writeVersion1(folder, [
      ['publishable', publishable],
      ['secret', secret],
    ]);
    for (const start of ['first', 'second']) {
      await using server = await startServer({
        folder,
        seams: { clock: () => Date.UTC(2026, 0, 15) },
      });
      const { accounts, ledger, lake } = server.tapedeck.services;
      const [account] = accounts.list();
      assert.deepEqual([account?.accountId, account?.tier.name], ['a1', 'grow'], start);
      assert.equal(ledger.balance('a1').used, 77);
      assert.equal(lake.directory.workspace('WS')?.accountId, 'a1');
      assert.equal((await get(server, '/data/WS')).status, 200);
      assert.equal(
        (await get(server, '/data/WS/NONE')).status,
        404,
        'a right to read, nothing there',
      );
      const kinds = (await accounts.tokens('a1')).map(({ kind, test: forTests }) => [
        kind,
        forTests,
      ]);
      assert.deepEqual(kinds, [
        ['publishable', false],
        ['secret', false],
        ['publishable', true],
        ['secret', true],
      ]);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
