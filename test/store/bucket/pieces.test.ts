// A file of a bucket is fetched in concurrent pieces: whole and correct, or not at all, after any fault.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, test } from 'vitest';
import { openS3Bucket } from '../../../pipeline/targets/s3Bucket.ts';
import { digestFile } from '../../../store/base/fileDigest.ts';
import { readSettings } from '../../../store/base/settings/settings.ts';
import type { Bucket } from '../../../store/files/bucket/bucket.ts';
import { until } from '../../api/streams/listening.ts';
import { isLeftOut } from '../../base/servers/hasServers.ts';
import { startSwift } from '../../base/servers/swift.ts';
import { lakeInBucket, type LakeInBucket } from './lakeInBucket.ts';

const SIZES = { firstBytes: 64 * 1024, bytes: 128 * 1024 };
const LONG = 1_500_000;
/** A piece that takes more connections than the limit of those without data. */
const WHOLE = { firstBytes: 64 * 1024, bytes: 8 * 1024 ** 2 };

const swift = await startSwift();
const bucketTest = test.skipIf(isLeftOut(swift !== undefined));
let lake: LakeInBucket;
let bucket: Bucket;
let large: Bucket;
beforeAll(async () => {
  if (swift === undefined) return;
  lake = await lakeInBucket(swift);
  const { bucket: settings } = readSettings(lake.settings);
  assert.ok(settings);
  bucket = openS3Bucket(settings, SIZES);
  large = openS3Bucket(settings, WHOLE);
});
afterAll(async () => {
  for (const one of [bucket, large]) one?.close();
  await lake?.[Symbol.asyncDispose]();
  await swift?.[Symbol.asyncDispose]();
});

const here = (name: string): string => join(lake.folder, name);

async function sent(name: string, length: number): Promise<Buffer> {
  const bytes = randomBytes(length);
  await writeFile(here('sent'), bytes);
  await bucket.put(name, here('sent'), await digestFile(here('sent')));
  return bytes;
}

async function fetched(name: string, from = bucket): Promise<Buffer | undefined> {
  await rm(here('fetched'), { force: true });
  return (await from.get(name, here('fetched'))) ? readFile(here('fetched')) : undefined;
}

bucketTest('a file of any length equals the sent one', async () => {
  const { bytes, firstBytes } = SIZES;
  const two = firstBytes + bytes;
  const lengths = [0, 1, firstBytes - 1, firstBytes, firstBytes + 1, two, two + 1, LONG];
  for (const length of lengths) {
    const body = await sent('any', length);
    assert.ok((await fetched('any'))?.equals(body), `${length} bytes`);
  }
  assert.equal(await fetched('none'), undefined);
});

bucketTest('an interrupted piece resumes at its position', async () => {
  const body = await sent('cut', LONG);
  // No piece arrives over one connection.
  lake.wire.breakAfter(SIZES.bytes / 2, 'close');
  assert.ok((await fetched('cut'))?.equals(body));
  lake.wire.mend();
  const longer = await sent('longer', 4 * LONG);
  lake.wire.breakAfter(600_000, 'close');
  assert.ok((await fetched('longer', large))?.equals(longer));
  lake.wire.breakAfter(0, 'close');
  await assert.rejects(fetched('cut'), { type: 'SourceFailed' });
  lake.wire.mend();
});

bucketTest('a file that is replaced meanwhile is not assembled from both versions', async () => {
  await sent('changed', LONG);
  lake.wire.cut();
  lake.wire.breakAfter(SIZES.firstBytes + 20_000, 'stall');
  const failed = assert.rejects(fetched('changed'), { type: 'SourceFailed' });
  const came = (): Promise<number> =>
    stat(here('fetched')).then(
      ({ size }) => size,
      () => 0,
    );
  await until(async () => (await came()) > SIZES.firstBytes);
  const Key = 'some/where/changed';
  const Body = randomBytes(LONG);
  await lake.client.send(new PutObjectCommand({ Bucket: lake.bucket, Key, Body }));
  lake.wire.mend();
  lake.wire.cut();
  await failed;
});
