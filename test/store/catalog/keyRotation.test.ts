// A new data key: sealed values open under it and no longer under the old one, at any point where a rotation
// was interrupted.
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { openDatabase } from '../../../store/sqlite/sqliteDatabase.ts';
import { listCredentials, unsealCredential } from '../../../store/work/dataSources.ts';
import { openFolder } from '../../../store/catalog/folder.ts';
import { rotateKey } from '../../../store/work/keyRotation.ts';
import { openSecrets } from '../../../store/catalog/secrets/secrets.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const CREDENTIAL = {
  type: 'AWS-S3',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'still the same',
};

async function ask(server: TestServer, method: string, path: string, value?: object) {
  const headers = { authorization: `Bearer ${server.secret}` };
  const body = value === undefined ? {} : { body: JSON.stringify(value) };
  const answer = await fetch(`${server.base}/v1${path}`, { method, headers, ...body });
  return { status: answer.status, text: await answer.text() };
}

/** A folder with a credential and a webhook; removed at the end. */
async function filled(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-key-'));
  try {
    {
      await using server = await startServer({ folder });
      assert.equal((await ask(server, 'POST', '/credentials/WS', CREDENTIAL)).status, 200);
      const webhook = { url: 'https://example.com/told', secret: 'a secret of the receiver' };
      assert.equal((await ask(server, 'POST', '/webhooks/WS', webhook)).status, 200);
    }
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Tokens, credentials and webhooks are as they were. */
async function checkAll(folder: string): Promise<void> {
  await using server = await startServer({ folder });
  const { database, secrets } = server.tapedeck.services;
  const [credential] = await listCredentials(database, 'WS');
  assert.ok(credential !== undefined);
  assert.deepEqual(unsealCredential(credential, secrets), CREDENTIAL);
  const response = await ask(server, 'GET', '/webhooks/WS');
  assert.equal(response.status, 200);
  assert.match(response.text, /"signed":true/);
}

async function rotate(folder: string): Promise<void> {
  const { catalog, key } = openFolder(folder);
  const database = openDatabase(catalog);
  const rotated = await rotateKey(database, key, '', '');
  await database.destroy();
  assert.deepEqual([rotated.credentials, rotated.webhooks], [1, 1]);
  assert.ok(rotated.tokens >= 2);
}

test('all opens under the new key, and nothing under the old one', async () => {
  await filled(async (folder) => {
    const { catalog, key } = openFolder(folder);
    const before = readFileSync(key, 'utf8');
    await rotate(folder);
    assert.notEqual(readFileSync(key, 'utf8'), before);
    const old = openSecrets(before.trim(), '');
    const database = openDatabase(catalog);
    const [credential] = await listCredentials(database, 'WS');
    await database.destroy();
    assert.ok(credential !== undefined);
    assert.throws(() => unsealCredential(credential, old), /does not open/);
    await checkAll(folder);
  });
});

test('interrupted before its transaction it rolls back, after it rolls forward', async () => {
  await filled(async (folder) => {
    const { key } = openFolder(folder);
    const before = readFileSync(key, 'utf8');
    openSecrets('', `${key}.next`);
    await checkAll(folder);
    assert.equal(readFileSync(key, 'utf8'), before);
    assert.ok(!existsSync(`${key}.next`));
    await copyFile(key, `${key}.old`);
    await rotate(folder);
    // The state before the new file is renamed.
    await copyFile(key, `${key}.next`);
    await copyFile(`${key}.old`, key);
    await checkAll(folder);
    assert.notEqual(readFileSync(key, 'utf8'), before);
  });
});

function rotateLive({ base, tapedeck }: TestServer): Promise<Response> {
  const headers = { authorization: `Bearer ${tapedeck.services.adminToken}` };
  return fetch(`${base}/v1/admin/rotate-key`, { method: 'POST', headers });
}

test('on a running server every token is valid at every moment, and so are concurrent changes', async () => {
  await filled(async (folder) => {
    const { key } = openFolder(folder);
    const before = readFileSync(key, 'utf8');
    const texts: string[] = [];
    {
      await using server = await startServer({ folder });
      const { accountId, services } = server.tapedeck;
      const { accounts } = services;
      texts.push(server.secret, server.publishable);
      let isOver = false;
      const faults: number[] = [];
      const reading = (async () => {
        while (!isOver) {
          const { status } = await ask(server, 'GET', '/account/metadata');
          if (status !== 200) faults.push(status);
        }
      })();
      const making = (async () => {
        while (!isOver) {
          const createdToken = await accounts.createToken(accountId, 'secret');
          texts.push(createdToken.text);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      })();
      const webhook = { url: 'https://example.com/beside', secret: 'another secret' };
      const credential = { ...CREDENTIAL, accessKeyId: 'AKIDBESIDE' };
      const beside = (async () => {
        for (let at = 0; at < 8; at += 1) {
          await ask(server, 'POST', '/credentials/WS', credential);
          await ask(server, 'POST', '/webhooks/WS', webhook);
        }
      })();
      for (let at = 0; at < 5; at += 1) assert.equal((await rotateLive(server)).status, 200);
      await beside;
      isOver = true;
      await Promise.all([reading, making]);
      assert.deepEqual(faults, []);
      for (const text of texts) assert.equal(accounts.identify(text).accountId, accountId);
      assert.ok(existsSync(`${key}.former`));
      assert.notEqual(readFileSync(key, 'utf8'), before);
    }
    await using server = await startServer({ folder });
    assert.ok(!existsSync(`${key}.former`));
    const { accounts, database, secrets } = server.tapedeck.services;
    for (const text of texts) accounts.identify(text);
    for (const row of await listCredentials(database, 'WS')) {
      assert.match(JSON.stringify(unsealCredential(row, secrets)), /AWS-S3/);
    }
    const alone = openSecrets('', key);
    for (const row of await database.selectFrom('webhook').select('sealed').execute()) {
      assert.match(alone.unseal(row.sealed), /secret/);
    }
  });
});

test('a value that was written late under the former key opens at the next start', async () => {
  await filled(async (folder) => {
    const { catalog, key } = openFolder(folder);
    const former = openSecrets('', key);
    {
      await using server = await startServer({ folder });
      await rotateLive(server);
    }
    const database = openDatabase(catalog);
    const sealed = former.seal('{"headers":{},"secret":"late"}');
    await database.updateTable('webhook').set({ sealed }).execute();
    await database.destroy();
    assert.ok(existsSync(`${key}.former`));
    await using server = await startServer({ folder });
    const [row] = await server.tapedeck.services.database
      .selectFrom('webhook')
      .select('sealed')
      .execute();
    assert.match(openSecrets('', key).unseal(row?.sealed ?? ''), /late/);
    assert.ok(!existsSync(`${key}.former`));
  });
});

test('a key that is a setting is not rotated by the server', async () => {
  const settings = { TAPEDECK_ENCRYPTION_KEY: 'a1'.repeat(32) };
  await using server = await startServer({ settings });
  const answer = await rotateLive(server);
  assert.equal(answer.status, 409);
  assert.match(await answer.text(), /TAPEDECK_ENCRYPTION_KEY/);
});
