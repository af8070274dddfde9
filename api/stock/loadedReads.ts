// The records of one dataset for each symbol of a batch: from memory, and what it has not by one statement
// for all symbols, since each takes a child 2 ms and the server one.
import type { SeriesPlan } from '../../query/plan/seriesPlan.ts';
import { remember, runSeries, runTakes } from '../../query/series/series.ts';
import { isJoined } from '../../query/series/takes.ts';
import { type Body, lengthOf } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import type { readDataset } from '../read/series.ts';
import type { Call, Services } from '../request/endpoint.ts';

type Read = Awaited<ReturnType<typeof readDataset>>;

/** What a batch reads of one dataset. */
interface Reads {
  /** Of each symbol, in their order; one read alone is of all that there is. */
  readonly reads: readonly Read[];
  readonly symbols: readonly string[];
  /** The same of several symbols by one plan. */
  readonly join: (symbols: readonly string[]) => Promise<SeriesPlan>;
}

/** Reads of one call that run beside each other: others wait for the same processes. */
const READS_AT_ONCE = 8;

/** An answer is made in memory: it has no more bytes than that of one dataset may have. */
const BYTES_MAX = 64 * 1024 ** 2;

/** @param lengthBefore bytes of the answer's other parts. @throws Failure TooLarge. */
export async function readAll(
  { join, reads, symbols }: Reads,
  call: Call,
  { series }: Pick<Services, 'series'>,
  lengthBefore: number,
): Promise<readonly Body[]> {
  const bodies = new Map<Read, Body>();
  const each = async (
    wanted: readonly Read[],
    read: (one: Read) => Promise<Body | undefined>,
  ): Promise<void> => {
    for (let from = 0; from < wanted.length; from += READS_AT_ONCE) {
      const some = wanted.slice(from, from + READS_AT_ONCE);
      for (const [at, body] of (await Promise.all(some.map(read))).entries()) {
        const one = some[at];
        if (body !== undefined && one !== undefined) bodies.set(one, body);
      }
      refuseLong(lengthBefore + lengthOfAll([...bodies.values()]));
    }
  };
  await each(
    reads.filter(({ remembered }) => remembered),
    ({ plan }) => remember(plan, series),
  );
  const left = reads.flatMap((read, at) =>
    bodies.has(read) ? [] : [{ read, symbol: symbols[at] ?? '' }],
  );
  const joined = left.length > 1 ? await join(left.map(({ symbol }) => symbol)) : undefined;
  if (joined !== undefined && isJoined(joined)) {
    const found = await runTakes(joined, series, call);
    left.forEach(({ read }, at) => bodies.set(read, found[at] ?? NOTHING));
    refuseLong(lengthBefore + lengthOfAll([...bodies.values()]));
  } else {
    await each(
      left.map(({ read }) => read),
      ({ plan }) => runSeries(plan, 'json', series, call),
    );
  }
  return reads.map((read) => bodies.get(read) ?? NOTHING);
}

const NOTHING: Body = { objects: 0, bytes: Buffer.from('[]') };

/** @throws Failure TooLarge. */
export function refuseLong(bytes: number): void {
  if (bytes <= BYTES_MAX) return;
  throw new Failure('TooLarge', `the answer is over ${BYTES_MAX} bytes: ask for less of it`);
}

export const lengthOfAll = (bodies: readonly Body[]): number =>
  bodies.reduce((sum, body) => sum + lengthOf(body), 0);
