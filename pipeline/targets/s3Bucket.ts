// Stores a lake's files in a bucket of S3, or of a compatible store.
import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { Bucket, BucketFile } from '../../store/files/bucket/bucket.ts';
import type { BucketSettings } from '../../store/base/settings/bucketSettings.ts';
import { SourceFailure } from '../sources/base/source.ts';
import { systemResolve } from '../sources/base/guard.ts';
import { openS3 } from '../sources/s3/s3.ts';
import { FETCHES_MAX } from '../../store/files/bucket/fileCache.ts';
import { fetchFile, PIECE_CONCURRENCY, type PieceSizes } from './s3Fetch.ts';
import {
  orMissing,
  HASH_METADATA,
  toObjectKey,
  openS3Target,
  request,
  type Store,
} from './s3Target.ts';

/** Deadline of one request: a file of a lake, or a piece of one. */
const DEADLINE_MS = 600_000;
/** Maximum bytes of a text that is read as a whole. */
const TEXT_BYTES_MAX = 1024 ** 2;
const NEVER = new AbortController().signal;

/**
 * Opens the bucket without checking its address, which the operator configured.
 * @param sizes of the pieces in which files are fetched
 */
export function openS3Bucket(settings: BucketSettings, sizes?: PieceSizes): Bucket {
  const { accessKeyId, bucket, endpoint, prefix, region, secretAccessKey } = settings;
  const rules = {
    allowPrivateAddresses: true,
    resolve: systemResolve,
    deadlineMs: DEADLINE_MS,
    socketsMax: FETCHES_MAX * PIECE_CONCURRENCY,
  };
  const place = {
    awsbucketName: bucket,
    prefix,
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
  };
  const definition = { type: 'AWS-S3', credentialId: '', ...place } as const;
  // The client modifies the credentials that are passed to it.
  const credential = () => ({ type: 'AWS-S3', accessKeyId, secretAccessKey }) as const;
  const client = openS3(place, credential(), rules);
  const target = openS3Target(definition, credential(), rules, NEVER);
  const store: Store = { client, definition, rules, signal: NEVER };
  const send: Send = (path, work) => request(store, path, work);
  return {
    name: `s3://${bucket}/${prefix}`.replace(/\/$/, ''),
    put: async (path, source, content) => {
      const part = { name: path, rows: 0, ...content };
      let upload: Parameters<typeof target.drop>[1];
      const onUpload = async (begun: NonNullable<typeof upload>): Promise<void> => {
        upload = begun;
      };
      try {
        await target.deliver(part, { path: source, upload: undefined, onUpload });
      } catch (error) {
        // Abandoned pieces cost money; an unavailable store keeps them.
        await target.drop(part, upload).catch(() => undefined);
        throw error;
      }
    },
    get: (path, to) => fetchFile(store, path, to, sizes),
    head: (path) => send(path, (options) => headObject(store, path, options)),
    list: (beginning) => listFiles(store, beginning),
    remove: async (path) => {
      const command = new DeleteObjectCommand(toObjectKey(store, path));
      await send(path, (options) => orMissing(client.send(command, options)));
    },
    move: async (from, to) => {
      const CopySource = `${bucket}/${encodeURIComponent(`${prefix}${from}`).replaceAll('%2F', '/')}`;
      const copy = new CopyObjectCommand({ ...toObjectKey(store, to), CopySource });
      await send(to, (options) => client.send(copy, options));
      const remove = new DeleteObjectCommand(toObjectKey(store, from));
      await send(from, (options) => client.send(remove, options));
    },
    text: (path) => send(path, (options) => readText(store, path, options)),
    write: async (path, text) => {
      const command = new PutObjectCommand({ ...toObjectKey(store, path), Body: text });
      await send(path, (options) => client.send(command, options));
    },
    close: () => {
      client.destroy();
      void target[Symbol.asyncDispose]();
    },
  };
}

interface Options {
  readonly abortSignal: AbortSignal;
}
type Send = <T>(path: string, work: (options: Options) => Promise<T>) => Promise<T>;

async function headObject(
  store: Store,
  path: string,
  options: Options,
): ReturnType<Bucket['head']> {
  const command = new HeadObjectCommand(toObjectKey(store, path));
  const answer = await orMissing(store.client.send(command, options));
  if (answer === undefined) return undefined;
  return { bytes: answer.ContentLength ?? 0, sha256: answer.Metadata?.[HASH_METADATA] };
}

async function readText(store: Store, path: string, options: Options): ReturnType<Bucket['text']> {
  const command = new GetObjectCommand(toObjectKey(store, path));
  const answer = await orMissing(store.client.send(command, options));
  if (answer === undefined) return undefined;
  if ((answer.ContentLength ?? 0) > TEXT_BYTES_MAX) {
    (answer.Body as Readable).on('error', () => undefined).destroy();
    throw new SourceFailure(`${path} is longer than ${TEXT_BYTES_MAX} bytes`, false);
  }
  return (await answer.Body?.transformToString()) ?? '';
}

async function listFiles(store: Store, beginning: string): Promise<readonly BucketFile[]> {
  const { awsbucketName: Bucket, prefix } = store.definition;
  const files: BucketFile[] = [];
  let ContinuationToken: string | undefined;
  do {
    const input = { Bucket, Prefix: `${prefix}${beginning}`, ContinuationToken };
    const command = new ListObjectsV2Command(input);
    const page: ListObjectsV2CommandOutput = await request(store, beginning, (options) =>
      store.client.send(command, options),
    );
    for (const { Key = '', LastModified, Size = 0 } of page.Contents ?? []) {
      const path = Key.slice(prefix.length);
      // A folder marker, which some tools create, is not a file.
      if (!Key.endsWith('/'))
        files.push({ path, bytes: Size, writtenMs: LastModified?.getTime() ?? 0 });
    }
    ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (ContinuationToken !== undefined);
  return files;
}
