// What each thing costs with twenty times as much stored: two datasets of one shape in one server,
// every measure taken of both in turn. Printed as a Markdown table.
import { join } from 'node:path';
import type { Tapedeck } from '../app/main.ts';
import { bringIn, drive, pathsOf } from './hot/hotReads.ts';
import { median, p99, timed } from './measure.ts';
import { LASTS, ourReads, p50 } from './series.ts';
import { fillDaily, send, startBench, symbolOf, tokenOf } from './stored.ts';

/** The larger dataset has so many times the records of the smaller. */
const TIMES = 20;
/** So few that a key of the smaller dataset has 252 records too. */
const SYMBOLS = 2_500;
const ROWS = 1_000;
const PUSHES = 300;

interface Stored {
  readonly tapedeck: Tapedeck;
  /** Of the whole run; lists of requests are written there. */
  readonly folder: string;
  readonly dataset: string;
  readonly days: number;
  /** The version that holds what it was filled with. */
  readonly snapshot: number;
}

/** Milliseconds of one measure; several when it is a median of its own. */
type Measure = (stored: Stored, round: number) => Promise<readonly number[]>;

interface Row {
  readonly name: string;
  readonly of: (times: readonly number[]) => number;
  readonly measure: Measure;
}

export async function benchSizes(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly string[]> {
  const cache = { TAPEDECK_CACHE_BYTES: String(1024 ** 3) };
  const tapedeck = await startBench(join(folder, 'sizes'), cache);
  try {
    const small = await fill(tapedeck, folder, 'SMALL', Math.round(rows / TIMES));
    const large = await fill(tapedeck, folder, 'LARGE', rows);
    const lines = [
      `| what | ${Math.round(rows / TIMES)} stored, ms | ${rows} stored, ms | ratio |`,
      '|---|---|---|---|',
    ];
    // Reads come before what changes the files; the older version is read after.
    for (const row of rowsOf()) lines.push(await lineOf(row, small, large, pairs));
    return lines;
  } finally {
    await tapedeck.close();
  }
}

async function fill(
  tapedeck: Tapedeck,
  folder: string,
  dataset: string,
  rows: number,
): Promise<Stored> {
  await fillDaily(tapedeck, folder, dataset, rows, SYMBOLS);
  const { snapshot } = tapedeck.services.lake;
  return { tapedeck, folder, dataset, days: Math.floor(rows / SYMBOLS), snapshot };
}

async function lineOf(row: Row, small: Stored, large: Stored, pairs: number): Promise<string> {
  const times: { small: number; large: number }[] = [];
  for (let round = 0; round <= pairs; round += 1) {
    const first = row.of(await row.measure(small, round));
    const pair = { small: first, large: row.of(await row.measure(large, round)) };
    if (round > 0) times.push(pair);
  }
  const cells = [
    spelled(median(times.map((time) => time.small))),
    spelled(median(times.map((time) => time.large))),
    median(times.map((time) => time.large / time.small)).toFixed(2),
  ];
  return `| ${row.name} | ${cells.join(' | ')} |`;
}

const spelled = (ms: number): string => ms.toFixed(ms < 1 ? 3 : 1);

function rowsOf(): readonly Row[] {
  const reads = LASTS.map((last): Row => {
    const measure: Measure = async ({ tapedeck, dataset }, round) => [
      await p50(await ourReads(tapedeck, dataset), last, round, SYMBOLS),
    ];
    return { name: `cold read of the last ${last}`, of: median, measure };
  });
  const hot = LASTS.map((records): Row => {
    const measure: Measure = (stored, round) => hotReads(stored, records, round);
    return { name: `hot read of ${records}, of 32 connections`, of: median, measure };
  });
  const asOf: Measure = async ({ tapedeck, dataset, snapshot }, round) => [
    await p50(await ourReads(tapedeck, dataset, `&asOf=${snapshot}`), 30, round, SYMBOLS),
  ];
  return [
    ...reads,
    ...hot,
    { name: `append of ${ROWS} newer records`, of: median, measure: append },
    { name: `${ROWS} corrections over all days`, of: median, measure: correct },
    { name: 'one push, median', of: median, measure: (stored, round) => push(stored, round) },
    { name: 'one push, p99', of: p99, measure: (stored, round) => push(stored, round + 100) },
    { name: 'list of versions', of: median, measure: versions },
    { name: 'read of the last 30 of an older version', of: median, measure: asOf },
  ];
}

/** Milliseconds an answer from memory; the first round brings the series there. */
async function hotReads(
  { tapedeck, folder, dataset, days }: Stored,
  records: number,
  round: number,
): Promise<readonly number[]> {
  const token = await tokenOf(tapedeck, 'publishable');
  const paths = pathsOf({ dataset, symbols: SYMBOLS, records, days, token });
  const list = join(folder, `${dataset}-${records}`);
  if (round === 0) await bringIn(tapedeck, paths, list);
  return [1000 / (await drive(Number(new URL(tapedeck.base).port), list))];
}

const dayOf = (firstMs: number, day: number): string =>
  new Date(firstMs + day * 86_400_000).toISOString().slice(0, 10);

const STORED_FROM = Date.UTC(2000, 0, 1);
/** After the last stored day. */
const NEW_FROM = Date.UTC(2040, 0, 1);

const append: Measure = async ({ tapedeck, dataset }, round) => {
  const date = dayOf(NEW_FROM, round);
  const lines = Array.from({ length: ROWS }, (_, at) => `${symbolOf(at)},${date},${at}.5`);
  const csv = `symbol,date,close\n${lines.join('\n')}\n`;
  return [await timed(() => send(tapedeck, dataset, csv))];
};

const correct: Measure = async ({ tapedeck, dataset, days }, round) => {
  const lines = Array.from({ length: ROWS }, (_, at) => {
    const date = dayOf(STORED_FROM, (at * 7919 + round * 104_729) % days);
    return `${symbolOf((at * 31 + round) % SYMBOLS)},${date},1.25`;
  });
  const csv = `symbol,date,close\n${lines.join('\n')}\n`;
  return [await timed(() => send(tapedeck, dataset, csv))];
};

/** One after the other: what a push costs that meets no other. */
const push = async (
  { tapedeck, dataset, days }: Stored,
  round: number,
): Promise<readonly number[]> => {
  const token = await tokenOf(tapedeck, 'secret');
  const how = `duplicateKeyHandling=replace&token=${token}`;
  const times: number[] = [];
  for (let at = 0; at < PUSHES; at += 1) {
    const date = dayOf(STORED_FROM, (at * 13 + round) % days);
    const body = JSON.stringify({ symbol: symbolOf(at), date, close: at + 0.5 });
    const url = `${tapedeck.base}/v1/record/WS/${dataset}?${how}`;
    const ask = async (): Promise<void> => {
      const answer = await fetch(url, { method: 'POST', body });
      const text = await answer.text();
      if (!answer.ok) throw new Error(text);
    };
    times.push(await timed(ask));
  }
  return times;
};

const versions: Measure = async ({ tapedeck, dataset }) => {
  const token = await tokenOf(tapedeck, 'publishable');
  const url = `${tapedeck.base}/v1/datasets/WS/${dataset}/versions?token=${token}`;
  const times: number[] = [];
  for (let at = 0; at < 50; at += 1) {
    times.push(await timed(async () => (await fetch(url)).text()));
  }
  return times;
};
