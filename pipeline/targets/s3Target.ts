// Exports to S3 and compatible stores: a small part is one PUT, a large one is sent in pieces, and resumed
// from the first missing piece. Every body is sent with its MD5, which the store checks.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { openS3, type S3Rules } from '../sources/s3/s3.ts';
import { toS3Failure } from '../sources/s3/s3Failure.ts';
import { type Credential, SourceFailure } from '../sources/base/source.ts';
import { type Delivery, MANIFEST, type Part, type S3Target, type Target } from './target.ts';

export interface S3TargetRules extends S3Rules {
  /** Bytes of a piece, which is held in memory; `PIECE_BYTES` when undefined. */
  readonly pieceBytes?: number;
}

/** Stores accept pieces from 5 MiB on, up to 10,000 of one object. */
const PIECE_BYTES = 16 * 1024 ** 2;
/** Maximum bytes of a manifest that is read; our own is smaller. */
const MANIFEST_BYTES_MAX = 4 * 1024 ** 2;
/** Metadata member with the hash of an object that this server wrote. */
export const HASH_METADATA = 'sha256';

export interface Store {
  readonly client: S3Client;
  readonly definition: S3Target;
  readonly rules: S3TargetRules;
  readonly signal: AbortSignal;
}

export function openS3Target(
  definition: S3Target,
  credential: Credential,
  rules: S3TargetRules,
  signal: AbortSignal,
): Target {
  const client = openS3(definition, credential, rules);
  const store = { client, definition, rules, signal };
  const { awsbucketName: bucket, prefix } = definition;
  return {
    manifest: () => readManifest(store),
    find: (part) => findPart(store, part),
    deliver: (part, delivery) => deliverPart(store, part, delivery),
    drop: async (part, upload) => {
      if (upload === undefined) return;
      const object = { Bucket: bucket, Key: `${prefix}${part.name}`, UploadId: upload.id };
      await client.send(new AbortMultipartUploadCommand(object), {
        abortSignal: AbortSignal.timeout(rules.deadlineMs),
      });
    },
    finish: async (manifest) => {
      const body = Buffer.from(manifest);
      const type = { ContentType: 'application/json' };
      const input = {
        ...toObjectKey(store, MANIFEST),
        Body: body,
        ContentMD5: md5Of(body),
        ...type,
      };
      await request(store, MANIFEST, (options) =>
        client.send(new PutObjectCommand(input), options),
      );
    },
    [Symbol.asyncDispose]: async () => client.destroy(),
  };
}

export const toObjectKey = (
  { definition: { awsbucketName, prefix } }: Store,
  name: string,
): { readonly Bucket: string; readonly Key: string } => ({
  Bucket: awsbucketName,
  Key: `${prefix}${name}`,
});

/** The store does not have the upload: it was completed, or discarded. */
class UploadGone extends SourceFailure {
  constructor() {
    super('the store has discarded the upload of a part', true);
  }
}

/** Sends one request with a deadline. @throws SourceFailure with a description; the signal's reason. */
export async function request<T>(
  { definition, rules, signal }: Store,
  name: string,
  send: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const late = AbortSignal.timeout(rules.deadlineMs);
  try {
    return await send({ abortSignal: AbortSignal.any([signal, late]) });
  } catch (error) {
    signal.throwIfAborted();
    if ((error as { readonly name?: string }).name === 'NoSuchUpload') throw new UploadGone();
    if (late.aborted) throw new SourceFailure(`${name} took over ${rules.deadlineMs} ms`, true);
    throw toS3Failure(error, definition.awsbucketName, `${definition.prefix}${name}`);
  }
}

/** The response, or undefined if there is no such object. */
export async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const { name, $metadata } = error as {
      readonly name?: string;
      readonly $metadata?: { readonly httpStatusCode?: number };
    };
    const isMissing = $metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket';
    if (isMissing) return undefined;
    throw error;
  }
}

async function readManifest(store: Store): Promise<string | undefined> {
  const command = new GetObjectCommand(toObjectKey(store, MANIFEST));
  return request(store, MANIFEST, async (options) => {
    const answer = await orMissing(store.client.send(command, options));
    if (answer === undefined) return undefined;
    const bytes = answer.ContentLength ?? 0;
    // Not ours, and too long to be read: only its existence matters.
    if (bytes <= MANIFEST_BYTES_MAX) return (await answer.Body?.transformToString()) ?? '';
    (answer.Body as { destroy?: () => void } | undefined)?.destroy?.();
    return '';
  });
}

