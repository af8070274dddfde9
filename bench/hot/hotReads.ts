// Repeated reads: Zipf keys, random windows, both orders, a fifth with `filter`. Fills the cache and drives
// the client process.
import type { Client, DriveResult, Side } from '../http/clientProcess.ts';
import { getRequests } from '../http/order.ts';
import type { BenchServer } from '../http/server.ts';
import { symbolOf } from '../base/stored.ts';

/** Duration of one drive of the client. */
export const SECONDS = 4;
export const CONNECTIONS = 32;
/** Number of distinct requests of a measurement, which are repeated. */
export const PATHS = 4_000;

/** Reads of the latest records of a key, or of a window of as many days since 2000-01-01. */
interface Windows {
  readonly dataset: string;
  readonly symbols: number;
  /** Records per answer. */
  readonly records: number;
  /** Stored days. */
  readonly days: number;
  readonly token: string;
}

/** Returns a key of a Zipf distribution: the nth key is requested 1/n times as often as the first. */
export function zipfKey(at: number, symbols: number): string {
  const share = fraction(at * 7919);
  const key = Math.floor(symbols ** share) - 1;
  return symbolOf(Math.min(symbols - 1, key));
}

/** Returns a deterministic pseudo-random fraction, the same in each run. */
const fraction = (at: number): number => {
  const wide = Math.sin(at + 1) * 43_758.5453;
  return wide - Math.floor(wide);
};

export function readPaths({ dataset, symbols, records, days, token }: Windows): readonly string[] {
  return Array.from({ length: PATHS }, (_, at) => {
    const from = Math.floor(fraction(at * 31) * Math.max(1, days - records));
    const day = (count: number): string =>
      new Date(Date.UTC(2000, 0, 1 + count)).toISOString().slice(0, 10);
    const range =
      at % 2 === 0 ? `last=${records}` : `from=${day(from)}&to=${day(from + records - 1)}`;
    const order = at % 3 === 0 ? '&sort=asc' : '';
    const filter = at % 5 === 0 ? '&filter=date,close' : '';
    const key = zipfKey(at, symbols);
    return `/v1/data/WS/${dataset}/${key}?${range}${order}${filter}&token=${token}`;
  });
}

/** Enough rounds to load the longest series into memory; limited in case the cache is too small. */
const ROUNDS_MAX = 6;

/** Reads until the cache answers everything; each round caches a longer part of a series. */
export async function warmCache(
  client: Client,
  server: BenchServer,
  paths: readonly string[],
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { misses } = await server.memory();
    await readAllOnce(client, server, paths);
    if ((await server.memory()).misses === misses) return;
  }
}

/** Reads every path once. */
export const readAllOnce = (
  client: Client,
  side: Side,
  paths: readonly string[],
): Promise<DriveResult> =>
  client.drive(side, {
    requests: getRequests(paths),
    connections: CONNECTIONS,
    count: paths.length,
  });

/** Reads the paths repeatedly. */
export const driveReads = (
  client: Client,
  side: Side,
  paths: readonly string[],
  seconds = SECONDS,
): Promise<DriveResult> =>
  client.drive(side, { requests: getRequests(paths), connections: CONNECTIONS, seconds });
