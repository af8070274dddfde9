// The life of stored data: an append to much against an append to little, corrections against bare
// DuckDB's own search for their keys, pushes against bare group commits.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { Tapedeck } from '../app/main.ts';
import { bareDuckDb, median, p99, type Ratio, ratioOf, rounded, timed } from './measure.ts';
import { filesOf, fillDaily, send, startBench, symbolOf, SYMBOLS, tokenOf } from './stored.ts';

/** Rows of one append, and of one load of corrections. */
const ROWS = 1_000;
const PUSH_SECONDS = 12;
const PUSHES_PER_TICK = 10;
const TICK_MS = 10;

export async function benchLife(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const tapedeck = await startBench(join(folder, 'life'));
  try {
    await fillDaily(tapedeck, folder, 'MUCH', rows);
    const ratios = [
      await benchAppend(tapedeck, pairs),
      await benchCorrections(tapedeck, folder, rows, pairs),
      await benchPushes(tapedeck, folder, pairs),
    ];
    return ratios.map((ratio) => ({ ...ratio, bench: `${ratio.bench}, ${rows} stored` }));
  } finally {
    await tapedeck.close();
  }
}

function csvOf(day: number): string {
  const date = new Date(Date.UTC(2040, 0, 1 + day)).toISOString().slice(0, 10);
  const rows = Array.from({ length: ROWS }, (_, at) => `${symbolOf(at)},${date},${at}.5`);
  return `symbol,date,close\n${rows.join('\n')}\n`;
}

async function benchAppend(tapedeck: Tapedeck, pairs: number): Promise<Ratio> {
  const bench = {
    name: `append of ${ROWS} newest rows`,
    target: '<= 1.5 of one to an empty dataset',
    pairs,
  };
  const ratio = await ratioOf(
    bench,
    (round) => timed(() => send(tapedeck, 'MUCH', csvOf(round))),
    (round) => timed(() => send(tapedeck, `EMPTY${round}`, csvOf(round))),
  );
  return inverted(ratio);
}

/** Our time by theirs, where less is better. */
const inverted = (ratio: Ratio): Ratio => ({ ...ratio, ratio: rounded(1 / ratio.ratio) });

async function benchCorrections(
  tapedeck: Tapedeck,
  folder: string,
  rows: number,
  pairs: number,
): Promise<Ratio> {
  const days = Math.floor(rows / SYMBOLS);
  const keys = (round: number): readonly (readonly [string, string])[] =>
    Array.from({ length: ROWS }, (_, at) => {
      const day = (at * 7919 + round * 104_729) % days;
      const date = new Date(Date.UTC(2000, 0, 1 + day)).toISOString().slice(0, 10);
      return [symbolOf((at * 31 + round) % SYMBOLS), date];
    });
  const files = (await filesOf(tapedeck, 'MUCH')).map((file) => `'${file}'`).join(', ');
  const bench = {
    name: `${ROWS} back-dated corrections`,
    target: '<= 3 of a bare semi-join of their keys',
    pairs,
  };
  const ratio = await ratioOf(
    bench,
    (round) => {
      const lines = keys(round).map(([symbol, date]) => `${symbol},${date},1.25`);
      const csv = `symbol,date,close\n${lines.join('\n')}\n`;
      return timed(() => send(tapedeck, 'MUCH', csv));
    },
    async (round) => {
      const path = join(folder, `keys-${round}.csv`);
      const lines = keys(round).map(([symbol, date]) => `${symbol},${date}`);
      await writeFile(path, `symbol,date\n${lines.join('\n')}\n`);
      return bareDuckDb(`SELECT count(*), sum(close) FROM read_parquet([${files}]) AS t
        SEMI JOIN read_csv('${path}') AS k ON t.symbol = k.symbol AND t.date = k.date`);
    },
  );
  return inverted(ratio);
}

async function benchPushes(tapedeck: Tapedeck, folder: string, pairs: number): Promise<Ratio> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < Math.min(pairs, 3); round += 1) {
    ours.push(await pushAll(tapedeck, round));
    bare.push(p99(await commitAll(join(folder, `commits-${round}.db`))));
  }
  return {
    bench: '1,000 pushes a second, half replacing: p99',
    ratio: rounded(median(ours.map((ms, at) => ms / (bare[at] ?? 1)))),
    target: '<= 4 of the p99 of a bare group commit',
    pairs: ours.length,
    oursMs: rounded(median(ours)),
    bareMs: rounded(median(bare)),
    note: 'over HTTP from a client process; a bare commit writes the rows of 10 ms',
  };
}

/** The p99 of pushes by a client process, in milliseconds. */
async function pushAll(tapedeck: Tapedeck, round: number): Promise<number> {
  const { p99: ms } = await pushLoad(
    tapedeck,
    'MUCH',
    `2050-01-0${1 + round}`,
    1_000,
    PUSH_SECONDS,
  );
  return ms;
}

interface Pushed {
  readonly p50: number;
  readonly p99: number;
  readonly pushes: number;
}

/** Pushes at an even pace, from a process of its own. */
export async function pushLoad(
  tapedeck: Tapedeck,
  dataset: string,
  date: string,
  perSecond: number,
  seconds: number,
): Promise<Pushed> {
  const script = new URL('./pushLoad.ts', import.meta.url).pathname;
  const token = await tokenOf(tapedeck, 'secret');
  const parts = [script, tapedeck.base, token, dataset, date, String(perSecond), String(seconds)];
  const { stdout } = await promisify(execFile)(process.execPath, parts);
  return JSON.parse(stdout) as Pushed;
}

async function commitAll(path: string): Promise<readonly number[]> {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE pushed (symbol TEXT, date TEXT, document TEXT)');
  const insert = database.prepare('INSERT INTO pushed VALUES (?, ?, ?)');
  const times: number[] = [];
  for (let tick = 0; tick < (PUSH_SECONDS * 1000) / TICK_MS; tick += 1) {
    const start = performance.now();
    database.exec('BEGIN');
    for (let at = 0; at < PUSHES_PER_TICK; at += 1) {
      insert.run(symbolOf(at), '2050-01-01', `{"close":${tick}.5}`);
    }
    database.exec('COMMIT');
    const tookMs = performance.now() - start;
    times.push(tookMs);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, TICK_MS - tookMs)));
  }
  database.close();
  return times;
}
