// A bucket of a real S3 store, behind a wire that breaks, and servers whose files are in it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { startServer, type TestServer } from '../../base/server.ts';
import type { Swift } from '../../base/servers/swift.ts';
import { startWire, type Wire } from '../../base/servers/wire.ts';
import type { Seams } from '../../../app/core.ts';

export interface LakeInBucket extends AsyncDisposable {
  readonly client: S3Client;
  readonly bucket: string;
  /** The data folder of all started servers. */
  readonly folder: string;
  readonly wire: Wire;
  readonly settings: Readonly<Record<string, string>>;
  start(more?: Readonly<Record<string, string>>, seams?: Seams): Promise<TestServer>;
  /** Keys below the prefix. */
  keys(): Promise<readonly string[]>;
}

let buckets = 0;

export async function lakeInBucket({ port, ...keys }: Swift): Promise<LakeInBucket> {
  const stack = new AsyncDisposableStack();
  const bucket = `lake-${(buckets += 1)}`;
  const { accessKeyId, secretAccessKey } = keys;
  const client = new S3Client({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    forcePathStyle: true,
    credentials: {
      accessKeyId,
      secretAccessKey,
    },
  });
  stack.defer(() => client.destroy());
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  const wire = stack.use(await startWire(port));
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-bucket-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const settings = {
    TAPEDECK_DATA: `s3://${bucket}/some/where`,
    TAPEDECK_FOLDER: folder,
    TAPEDECK_S3_ENDPOINT: `http://127.0.0.1:${wire.port}`,
    TAPEDECK_S3_KEY_ID: accessKeyId,
    TAPEDECK_S3_SECRET: secretAccessKey,
  };
  return {
    client,
    bucket,
    folder,
    wire,
    settings,
    start: (more = {}, seams = {}) =>
      startServer({
        folder,
        settings: {
          ...settings,
          ...more,
        },
        seams: {
          watch: false,
          ...seams,
        },
      }),
    keys: async () => {
      const page = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
      return (page.Contents ?? []).map(({ Key = '' }) => Key.slice('some/where/'.length)).sort();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
