// The speed of the SQL door: forty queries over trades and quotes, over HTTP with a publishable token
// and metering, against bare DuckDB in its own process that runs the same text over the same files with
// the same memory, threads and priority. Bare fetches small answers as JSON text and copies large ones
// to a CSV file. Answers are compared before they are timed.
import { join } from 'node:path';
import { openClient } from '../http/clientProcess.ts';
import { serveFilled } from '../http/served.ts';
import { answersOf, median, type Taken } from '../base/measure.ts';
import { besideSeries, millionRows } from './sqlLoads.ts';
import { fillMarket } from './sqlData.ts';
import { type BenchQuery, QUERIES } from './sqlQueries.ts';
import { rowsIn } from './sqlRows.ts';
import { type Bare, bareOver, type Door, openBare, openDoor } from './sqlSides.ts';

/** Bare milliseconds from which a query is judged by its ratio; a shorter one by its overhead. */
const LONG_MS = 10;
const RATIO_MOST = 1.15;
const NEW_MOST_MS = 2;
const SEEN_MOST_MS = 1;
/** Shorter queries are asked so many times in a round, and their median counts. */
const REPEATED_BELOW_MS = 20;
const REPEATS = 9;
/** Of longer ones it makes no difference whether their text was seen before. */
const SEEN_BELOW_MS = 100;

