// A million rows out of the SQL door in each format, against bare COPY; and series reads beside many
// queries at once.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Tapedeck } from '../../app/main.ts';
import type { BareHow } from './bareSql.ts';
import { ratioOf, type Ratio } from '../measure.ts';
import { marketSymbol } from './sqlData.ts';
import { QUERIES } from './sqlQueries.ts';
import type { Bare, Door } from './sqlSides.ts';
import { tokenOf } from '../stored.ts';

const ROWS = 1_000_000;
const TOO_LARGE = 413;

/** Our format, what bare copies to, and the target: bare time by ours. */
const FORMATS: readonly (readonly [string, BareHow, string])[] = [
  ['csv', 'copy csv', '>= 0.8'],
  ['json', 'copy json', '>= 0.8'],
  ['parquet', 'copy parquet', '>= 0.8'],
  ['arrow', 'copy csv', '>= 0.5'],
];

export async function millionRows(
  door: Door,
  bare: Bare,
  pairs: number,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [format, how, target] of FORMATS) {
    lines.push(JSON.stringify(await outOf(door, bare, format, how, target, pairs)));
  }
  return lines;
}

async function outOf(
  door: Door,
  bare: Bare,
  format: string,
  how: BareHow,
  target: string,
  pairs: number,
): Promise<Ratio> {
  const { rows, bytes } = await mostRows(door, format);
  const sql = `SELECT * FROM TRADES LIMIT ${rows}`;
  const ours = async (): Promise<number> => {
    const { ms, status } = await door(sql, format);
    if (status !== 200) throw new Error(`${format} ${status}`);
    return ms;
  };
  const name = `up to ${rows} rows out as ${format}, against bare ${how}`;
  const ratio = await ratioOf({ name, target, pairs }, ours, () => bare.time(sql, how));
  const refused = rows < ROWS ? `${ROWS} rows are refused with ${TOO_LARGE}; ` : '';
  return { ...ratio, note: `${refused}${(bytes / 1e6).toFixed(1)} MB` };
}

/** A million rows, or half of them, or half of those: as many as one answer may have. */
async function mostRows(
  door: Door,
  format: string,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  for (let rows = ROWS; ; rows /= 2) {
    const { body, status } = await door(`SELECT * FROM TRADES LIMIT ${rows}`, format);
    if (status === 200) return { rows, bytes: body.length };
    if (status !== TOO_LARGE || rows < 1_000) throw new Error(`${status} ${body.toString()}`);
  }
}

const SECONDS = 10;
const QUERIES_AT_ONCE = 32;
const READS_AT_ONCE = 4;
const SERIES = 500;

/** p99 of series reads alone and beside 32 queries at once: of reads from memory and from files. */
export async function besideSeries(tapedeck: Tapedeck, folder: string): Promise<readonly string[]> {
  const token = await tokenOf(tapedeck, 'publishable');
  const queries = QUERIES.map(
    ({ sql }) => `/v1/sql-query/WS?sqlQuery=${encodeURIComponent(sql)}&token=${token}`,
  );
  await writeFile(join(folder, 'queries'), queries.join('\n'));
  const lines: string[] = [];
  for (const [kind, more] of [['memory', ''] as const, ['files', '&cache=false'] as const]) {
    const reads = Array.from(
      { length: SERIES },
      (_, at) => `/v1/data/WS/QUOTES/${marketSymbol(at * 7)}?last=30${more}&token=${token}`,
    );
    const list = join(folder, `reads-${kind}`);
    await writeFile(list, reads.join('\n'));
    for (const path of [...reads, ...reads]) await (await fetch(`${tapedeck.base}${path}`)).text();
    lines.push(JSON.stringify(await beside(tapedeck, list, join(folder, 'queries'), kind)));
  }
  return lines;
}

async function beside(
  { base }: Tapedeck,
  reads: string,
  queries: string,
  kind: string,
): Promise<Ratio> {
  const { port } = new URL(base);
  const alone = await load(port, SECONDS, READS_AT_ONCE, reads);
  const queried = load(port, SECONDS + 2, QUERIES_AT_ONCE, queries);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const crowded = await load(port, SECONDS, READS_AT_ONCE, reads);
  const { failures, perSecond } = await queried;
  const answered = `${perSecond.toFixed(1)} queries a second, ${failures} of them failed`;
  const pace = `reads a second ${alone.perSecond.toFixed(0)} and ${crowded.perSecond.toFixed(0)}`;
  return {
    bench: `p99 of series reads from ${kind}, beside ${QUERIES_AT_ONCE} queries by alone`,
    ratio: Math.round((crowded.p99 / alone.p99) * 1000) / 1000,
    target: '<= 2',
    pairs: 1,
    oursMs: crowded.p99,
    bareMs: alone.p99,
    note: `${answered}; ${pace}`,
  };
}

interface Load {
  readonly perSecond: number;
  readonly failures: number;
  readonly p99: number;
}

async function load(port: string, seconds: number, atOnce: number, list: string): Promise<Load> {
  const script = new URL('../hot/httpLoad.ts', import.meta.url).pathname;
  const parts = [script, port, String(seconds), String(atOnce), list];
  const { stdout } = await promisify(execFile)(process.execPath, parts);
  return JSON.parse(stdout) as Load;
}
