// Sources of each kind are added in the browser, with their credentials; secrets are shown nowhere.
import assert from 'node:assert/strict';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { loaded, send } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { startSwift } from '../base/servers/swift.ts';
import { browserTest, launch, quiet, signedIn, type Watched, watchedPage } from './browser.ts';

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer({ settings: { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' } });
  await loaded(server, 'TICKS', 'symbol,date,v\nA,2024-01-02,1\n');
});
afterAll(async () => {
  await browser?.close();
  await server.close();
});

type Body = Readonly<Record<string, unknown>>;

const listed = async (path: string): Promise<readonly Body[]> =>
  JSON.parse((await send(server, 'GET', path)).text) as readonly Body[];

async function filled(
  { page }: Watched,
  kind: string,
  name: string,
  fields: Readonly<Record<string, string>>,
): Promise<Locator> {
  await page.getByRole('button', { name: 'Add a source', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Add a source' });
  await form.getByLabel('Kind').selectOption(kind);
  await form.getByLabel('Name', { exact: true }).fill(name);
  for (const [label, value] of Object.entries(fields)) {
    // A hint may follow.
    await form.getByLabel(new RegExp(`^${label}`)).fill(value);
  }
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  return form;
}

const SECRET = ' s3cret of the bucket';

browserTest('each kind of source is added with its credential', async () => {
  browser = await launch();
  const watched = await watchedPage(browser);
  const { page } = watched;
  await signedIn(watched, server.base, server.secret);
  const screens = page.getByRole('navigation', { name: 'Screens' });
  await screens.getByRole('link', { name: 'Sources', exact: true }).click();
  await page.getByRole('heading', { name: 'Sources and schedules' }).waitFor();
  const bucket = { Bucket: 'prices', Objects: 'daily/*.csv', Region: 'eu-west-1' };
  const keys = { 'Access key': 'AKIA0', 'Secret access key': SECRET };
  await filled(watched, 'AWS-S3', 'a bucket', { ...bucket, ...keys });
  await page.getByRole('rowheader', { name: 'a bucket' }).waitFor();
  const database = { Host: '127.0.0.1', Database: 'd', User: 'u', Password: SECRET, Port: '5433' };
  await filled(watched, 'POSTGRES', 'a table', { Table: 'public.prices', ...database });
  await page.getByRole('rowheader', { name: 'a table' }).waitFor();
  const sources = await listed('/data-sources/WS');
  const [table, s3] = ['POSTGRES', 'AWS-S3'].map((type) =>
    sources.find((one) => one['type'] === type),
  );
  assert.deepEqual([s3?.['awsbucketName'], s3?.['pattern'], s3?.['region']], Object.values(bucket));
  assert.equal(table?.['table'], 'public.prices');
  const credentials = await listed('/credentials/WS');
  for (const source of [table, s3]) {
    assert.ok(credentials.some((one) => one['credentialId'] === source?.['credentialId']));
  }
  assert.ok(credentials.some((one) => one['port'] === 5433));
  assert.ok(!(await page.content()).includes(SECRET.trim()), 'nor in the requests that it shows');
  // A feed with a wrong URL is refused, and the credential that was stored for it is removed.
  const feed = await filled(watched, 'WEBSOCKET', 'a feed', { URL: 'nowhere', Dataset: 'TICKS' });
  await feed.getByRole('alert').waitFor();
  await feed.getByRole('button', { name: 'Cancel' }).click();
  const twice = await filled(watched, 'POSTGRES', 'a table', {
    Table: 'a'.repeat(301),
    ...database,
  });
  await twice.getByRole('alert').waitFor();
  assert.equal((await listed('/credentials/WS')).length, credentials.length);
  await quiet(watched);
});

const swift = await startSwift();
afterAll(() => swift?.[Symbol.asyncDispose]());

browserTest('the objects of a bucket are listed folder by folder', async (t) => {
  if (swift === undefined) {
    t.skip('Swift is not on this machine');
    return;
  }
  const { accessKeyId, port, secretAccessKey } = swift;
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: 'shown-objects' }));
  for (const Key of ['daily/a.csv', 'readme.txt']) {
    await client.send(new PutObjectCommand({ Bucket: 'shown-objects', Key, Body: 'x' }));
  }
  client.destroy();
  const key = { type: 'AWS-S3', accessKeyId, secretAccessKey };
  const answer = await send(server, 'POST', '/credentials/WS', key);
  const { credentialId } = JSON.parse(answer.text) as Record<string, string>;
  const place = { type: 'AWS-S3', awsbucketName: 'shown-objects', endpoint, pattern: '*' };
  await send(server, 'POST', '/data-sources/WS', { ...place, name: 'shown', credentialId });
  browser ??= await launch();
  const watched = await watchedPage(browser);
  const { page } = watched;
  await signedIn(watched, server.base, server.secret);
  const screens = page.getByRole('navigation', { name: 'Screens' });
  await screens.getByRole('link', { name: 'Sources', exact: true }).click();
  await page.getByRole('button', { name: 'Objects of shown' }).click();
  await page.getByRole('rowheader', { name: 'readme.txt' }).waitFor();
  await page.getByRole('button', { name: 'daily/', exact: true }).click();
  await page.getByRole('rowheader', { name: 'daily/a.csv' }).waitFor();
  await page.getByRole('button', { name: 'Up', exact: true }).click();
  await page.getByRole('rowheader', { name: 'readme.txt' }).waitFor();
  await quiet(watched);
});
