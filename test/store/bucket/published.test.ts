// Files that owners publish, where the files of datasets are in a bucket: a server with another disk serves
// them too.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';
import { send } from '../../base/client.ts';
import { runHere } from '../../cli/commandHere.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { startSwift, type Swift } from '../../base/servers/swift.ts';
import { lakeInBucket } from './lakeInBucket.ts';

const swift = await startSwift();
if (swift === undefined) assert.notEqual(process.env['CI'], 'true', 'Swift is not on this machine');
const bucketTest = test.skipIf(swift === undefined);
afterAll(() => swift?.[Symbol.asyncDispose]());

const TYPE = '/file-types/WS/NOTES';

async function publish(server: TestServer, body: string, symbol = 'A'): Promise<void> {
  await send(server, 'PUT', TYPE, { bySymbol: true });
  const url = `${server.base}/v1${TYPE}/files?symbol=${symbol}&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body });
  assert.equal(answer.status, 200, await answer.text());
}

async function downloaded(server: TestServer, symbol = 'A'): Promise<string> {
  const path = `/files/download/NOTES?symbol=${symbol}&token=${server.secret}`;
  const answer = await fetch(`${server.base}/v1${path}`);
  return `${answer.status} ${await answer.text()}`;
}

bucketTest('a file is in the bucket before it is published, and is served from there', async () => {
  await using lake = await lakeInBucket(swift as Swift);
  const folder = join(lake.folder, 'published');
  {
    await using server = await lake.start();
    await publish(server, 'first');
    await publish(server, 'second');
    await publish(server, 'other', 'B');
    assert.equal(await downloaded(server), '200 second');
    assert.equal((await lake.keys()).filter((key) => key.startsWith('published/')).length, 3);
  }
  await rm(folder, { recursive: true });
  await using server = await lake.start();
  assert.equal(await downloaded(server), '200 second');
  assert.equal(await downloaded(server, 'B'), '200 other');
  const [id = ''] = await readdir(folder);
  // A damaged copy is no damage of the file itself: the check fetches the correct one.
  for (const name of await readdir(folder)) await writeFile(join(folder, name), 'xxxxxx');
  const verdict = await server.tapedeck.services.fileCheck.checkAll();
  assert.deepEqual(verdict.damaged, []);
  assert.equal(await downloaded(server), '200 second');
  assert.notEqual(id, '');
});

bucketTest(
  'while the store is unavailable nothing is published, and local copies are served',
  async () => {
    await using lake = await lakeInBucket(swift as Swift);
    await using server = await lake.start();
    await publish(server, 'here');
    lake.wire.breakAfter(0, 'close');
    const refused = publish(server, 'there', 'B');
    await assert.rejects(refused, /503|does not answer/);
    assert.equal(await downloaded(server), '200 here');
    lake.wire.mend();
    assert.match(await downloaded(server, 'B'), /^404 /);
    await publish(server, 'there', 'B');
    assert.equal(await downloaded(server, 'B'), '200 there');
  },
);

bucketTest('a damaged earlier file is not sent to the bucket as its repair', async () => {
  await using lake = await lakeInBucket(swift as Swift);
  const sent = async (): Promise<readonly string[]> =>
    (await lake.keys()).filter((key) => key.startsWith('published/'));
  {
    await using server = await startServer({ folder: lake.folder });
    await publish(server, 'right');
  }
  const [id = ''] = await readdir(join(lake.folder, 'published'));
  const path = join(lake.folder, 'published', id);
  await writeFile(path, 'wrong');
  {
    await using server = await lake.start();
    assert.deepEqual(await sent(), []);
    const { damaged } = await server.tapedeck.services.fileCheck.checkAll();
    assert.deepEqual(
      damaged.map(({ path: name }) => name),
      [id],
    );
  }
  await writeFile(path, 'right');
  await using server = await lake.start();
  assert.deepEqual(await sent(), [`published/${id}`]);
  assert.equal(await downloaded(server), '200 right');
});

bucketTest('earlier files are sent at the start, and are restored with the others', async () => {
  await using lake = await lakeInBucket(swift as Swift);
  {
    await using server = await startServer({ folder: lake.folder });
    await publish(server, 'of before');
  }
  const env = { ...lake.settings };
  const moved = await runHere(['move'], { env });
  assert.match(
    moved.stdout,
    /1 files of all versions are in place, 1 of them copied now/,
    moved.stderr,
  );
  await rm(join(lake.folder, 'published'), { recursive: true });
  {
    await using server = await lake.start();
    assert.equal(await downloaded(server), '200 of before');
  }
  await rm(join(lake.folder, 'published'), { recursive: true });
  const back = await runHere(['move', '--back'], { env });
  assert.match(back.stdout, /1 of them copied now/, back.stderr);
  assert.ok(existsSync(join(lake.folder, 'published')));
  await using server = await startServer({ folder: lake.folder });
  assert.equal(await downloaded(server), '200 of before');
});
