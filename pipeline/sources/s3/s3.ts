// Pulls from S3: one object if its ETag changed, or all new objects that match a pattern.
import { Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import {
  GetObjectCommand,
  type GetObjectCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { http } from '../../../store/base/http.ts';
import { withDeadline } from '../base/deadline.ts';
import { type Guard, guardedLookup } from '../base/guard.ts';
import { land, overLimit } from '../base/landing.ts';
import { type Listed, type Listing, openListing } from '../base/listing.ts';
import { literalHead, nameMatcher } from '../base/pattern.ts';
import { toPosition, findSince, positionText } from '../base/position.ts';
import { toS3Failure } from './s3Failure.ts';
import { checkS3 } from './s3Names.ts';
import {
  type Credential,
  type Landing,
  type Piece,
  type Pull,
  type PullOrder,
  type S3Definition,
  SourceFailure,
} from '../base/source.ts';

export interface S3Rules extends Guard {
  /** Deadline of a listing, and of each object. */
  readonly deadlineMs: number;
  /** Maximum time without a byte; `IDLE_MS` when undefined. */
  readonly idleMs?: number;
  /** Maximum concurrent connections; `SOCKETS_MAX` when undefined. */
  readonly socketsMax?: number;
}

type S3Order = PullOrder<S3Definition>;

/** The context of a pull. */
interface Store {
  readonly client: S3Client;
  readonly order: S3Order;
  readonly rules: S3Rules;
}

const CONNECT_MS = 10_000;
const IDLE_MS = 60_000;
/** The first attempt, and two more 0.1 to 0.4 s later: for longer outages, jobs have retries. */
const ATTEMPTS_MAX = 3;
/** A page has 1,000 names of at most 1,024 bytes. */
const ANSWER_BYTES_MAX = 4 * 1024 ** 2;
/** One object at a time, and a spare one for a retry. */
const SOCKETS_MAX = 4;

export const s3Pull = (rules: S3Rules): Pull<S3Definition> =>
  async function* (order) {
    const { awsbucketName, key, pattern } = order.definition;
    checkS3(order.definition, rules.allowPrivateAddresses);
    const client = openS3(order.definition, order.credential, rules);
    const store: Store = { client, order, rules };
    try {
      if (key !== undefined) yield* pullObject(store, key);
      else if (pattern !== undefined) yield* pullMatches(store, pattern);
    } catch (error) {
      order.landing.signal.throwIfAborted();
      throw toS3Failure(error, awsbucketName);
    } finally {
      client.destroy();
    }
  };

/**
 * A client that connects only to checked addresses; the caller destroys it.
 * @throws SourceFailure for a credential of another kind.
 */
export const openS3 = (
  place: Pick<S3Definition, 'endpoint' | 'region'>,
  credential: Credential | undefined,
  rules: S3Rules,
): S3Client => new S3Client(configuration(place, credential, rules));

function configuration(
  { endpoint, region = 'us-east-1' }: Pick<S3Definition, 'endpoint' | 'region'>,
  credential: Credential | undefined,
  rules: S3Rules,
): S3ClientConfig {
  if (credential !== undefined && credential.type !== 'AWS-S3') {
    throw new SourceFailure(`a credential of type ${credential.type} does not open S3`, false);
  }
  // Every host that the client derives from bucket, region and endpoint is resolved and checked here.
  const maxSockets = rules.socketsMax ?? SOCKETS_MAX;
  const sockets = { keepAlive: true, lookup: guardedLookup(rules), maxSockets };
  const idleMs = rules.idleMs ?? IDLE_MS;
  return {
    region,
    // No configuration of this machine is used for a user's source.
    credentials: credential ?? { accessKeyId: '', secretAccessKey: '' },
    ...(credential === undefined
      ? { signer: { sign: (request) => Promise.resolve(request) } }
      : {}),
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // Compatible stores do not support other checksums: requests have an MD5 instead.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    maxAttempts: ATTEMPTS_MAX,
    streamCollector: boundedAnswer,
    retryMode: 'standard',
    requestHandler: {
      httpAgent: new http.Agent(sockets),
      httpsAgent: new HttpsAgent({ ...sockets, rejectUnauthorized: true }),
      connectionTimeout: Math.min(CONNECT_MS, idleMs),
      requestTimeout: idleMs,
      throwOnRequestTimeout: true,
      socketTimeout: idleMs,
    },
  };
}

/** Collects listings and error responses in memory; bodies of objects are streamed. */
async function boundedAnswer(stream: Readable): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) {
      throw new SourceFailure(`an answer of the store has over ${ANSWER_BYTES_MAX} bytes`, false);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* pullObject(store: Store, key: string): AsyncGenerator<Piece, void> {
  const { definition, landing } = store.order;
  const etag = positionText(findSince(store.order), 'etag');
  using deadline = withDeadline(landing.signal, store.rules.deadlineMs, key);
  const limited = { ...landing, signal: deadline.signal };
  const answer = await get(store, key, { IfNoneMatch: etag }, limited.signal);
  if (answer === undefined) return;
  // The store may not support the condition.
  if (answer.ETag !== undefined && answer.ETag === etag) {
    (answer.Body as Readable).on('error', () => undefined).destroy();
    return;
  }
  const { path, bytes } = await landObject(key, answer, limited, 0, answer.ContentLength);
  const position = toPosition(definition, { etag: answer.ETag ?? null });
  yield toPiece(store.order, { name: key, path, bytes, position });
}

async function* pullMatches(store: Store, pattern: string): AsyncGenerator<Piece, void> {
  const { landing, sample } = store.order;
  const listing: Listing<Listed> = openListing(store.order);
  await list(store, pattern, listing);
  const ofBytes = listing.bytes();
  let before = 0;
  for (const { item, position } of listing.fresh()) {
    const { name } = item;
    using deadline = withDeadline(landing.signal, store.rules.deadlineMs, name);
    const limited = { ...landing, signal: deadline.signal };
    const answer = await get(store, name, { IfMatch: item.version }, limited.signal);
    if (answer === undefined) return;
    const { path, bytes } = await landObject(name, answer, limited, before, ofBytes);
    before += bytes;
    yield toPiece(store.order, { name, path, bytes, position });
    if (sample === true) return;
  }
}

/** Lists only names below the literal head of the pattern, page by page. */
async function list(store: Store, pattern: string, listing: Listing<Listed>): Promise<void> {
  const { client, order, rules } = store;
  const bucket = order.definition.awsbucketName;
  using deadline = withDeadline(order.landing.signal, rules.deadlineMs, `the listing of ${bucket}`);
  const Prefix = literalHead(pattern);
  const matches = nameMatcher(pattern);
  // A pattern of one level does not need deeper names.
  const Delimiter = pattern.slice(Prefix.length).includes('/') ? undefined : '/';
  let ContinuationToken: string | undefined;
  do {
    const input = { Bucket: bucket, Prefix, Delimiter, ContinuationToken };
    const page: ListObjectsV2CommandOutput = await listPage(client, input, deadline.signal);
    for (const { ETag = '', Key = '', LastModified, Size = 0 } of page.Contents ?? []) {
      // A folder marker, which some tools create, is not a file.
      if (Key.endsWith('/') || !matches(Key)) continue;
      const time = LastModified?.toISOString() ?? '';
      listing.add({ name: Key, bytes: Size, time, version: ETag });
    }
    ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (ContinuationToken !== undefined);
}

/** @throws SourceFailure for an error of the store. */
export const listPage = (
  client: S3Client,
  input: ListObjectsV2CommandInput,
  signal: AbortSignal,
): Promise<ListObjectsV2CommandOutput> =>
  client.send(new ListObjectsV2Command(input), { abortSignal: signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw toS3Failure(error, input.Bucket ?? '');
  });

interface Condition {
  readonly IfMatch?: string | undefined;
  readonly IfNoneMatch?: string | undefined;
}

/** Undefined if the object still has the ETag of `IfNoneMatch`. */
async function get(
  { client, order }: Store,
  key: string,
  condition: Condition,
  signal: AbortSignal,
): Promise<GetObjectCommandOutput | undefined> {
  const { awsbucketName } = order.definition;
  const command = new GetObjectCommand({ Bucket: awsbucketName, Key: key, ...condition });
  try {
    return await client.send(command, { abortSignal: signal });
  } catch (error) {
    signal.throwIfAborted();
    const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
    if ($metadata?.httpStatusCode === 304) return undefined;
    throw toS3Failure(error, awsbucketName, key, condition.IfMatch !== undefined);
  }
}

async function landObject(
  key: string,
  answer: GetObjectCommandOutput,
  landing: Landing,
  before: number,
  ofBytes: number | undefined,
): Promise<{ readonly path: string; readonly bytes: number }> {
  const body = answer.Body as Readable;
  const length = answer.ContentLength;
  if (length !== undefined && length > landing.bytesMax) {
    body.on('error', () => undefined).destroy();
    throw overLimit(landing.bytesMax);
  }
  const countBytes = async function* (): AsyncGenerator<Buffer, void> {
    let bytes = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      landing.signal.throwIfAborted();
      throw toS3Failure(error, key);
    }
    if (length === undefined || bytes === length) return;
    throw new SourceFailure(`${key} was cut off: ${bytes} of ${length} bytes came`, true);
  };
  return land(countBytes(), landing, { before, ofBytes });
}

function toPiece({ definition }: S3Order, piece: Piece): Piece {
  const { jsonPath } = definition;
  return jsonPath === undefined ? piece : { ...piece, jsonPath };
}
