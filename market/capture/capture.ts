// Reads a capture file from start to end: its ticks, and counts of unreadable parts.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';
import type { Tick, TickReader } from '../live/tick.ts';
import { MessageReader } from './messages.ts';
import { type PacketCounts, PacketReader } from './packets.ts';
import { type SegmentCounts, SegmentReader } from './segments.ts';

export interface CaptureSummary extends PacketCounts, Omit<SegmentCounts, 'damaged'> {
  /** Segments and messages with invalid contents. */
  readonly damagedMessages: number;
  /** Messages of each type, by its letter. */
  readonly types: Readonly<Record<string, number>>;
  /** Times of the messages, epoch milliseconds; undefined where there are none. */
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
  readonly symbols: number;
}

/** Position of a tick in the file. */
export interface Place {
  readonly sequence: number;
  /** Of its time, beyond the milliseconds. */
  readonly nanoseconds: number;
}

type OnTick = (tick: Tick, place: Place) => void;

/** Chunk size of a file that is read for its records. */
const CHUNK_BYTES = 1024 ** 2;
/** Chunk size of a file that is played: its ticks are decoded in 1 ms. */
const PLAYED_BYTES = 64 * 1024;

/**
 * Reads the whole file, plain or gzip; one turn of the event loop for each chunk.
 * @param afterChunk is awaited before more is read
 */
export async function readCapture(
  path: string,
  onTick: OnTick,
  afterChunk: () => Promise<void> = async () => undefined,
): Promise<CaptureSummary> {
  const pieces = piecesOf(path, onTick, CHUNK_BYTES);
  for (;;) {
    const { done, value } = await pieces.next();
    if (done === true) return value;
    await afterChunk();
  }
}

/** Yields the file in pieces whose ticks take 1 ms: a piece is read when it is requested. */
export const playedPieces = (path: string, onTick: OnTick): AsyncGenerator<void, CaptureSummary> =>
  piecesOf(path, onTick, PLAYED_BYTES);

async function* piecesOf(
  path: string,
  onTick: OnTick,
  chunkBytes: number,
): AsyncGenerator<void, CaptureSummary> {
  const decoder = decoderOf(onTick);
  const chunks = chunksOf(path, chunkBytes);
  try {
    for (;;) {
      const { done, value } = await chunks.next();
      if (done === true) return decoder.end(value);
      const goesOn = decoder.push(value);
      yield;
      if (!goesOn) return decoder.end(undefined);
    }
  } finally {
    await chunks.return(undefined);
  }
}

/** Returns the ticks of a file, as far as it can be read, in its order and on request. */
export function captureReader(path: string, isWanted: (symbol: string) => boolean): TickReader {
  const ticks: Tick[] = [];
  const decoder = decoderOf((tick) => {
    if (tick.symbol === '' || isWanted(tick.symbol)) ticks.push(tick);
  });
  const chunks = chunksOf(path, PLAYED_BYTES);
  return {
    async next() {
      ticks.length = 0;
      while (ticks.length === 0) {
        const { done, value } = await chunks.next();
        if (done === true) break;
        if (!decoder.push(value)) this.close();
      }
      return [...ticks];
    },
    close: () => void chunks.return(undefined),
  };
}

interface Decoder {
  /** @returns whether more of the file can be read */
  readonly push: (chunk: Buffer) => boolean;
  /** @param broken why the file ended early, in words */
  readonly end: (broken: string | undefined) => CaptureSummary;
}

function decoderOf(onTick: OnTick): Decoder {
  const types = new Float64Array(256);
  const symbols = new Set<string>();
  const messages = new MessageReader();
  let before = '';
  let [damaged, firstMs, lastMs] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const segments = new SegmentReader((bytes, start, end, sequence) => {
    const type = bytes.readUInt8(start);
    types[type] = (types[type] ?? 0) + 1;
    const read = messages.read(bytes, start, end);
    if (read === undefined) return;
    if (read === 'damaged') {
      damaged += 1;
      return;
    }
    const { nanoseconds, tick } = read;
    if (tick.timeMs < firstMs) firstMs = tick.timeMs;
    if (tick.timeMs > lastMs) lastMs = tick.timeMs;
    if (tick.symbol !== before) symbols.add((before = tick.symbol));
    onTick(tick, { sequence, nanoseconds });
  });
  const packets = new PacketReader((bytes, start, end) => segments.segment(bytes, start, end));
  const end = (broken: string | undefined): CaptureSummary => {
    symbols.delete('');
    const { damaged: damagedSegments, ...segmentCounts } = segments.counts();
    const { cut = broken, ...counted } = packets.end();
    const isEmpty = segmentCounts.messages === 0;
    return {
      ...counted,
      ...segmentCounts,
      cut,
      types: namesOf(types),
      symbols: symbols.size,
      damagedMessages: damaged + damagedSegments,
      firstMs: isEmpty ? undefined : firstMs,
      lastMs: isEmpty ? undefined : lastMs,
    };
  };
  return { push: (chunk) => packets.push(chunk), end };
}

const namesOf = (types: Float64Array): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...types.entries()]
      .filter(([, count]) => count > 0)
      .map(([type, count]) => [String.fromCharCode(type), count]),
  );

/** @returns why it ended early, in words */
async function* chunksOf(
  path: string,
  chunkBytes: number,
): AsyncGenerator<Buffer, string | undefined, undefined> {
  const file = await open(path);
  const head = Buffer.alloc(2);
  await file.read(head, 0, 2, 0).finally(() => file.close());
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const bytes = createReadStream(path, { highWaterMark: chunkBytes });
  // A truncated tail is decoded as far as possible.
  const unpacking = { chunkSize: chunkBytes, finishFlush: constants.Z_SYNC_FLUSH };
  const source = isGzip ? pipeline(bytes, createGunzip(unpacking), () => undefined) : bytes;
  try {
    for await (const chunk of source) yield chunk as Buffer;
    return undefined;
  } catch (error) {
    if (!isZlib(error)) throw error;
    return `the gzip data are damaged: ${error.message}`;
  }
}

const isZlib = (error: unknown): error is Error =>
  error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith('Z_');
