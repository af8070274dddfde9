// Reads the records of one dataset for each symbol of a batch: from memory, and the rest by one statement for
// all symbols, since each statement takes a child process 2 ms and the server one.
import type { SeriesPlan } from '../../query/plan/seriesPlan.ts';
import { readThroughCache, runSeries, runTakes } from '../../query/series/series.ts';
import { canJoinTakes } from '../../query/series/multiKey.ts';
import { type Body, bodyLength, fileTooLarge } from '../../store/duckdb/protocol.ts';
import type { readDataset } from '../series/series.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';

type Read = Awaited<ReturnType<typeof readDataset>>;

/** The reads of a batch from one dataset. */
interface Reads {
  /** One read for each symbol, in order; a single read may be of the whole market. */
  readonly reads: readonly Read[];
  readonly symbols: readonly string[];
  /** Plans the same read for several symbols. */
  readonly join: (symbols: readonly string[]) => Promise<SeriesPlan>;
}

/** Concurrent reads of one call; other calls wait for the same processes. */
const CONCURRENCY = 8;

/** Maximum bytes of an answer, which is built in memory: the same as for one dataset. */
const BYTES_MAX = 64 * 1024 ** 2;

/** Reads all bodies. @param lengthBefore bytes of the answer's other parts. @throws Failure TooLarge. */
export async function readAll(
  { join, reads, symbols }: Reads,
  call: ReadRequest,
  { series }: Pick<ReadServices, 'series'>,
  lengthBefore: number,
): Promise<readonly Body[]> {
  const bodies = new Map<Read, Body>();
  const each = async (
    selectedReads: readonly Read[],
    read: (one: Read) => Promise<Body | undefined>,
  ): Promise<void> => {
    for (let from = 0; from < selectedReads.length; from += CONCURRENCY) {
      const some = selectedReads.slice(from, from + CONCURRENCY);
      for (const [at, body] of (await Promise.all(some.map(read))).entries()) {
        const one = some[at];
        if (body !== undefined && one !== undefined) bodies.set(one, body);
      }
      refuseOversized(lengthBefore + sumLengths([...bodies.values()]));
    }
  };
  await each(
    reads.filter(({ remembered }) => remembered),
    ({ plan }) => readThroughCache(plan, series),
  );
  const unread = reads.flatMap((read, at) =>
    bodies.has(read) ? [] : [{ read, symbol: symbols[at] ?? '' }],
  );
  const joined = unread.length > 1 ? await join(unread.map(({ symbol }) => symbol)) : undefined;
  if (joined !== undefined && canJoinTakes(joined)) {
    const joinedBodies = await runTakes(joined, series, call);
    unread.forEach(({ read }, at) => bodies.set(read, joinedBodies[at] ?? EMPTY_LIST));
    refuseOversized(lengthBefore + sumLengths([...bodies.values()]));
  } else {
    await each(
      unread.map(({ read }) => read),
      ({ plan }) => runSeries(plan, 'json', series, call),
    );
  }
  return reads.map((read) => bodies.get(read) ?? EMPTY_LIST);
}

const EMPTY_LIST: Body = { objects: 0, bytes: Buffer.from('[]') };

/** @throws Failure TooLarge. */
export function refuseOversized(bytes: number): void {
  if (bytes <= BYTES_MAX) return;
  throw fileTooLarge(BYTES_MAX);
}

export const sumLengths = (bodies: readonly Body[]): number =>
  bodies.reduce((sum, body) => sum + bodyLength(body), 0);