/** Finds a part by the store's own tag of the bytes, and by our hash that was sent with them. */
async function findPart(store: Store, part: Part): Promise<Part | undefined> {
  const command = new HeadObjectCommand(toObjectKey(store, part.name));
  const answer = await request(store, part.name, (options) =>
    orMissing(store.client.send(command, options)),
  );
  if (answer === undefined || answer.ContentLength !== part.bytes) return undefined;
  const { ETag: etag, Metadata: marks } = answer;
  if (marks?.[HASH_METADATA] !== part.sha256) return undefined;
  if (part.etag !== undefined && part.etag !== etag) return undefined;
  return { ...part, ...(etag === undefined ? {} : { etag }) };
}

async function deliverPart(store: Store, part: Part, delivery: Delivery): Promise<Part> {
  const { pieceBytes = PIECE_BYTES } = store.rules;
  await using file = await open(delivery.path);
  const etag =
    part.bytes > pieceBytes
      ? await uploadPieces(store, part, delivery, file, pieceBytes).catch(
          async (error: unknown) => {
            if (!(error instanceof UploadGone) || delivery.upload === undefined) throw error;
            const existing = await findPart(store, part);
            if (existing !== undefined) return existing.etag;
            return uploadPieces(store, part, { ...delivery, upload: undefined }, file, pieceBytes);
          },
        )
      : await uploadWhole(store, part, file);
  return { ...part, ...(etag === undefined ? {} : { etag }) };
}

async function uploadWhole(
  store: Store,
  part: Part,
  file: FileHandle,
): Promise<string | undefined> {
  const body = await bytesAt(file, 0, part.bytes);
  const input = { ...toObjectKey(store, part.name), Body: body, ContentMD5: md5Of(body) };
  const command = new PutObjectCommand({ ...input, Metadata: { [HASH_METADATA]: part.sha256 } });
  return (await request(store, part.name, (options) => store.client.send(command, options))).ETag;
}

async function uploadPieces(
  store: Store,
  part: Part,
  { onUpload, upload }: Delivery,
  file: FileHandle,
  pieceBytes: number,
): Promise<string | undefined> {
  const { client } = store;
  const object = toObjectKey(store, part.name);
  const id = upload?.id ?? (await beginUpload(store, part));
  const pieces = [...(upload?.pieces ?? [])];
  if (upload === undefined) await onUpload({ id, pieces });
  const count = Math.ceil(part.bytes / pieceBytes);
  for (let at = pieces.length; at < count; at += 1) {
    const from = at * pieceBytes;
    const body = await bytesAt(file, from, Math.min(pieceBytes, part.bytes - from));
    const piece = { ...object, UploadId: id, PartNumber: at + 1, Body: body };
    const command = new UploadPartCommand({ ...piece, ContentMD5: md5Of(body) });
    const { ETag } = await request(store, part.name, (options) => client.send(command, options));
    pieces.push(ETag ?? '');
    await onUpload({ id, pieces });
  }
  const Parts = pieces.map((ETag, at) => ({ ETag, PartNumber: at + 1 }));
  const whole = { ...object, UploadId: id, MultipartUpload: { Parts } };
  const done = new CompleteMultipartUploadCommand(whole);
  return (await request(store, part.name, (options) => client.send(done, options))).ETag;
}

async function beginUpload(store: Store, part: Part): Promise<string> {
  const input = { ...toObjectKey(store, part.name), Metadata: { [HASH_METADATA]: part.sha256 } };
  const command = new CreateMultipartUploadCommand(input);
  const answer = await request(store, part.name, (options) => store.client.send(command, options));
  return answer.UploadId ?? '';
}

async function bytesAt(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  for (let at = 0; at < length;) {
    const { bytesRead } = await file.read(buffer, at, length - at, from + at);
    if (bytesRead === 0) throw new SourceFailure('a part was cut short before it was sent', true);
    at += bytesRead;
  }
  return buffer;
}

const md5Of = (bytes: Buffer): string => createHash('md5').update(bytes).digest('base64');
