// Reads that are asked over and over: Zipf keys, random windows, both orders, a fifth with `filter`;
// how they come into memory, and a client process that asks for them.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Tapedeck } from '../../app/main.ts';
import { symbolOf } from '../stored.ts';

/** Of one time that the client drives. */
export const SECONDS = 4;
const CONNECTIONS = 32;
/** Requests of a measurement, over and over. */
export const PATHS = 4_000;

/** What is read: the newest records of a key, or a window of as many days since 2000-01-01. */
interface Windows {
  readonly dataset: string;
  readonly symbols: number;
  /** Records of an answer. */
  readonly records: number;
  /** Stored days. */
  readonly days: number;
  readonly token: string;
}

/** The nth key is asked for as often as the first by n. */
export function zipfKey(at: number, symbols: number): string {
  const share = fraction(at * 7919);
  const key = Math.floor(symbols ** share) - 1;
  return symbolOf(Math.min(symbols - 1, key));
}

/** The same choices in each run. */
const fraction = (at: number): number => {
  const wide = Math.sin(at + 1) * 43_758.5453;
  return wide - Math.floor(wide);
};

export function pathsOf({ dataset, symbols, records, days, token }: Windows): readonly string[] {
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

/** As many rounds as bring the deepest series into memory, and not for ever where it has no room. */
const ROUNDS_MAX = 6;

/** Writes the list for `drive`, and asks until memory answers: a series comes in deeper with each round. */
export async function bringIn(
  { base, services }: Tapedeck,
  paths: readonly string[],
  list: string,
): Promise<void> {
  const { cache } = services.series;
  await writeFile(list, paths.join('\n'));
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { misses } = cache.state();
    await warm(base, paths);
    if (cache.state().misses === misses) return;
  }
}

/** Asks for every path once. */
export async function warm(base: string, paths: readonly string[]): Promise<void> {
  for (let at = 0; at < paths.length; at += 50) {
    await Promise.all(
      paths.slice(at, at + 50).map(async (path) => {
        const answer = await fetch(`${base}${path}`);
        const text = await answer.text();
        if (!answer.ok) throw new Error(text);
      }),
    );
  }
}

/** Asks for the paths of a file, one a line, again and again; answers a second. */
export const drive = async (port: number, list: string): Promise<number> =>
  (await loaded(port, list)).perSecond;

/** The same, with the p99 of the milliseconds of an answer. */
export async function loaded(
  port: number,
  list: string,
): Promise<{ readonly perSecond: number; readonly p99: number }> {
  const script = new URL('./httpLoad.ts', import.meta.url).pathname;
  const parts = [script, String(port), String(SECONDS), String(CONNECTIONS), list];
  const { stdout } = await promisify(execFile)(process.execPath, parts);
  const told = JSON.parse(stdout) as {
    readonly perSecond: number;
    readonly failures: number;
    readonly p99: number;
  };
  if (told.failures > 0) throw new Error(`${told.failures} answers were not 200`);
  return told;
}
