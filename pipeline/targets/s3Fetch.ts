// A file of a bucket, fetched in pieces beside each other: a store gives one connection a part of what it
// gives several, and what was cut off goes on from where it was.
import { type FileHandle, open } from 'node:fs/promises';
import { addAbortSignal, Readable } from 'node:stream';
import { GetObjectCommand, type GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { SourceFailure } from '../sources/base/source.ts';
import { asked, ifThere, objectOf, type Store } from './s3Target.ts';

/** Of one request; the first one is short, as most files are: it tells how long the file is. */
export interface PieceSizes {
  readonly firstBytes: number;
  readonly bytes: number;
}
const SIZES: PieceSizes = { firstBytes: 4 * 1024 ** 2, bytes: 16 * 1024 ** 2 };
/** Of one file. */
export const PIECES_AT_ONCE = 4;
/** Requests for a piece after each other that bring little, each from where the one before was cut off. */
const TRIES_MAX = 5;
const LITTLE_BYTES = 256 * 1024;

/** From the first byte to the last one, both in it. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** All pieces are of the same. */
interface Known {
  readonly bytes: number;
  readonly etag: string | undefined;
}

/**
 * Into a file that is not there yet.
 * @returns false where there is no such object
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
    const known = await fetchPiece(store, path, file, { from: 0, to: sizes.firstBytes - 1 });
    if (known !== undefined) await fetchRest(store, path, file, spansOf(known, sizes), known);
    return known !== undefined;
  } finally {
    await file.close();
  }
}

function spansOf({ bytes: all }: Known, { bytes, firstBytes }: PieceSizes): Span[] {
  const count = Math.max(0, Math.ceil((all - firstBytes) / bytes));
  return Array.from({ length: count }, (_, at) => {
    const from = firstBytes + at * bytes;
    return { from, to: Math.min(from + bytes, all) - 1 };
  });
}

/** The first piece that fails ends the others: none of them writes afterwards. */
async function fetchRest(
  store: Store,
  path: string,
  file: FileHandle,
  spans: Span[],
  known: Known,
): Promise<void> {
  const ending = new AbortController();
  const own = { ...store, signal: AbortSignal.any([store.signal, ending.signal]) };
  const take = async (): Promise<void> => {
    for (let span = spans.shift(); span !== undefined; span = spans.shift()) {
      await fetchPiece(own, path, file, span, known);
    }
  };
  const taking = Array.from({ length: Math.min(PIECES_AT_ONCE, spans.length) }, take);
  try {
    await Promise.all(taking);
  } catch (error) {
    ending.abort(error);
    await Promise.allSettled(taking);
    throw error;
  }
}

/** @param of undefined: whatever is there. @returns what is there; undefined where nothing is */
async function fetchPiece(
  store: Store,
  path: string,
  file: FileHandle,
  { from, to }: Span,
  of?: Known,
): Promise<Known | undefined> {
  let [known, at] = [of, from];
  const cutOff = (): SourceFailure =>
    new SourceFailure(`${path} was cut off after ${at} bytes`, true);
  const take = async ({ abortSignal }: { abortSignal: AbortSignal }): Promise<boolean> => {
    const range = { Range: `bytes=${at}-${to}`, ...(known?.etag && { IfMatch: known.etag }) };
    const command = new GetObjectCommand({ ...objectOf(store, path), ...range });
    const answer = await whereThere(store.client.send(command, { abortSignal }));
    if (answer === undefined && known === undefined) return false;
    if (answer === undefined) throw new SourceFailure(`${path} went while it was read`, true);
    known ??= knownOf(answer);
    const end = answer.ContentRange === undefined ? known.bytes : to + 1;
    // A store may know no ranges, or send another one than it was asked for.
    const isRest = answer.ContentRange?.startsWith(`bytes ${at}-`) ?? at === 0;
    for await (const bytes of bodyOf(answer, abortSignal)) {
      if (!isRest || at + bytes.length > end) throw cutOff();
      await file.write(bytes, 0, bytes.length, at);
      at += bytes.length;
    }
    return true;
  };
  for (let vain = 0; ;) {
    const before = at;
    let failure: SourceFailure | undefined;
    try {
      if (!(await asked(store, path, take))) return undefined;
    } catch (error) {
      store.signal.throwIfAborted();
      if (!(error instanceof SourceFailure && error.transient)) throw error;
      failure = error;
    }
    if (known !== undefined && at > Math.min(to, known.bytes - 1)) return known;
    vain = at - before < LITTLE_BYTES ? vain + 1 : 0;
    if (vain === TRIES_MAX) throw failure ?? cutOff();
  }
}

/** It ends when nobody waits for it any more. */
const bodyOf = ({ Body }: GetObjectCommandOutput, signal: AbortSignal): AsyncIterable<Buffer> =>
  Body === undefined ? Readable.from([]) : addAbortSignal(signal, Body as Readable);

/** Of an empty file no byte can be asked for. */
const EMPTY: GetObjectCommandOutput = { ContentLength: 0, $metadata: {} };

const whereThere = (
  work: Promise<GetObjectCommandOutput>,
): Promise<GetObjectCommandOutput | undefined> =>
  ifThere(
    work.catch((error: { readonly $metadata?: { readonly httpStatusCode?: number } }) => {
      if (error.$metadata?.httpStatusCode === 416) return EMPTY;
      throw error;
    }),
  );

/** A store that knows no ranges sends all of it. */
function knownOf({ ContentLength, ContentRange, ETag: etag }: GetObjectCommandOutput): Known {
  const all = ContentRange === undefined ? ContentLength : ContentRange.split('/').at(-1);
  // Of a weak tag, as proxies make them, no condition holds: the hash of the file tells what came.
  return { bytes: Number(all ?? 0), etag: etag?.startsWith('W/') === true ? undefined : etag };
}
