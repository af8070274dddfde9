// Fetches a file of a bucket in concurrent pieces: a store limits the rate of each connection, and a piece
// that is cut off resumes where it stopped.
import { type FileHandle, open } from 'node:fs/promises';
import { addAbortSignal, Readable } from 'node:stream';
import { GetObjectCommand, type GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { SourceFailure } from '../sources/base/source.ts';
import { orMissing, toObjectKey, request, type Store } from './s3Target.ts';

/** Bytes per request; the first one is short, as most files are: its response has the length of the file. */
export interface PieceSizes {
  readonly firstBytes: number;
  readonly bytes: number;
}
const SIZES: PieceSizes = { firstBytes: 4 * 1024 ** 2, bytes: 16 * 1024 ** 2 };
/** Concurrent pieces of one file. */
export const PIECE_CONCURRENCY = 4;
/** Consecutive requests for a piece with little progress; each resumes where the one before was cut off. */
const TRIES_MAX = 5;
const LITTLE_BYTES = 256 * 1024;

/** A range of bytes, both ends included. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The version of the object that all pieces must have. */
interface ObjectVersion {
  readonly bytes: number;
  readonly etag: string | undefined;
}

/**
 * Fetches an object into a new file.
 * @returns false if there is no such object
 * @throws SourceFailure
 */
export async function fetchFile(
  store: Store,
  path: string,
  target: string,
  sizes = SIZES,
): Promise<boolean> {
  const file = await open(target, 'wx', 0o600);
  try {
    const version = await fetchPiece(store, path, file, { from: 0, to: sizes.firstBytes - 1 });
    if (version !== undefined) await fetchRest(store, path, file, toSpans(version, sizes), version);
    return version !== undefined;
  } finally {
    await file.close();
  }
}

function toSpans({ bytes: all }: ObjectVersion, { bytes, firstBytes }: PieceSizes): Span[] {
  const count = Math.max(0, Math.ceil((all - firstBytes) / bytes));
  return Array.from({ length: count }, (_, at) => {
    const from = firstBytes + at * bytes;
    return { from, to: Math.min(from + bytes, all) - 1 };
  });
}

/** Fetches the other pieces. The first failure aborts all of them, so that none writes afterwards. */
async function fetchRest(
  store: Store,
  path: string,
  file: FileHandle,
  spans: Span[],
  version: ObjectVersion,
): Promise<void> {
  const ending = new AbortController();
  const own = { ...store, signal: AbortSignal.any([store.signal, ending.signal]) };
  const take = async (): Promise<void> => {
    for (let span = spans.shift(); span !== undefined; span = spans.shift()) {
      await fetchPiece(own, path, file, span, version);
    }
  };
  const taking = Array.from({ length: Math.min(PIECE_CONCURRENCY, spans.length) }, take);
  try {
    await Promise.all(taking);
  } catch (error) {
    ending.abort(error);
    await Promise.allSettled(taking);
    throw error;
  }
}

/** @param of undefined: any version. @returns the version; undefined if there is no object */
async function fetchPiece(
  store: Store,
  path: string,
  file: FileHandle,
  { from, to }: Span,
  of?: ObjectVersion,
): Promise<ObjectVersion | undefined> {
  let [version, at] = [of, from];
  const cutOff = (): SourceFailure =>
    new SourceFailure(`${path} was cut off after ${at} bytes`, true);
  const take = async ({ abortSignal }: { abortSignal: AbortSignal }): Promise<boolean> => {
    const range = { Range: `bytes=${at}-${to}`, ...(version?.etag && { IfMatch: version.etag }) };
    const command = new GetObjectCommand({ ...toObjectKey(store, path), ...range });
    const answer = await emptyOrMissing(store.client.send(command, { abortSignal }));
    if (answer === undefined && version === undefined) return false;
    if (answer === undefined)
      throw new SourceFailure(`${path} was removed while it was read`, true);
    version ??= versionOf(answer);
    const end = answer.ContentRange === undefined ? version.bytes : to + 1;
    // A store may not support ranges, or send another one than requested.
    const isRest = answer.ContentRange?.startsWith(`bytes ${at}-`) ?? at === 0;
    for await (const bytes of bodyStream(answer, abortSignal)) {
      if (!isRest || at + bytes.length > end) throw cutOff();
      await file.write(bytes, 0, bytes.length, at);
      at += bytes.length;
    }
    return true;
  };
  for (let failures = 0; ;) {
    const before = at;
    let failure: SourceFailure | undefined;
    try {
      if (!(await request(store, path, take))) return undefined;
    } catch (error) {
      store.signal.throwIfAborted();
      if (!(error instanceof SourceFailure && error.transient)) throw error;
      failure = error;
    }
    if (version !== undefined && at > Math.min(to, version.bytes - 1)) return version;
    failures = at - before < LITTLE_BYTES ? failures + 1 : 0;
    if (failures === TRIES_MAX) throw failure ?? cutOff();
  }
}

/** The body, aborted when the request is. */
const bodyStream = (
  { Body }: GetObjectCommandOutput,
  signal: AbortSignal,
): AsyncIterable<Buffer> =>
  Body === undefined ? Readable.from([]) : addAbortSignal(signal, Body as Readable);

/** No byte range of an empty file can be requested. */
const EMPTY: GetObjectCommandOutput = { ContentLength: 0, $metadata: {} };

const emptyOrMissing = (
  work: Promise<GetObjectCommandOutput>,
): Promise<GetObjectCommandOutput | undefined> =>
  orMissing(
    work.catch((error: { readonly $metadata?: { readonly httpStatusCode?: number } }) => {
      if (error.$metadata?.httpStatusCode === 416) return EMPTY;
      throw error;
    }),
  );

/** The version of the response; a store without support for ranges sends the whole object. */
function versionOf({
  ContentLength,
  ContentRange,
  ETag: etag,
}: GetObjectCommandOutput): ObjectVersion {
  const all = ContentRange === undefined ? ContentLength : ContentRange.split('/').at(-1);
  // Weak tags, which proxies create, are not usable in conditions: the hash of the file is checked instead.
  return { bytes: Number(all ?? 0), etag: etag?.startsWith('W/') === true ? undefined : etag };
}