export async function benchSql(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly string[]> {
  // What is measured is a query, not its answer in memory.
  const settings = { TAPEDECK_SQL_TIMEOUT: '300000', TAPEDECK_SQL_CACHE: '0' };
  const place = join(folder, 'sql');
  const { made, server } = await serveFilled(place, settings, async (tapedeck) => {
    await tapedeck.services.accounts.changeAccount(tapedeck.accountId, { tier: 'scale' });
    await fillMarket(tapedeck, folder, rows);
    return bareOver(tapedeck);
  });
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const client = stack.use(openClient());
  const bare = await openBare(made, join(folder, 'bare'));
  stack.defer(bare.close);
  const door = openDoor(client, server);
  return [
    ...(await speedOf(door, bare, pairs)),
    '',
    ...(await millionRows(door, bare, pairs)),
    '',
    ...(await besideSeries(client, server)),
  ];
}

interface Timed {
  readonly query: BenchQuery;
  readonly rows: number;
  readonly bareMs: number;
  readonly newMs: number;
  readonly seenMs: number;
  /** Medians of pairs: our time by the bare one, and what it is more. */
  readonly ratio: number;
  readonly newOverMs: number;
  readonly seenOverMs: number;
  /** What the answers took: of bare, with a new text, and with one that was seen. */
  readonly sides: readonly ReturnType<typeof answersOf>[];
}

async function speedOf(door: Door, bare: Bare, pairs: number): Promise<readonly string[]> {
  const lines = [
    '| query | rows | bare ms | new text ms | seen text ms | ratio | new +ms | seen +ms | holds' +
      ' | p99 ms bare / new / seen | CPU ms bare / new / seen |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
  ];
  const all: Timed[] = [];
  const faults: string[] = [];
  for (const query of QUERIES) {
    const checked = await checkedRows(query, door, bare);
    if (typeof checked === 'string') {
      faults.push(`${query.name}: ${checked}`);
      continue;
    }
    const timed = await timesOf(query, checked, door, bare, pairs);
    all.push(timed);
    lines.push(lineOf(timed));
    process.stderr.write(`${lineOf(timed)}\n`);
  }
  return [...lines, '', ...summaryOf(all), ...faults];
}

/** The number of rows of both answers; or what is wrong. */
async function checkedRows({ sql }: BenchQuery, door: Door, bare: Bare): Promise<number | string> {
  const ours = await door.answer(sql, 'jsonl');
  if (ours.status !== 200) return `refused with ${ours.status} ${ours.body.toString()}`;
  const [mine, theirs] = [rowsIn(ours.body), await bare.rows(sql)];
  if (mine.hash === theirs.hash) return mine.count;
  const counts = `${mine.count} and ${theirs.count} rows`;
  return `answers differ: ${counts}, ${mine.first} and ${theirs.first}`;
}

let texts = 0;
/** The same query in a text that was never seen. */
const unseen = (sql: string): string => `${sql} -- ${(texts += 1)}`;

async function timesOf(
  query: BenchQuery,
  rows: number,
  door: Door,
  bare: Bare,
  pairs: number,
): Promise<Timed> {
  const format = query.format ?? 'json';
  const { sql } = query;
  const how = format === 'csv' ? 'copy csv' : 'json';
  await bare.time(sql, how);
  const first = (await bare.time(sql, how)).ms;
  const repeats = first < REPEATED_BELOW_MS ? REPEATS : 1;
  const times = (text: () => string): readonly string[] => Array.from({ length: repeats }, text);
  const bareSide = (): Promise<Taken> => bare.time(sql, how, repeats);
  const made = (): Promise<Taken> =>
    door.time(
      times(() => unseen(sql)),
      format,
    );
  const known = (): Promise<Taken> =>
    door.time(
      times(() => sql),
      format,
    );
  const sides = [bareSide, made, ...(first < SEEN_BELOW_MS ? [known] : [])];
  const rounds: (readonly Taken[])[] = [];
  for (let round = 0; round <= pairs; round += 1) {
    const taken: Taken[] = [];
    for (const at of sides.keys()) {
      const place = (at + round) % sides.length;
      taken[place] = await (sides[place] ?? bareSide)();
    }
    if (round > 0) rounds.push(taken);
  }
  const of = (map: (times: { bare: number; made: number; known: number }) => number): number =>
    median(
      rounds.map((taken) => {
        const [bareMs = 0, madeMs = 0, knownMs = madeMs] = taken.map(({ ms }) => ms);
        return map({ bare: bareMs, made: madeMs, known: knownMs });
      }),
    );
  return {
    query,
    rows,
    bareMs: of((times) => times.bare),
    newMs: of((times) => times.made),
    seenMs: of((times) => times.known),
    ratio: of((times) => times.made / times.bare),
    newOverMs: of((times) => times.made - times.bare),
    seenOverMs: of((times) => times.known - times.bare),
    sides: sides.map((_, place) => answersOf(rounds.flatMap((taken) => taken[place] ?? []))),
  };
}

const isLong = ({ bareMs }: Timed): boolean => bareMs >= LONG_MS;

const holds = (timed: Timed): boolean =>
  isLong(timed)
    ? timed.ratio <= RATIO_MOST
    : timed.newOverMs <= NEW_MOST_MS && timed.seenOverMs <= SEEN_MOST_MS;

function lineOf(timed: Timed): string {
  const { bareMs, newMs, newOverMs, query, ratio, rows, seenMs, seenOverMs } = timed;
  const name = query.format === undefined ? query.name : `${query.name} (${query.format})`;
  const ms = [bareMs, newMs, seenMs].map((value) => value.toFixed(2));
  const over = [newOverMs, seenOverMs].map((value) => value.toFixed(2));
  const each = (figure: 'p99' | 'cpuMs'): string =>
    timed.sides.map((side) => (side[figure] ?? 0).toFixed(2)).join(' / ');
  const judged = [ratio.toFixed(2), ...over, holds(timed) ? 'yes' : 'no'];
  const cells = [name, rows, ...ms, ...judged, each('p99'), each('cpuMs')];
  return `| ${cells.join(' | ')} |`;
}

function summaryOf(all: readonly Timed[]): readonly string[] {
  const long = all.filter(isLong);
  const short = all.filter((timed) => !isLong(timed));
  const count = (of: readonly Timed[], keeps: (timed: Timed) => boolean): string =>
    `${of.filter(keeps).length} of ${of.length}`;
  const mean = (of: readonly Timed[], value: (timed: Timed) => number): string =>
    Math.exp(of.reduce((sum, timed) => sum + Math.log(value(timed)), 0) / of.length).toFixed(2);
  const longest = count(long, holds);
  const made = count(short, ({ newOverMs }) => newOverMs <= NEW_MOST_MS);
  const known = count(short, ({ seenOverMs }) => seenOverMs <= SEEN_MOST_MS);
  const middle = (value: (timed: Timed) => number): string => median(short.map(value)).toFixed(2);
  return [
    `${all.length} of ${QUERIES.length} queries were answered alike.`,
    `${LONG_MS} ms and more of bare time: ${longest} at a ratio of at most ${RATIO_MOST}; geometric` +
      ` mean ${mean(long, ({ ratio }) => ratio)}.`,
    `Shorter: ${made} at most ${NEW_MOST_MS} ms more with a new text (median` +
      ` ${middle(({ newOverMs }) => newOverMs)}), ${known} at most ${SEEN_MOST_MS} ms more with a text` +
      ` seen before (median ${middle(({ seenOverMs }) => seenOverMs)}); geometric means of the ratios` +
      ` ${mean(short, ({ newMs, bareMs }) => newMs / bareMs)} and` +
      ` ${mean(short, ({ seenMs, bareMs }) => seenMs / bareMs)}.`,
  ];
}
