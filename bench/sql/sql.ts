// Measures the SQL endpoint: forty queries over trades and quotes, over HTTP with a publishable token and
// metering, against bare DuckDB in a separate process that runs the same text over the same files with the
// same memory, threads and priority. Bare DuckDB fetches small results as JSON text and copies large ones to
// a CSV file. Results are compared before they are timed.
import { join } from 'node:path';
import { openClient } from '../http/clientProcess.ts';
import { serveFilled } from '../http/server.ts';
import { summarizeAnswers, median, type Measurement } from '../base/measure.ts';
import { besideSeries, millionRows } from './sqlLoads.ts';
import { fillMarket } from './sqlData.ts';
import { type BenchQuery, QUERIES } from './sqlQueries.ts';
import { readRows } from './sqlRows.ts';
import {
  type Bare,
  describeBare,
  type SqlEndpoint,
  openBare,
  openSqlEndpoint,
} from './sqlSides.ts';

/** Bare milliseconds from which the target is a ratio; for shorter queries it is an overhead. */
const LONG_MS = 10;
const RATIO_MOST = 1.15;
const NEW_MOST_MS = 2;
const SEEN_MOST_MS = 1;
/** Shorter queries are repeated in a round; their median is used. */
const REPEATED_BELOW_MS = 20;
const REPEATS = 9;
/** For longer queries it makes no difference whether the text was seen before. */
const SEEN_BELOW_MS = 100;

export async function benchSql(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly string[]> {
  // The cache is off, because queries are measured, not cached results.
  const settings = { TAPEDECK_SQL_TIMEOUT: '300000', TAPEDECK_SQL_CACHE: '0' };
  const place = join(folder, 'sql');
  const { content, server } = await serveFilled(place, settings, async (tapedeck) => {
    await tapedeck.services.accounts.changeAccount(tapedeck.accountId, { tier: 'scale' });
    await fillMarket(tapedeck, folder, rows);
    return describeBare(tapedeck);
  });
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const client = stack.use(openClient());
  const bare = await openBare(content, join(folder, 'bare'));
  stack.defer(bare.close);
  const endpoint = openSqlEndpoint(client, server);
  return [
    ...(await measureSpeed(endpoint, bare, pairs)),
    '',
    ...(await millionRows(endpoint, bare, pairs)),
    '',
    ...(await besideSeries(client, server)),
  ];
}

interface QueryTimes {
  readonly query: BenchQuery;
  readonly rows: number;
  readonly bareMs: number;
  readonly newMs: number;
  readonly seenMs: number;
  /** Medians of pairs: our time divided by the bare time, and the differences. */
  readonly ratio: number;
  readonly newOverMs: number;
  readonly seenOverMs: number;
  /** Times of the answers: bare, with a new text, and with a seen text. */
  readonly sides: readonly ReturnType<typeof summarizeAnswers>[];
}

async function measureSpeed(
  endpoint: SqlEndpoint,
  bare: Bare,
  pairs: number,
): Promise<readonly string[]> {
  const lines = [
    '| query | rows | bare ms | new text ms | seen text ms | ratio | new +ms | seen +ms | holds' +
      ' | p99 ms bare / new / seen | CPU ms bare / new / seen |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
  ];
  const all: QueryTimes[] = [];
  const faults: string[] = [];
  for (const query of QUERIES) {
    const rowCount = await compareRows(query, endpoint, bare);
    if (typeof rowCount === 'string') {
      faults.push(`${query.name}: ${rowCount}`);
      continue;
    }
    const queryTimes = await timeQuery(query, rowCount, endpoint, bare, pairs);
    all.push(queryTimes);
    lines.push(formatRow(queryTimes));
    process.stderr.write(`${formatRow(queryTimes)}\n`);
  }
  return [...lines, '', ...summarize(all), ...faults];
}

/** Returns the number of rows of both results, or a description of the difference. */
async function compareRows(
  { sql }: BenchQuery,
  endpoint: SqlEndpoint,
  bare: Bare,
): Promise<number | string> {
  const ours = await endpoint.answer(sql, 'jsonl');
  if (ours.status !== 200) return `refused with ${ours.status} ${ours.body.toString()}`;
  const [mine, theirs] = [readRows(ours.body), await bare.rows(sql)];
  if (mine.hash === theirs.hash) return mine.count;
  const counts = `${mine.count} and ${theirs.count} rows`;
  return `answers differ: ${counts}, ${mine.first} and ${theirs.first}`;
}

let texts = 0;
/** Returns the query with a comment that makes its text new. */
const makeUnique = (sql: string): string => `${sql} -- ${(texts += 1)}`;

async function timeQuery(
  query: BenchQuery,
  rows: number,
  endpoint: SqlEndpoint,
  bare: Bare,
  pairs: number,
): Promise<QueryTimes> {
  const format = query.format ?? 'json';
  const { sql } = query;
  const how = format === 'csv' ? 'copy csv' : 'json';
  await bare.time(sql, how);
  const first = (await bare.time(sql, how)).ms;
  const repeats = first < REPEATED_BELOW_MS ? REPEATS : 1;
  const times = (text: () => string): readonly string[] => Array.from({ length: repeats }, text);
  const bareSide = (): Promise<Measurement> => bare.time(sql, how, repeats);
  const runNew = (): Promise<Measurement> =>
    endpoint.time(
      times(() => makeUnique(sql)),
      format,
    );
  const runSeen = (): Promise<Measurement> =>
    endpoint.time(
      times(() => sql),
      format,
    );
  const sides = [bareSide, runNew, ...(first < SEEN_BELOW_MS ? [runSeen] : [])];
  const rounds: (readonly Measurement[])[] = [];
  for (let round = 0; round <= pairs; round += 1) {
    const measurements: Measurement[] = [];
    for (const at of sides.keys()) {
      const place = (at + round) % sides.length;
      measurements[place] = await (sides[place] ?? bareSide)();
    }
    if (round > 0) rounds.push(measurements);
  }
  const of = (map: (times: { bare: number; fresh: number; seen: number }) => number): number =>
    median(
      rounds.map((measurements) => {
        const [bareMs = 0, newMs = 0, seenMs = newMs] = measurements.map(({ ms }) => ms);
        return map({ bare: bareMs, fresh: newMs, seen: seenMs });
      }),
    );
  return {
    query,
    rows,
    bareMs: of((times) => times.bare),
    newMs: of((times) => times.fresh),
    seenMs: of((times) => times.seen),
    ratio: of((times) => times.fresh / times.bare),
    newOverMs: of((times) => times.fresh - times.bare),
    seenOverMs: of((times) => times.seen - times.bare),
    sides: sides.map((_, place) =>
      summarizeAnswers(rounds.flatMap((measurements) => measurements[place] ?? [])),
    ),
  };
}

const isLong = ({ bareMs }: QueryTimes): boolean => bareMs >= LONG_MS;

const meetsTarget = (queryTimes: QueryTimes): boolean =>
  isLong(queryTimes)
    ? queryTimes.ratio <= RATIO_MOST
    : queryTimes.newOverMs <= NEW_MOST_MS && queryTimes.seenOverMs <= SEEN_MOST_MS;

function formatRow(queryTimes: QueryTimes): string {
  const { bareMs, newMs, newOverMs, query, ratio, rows, seenMs, seenOverMs } = queryTimes;
  const name = query.format === undefined ? query.name : `${query.name} (${query.format})`;
  const ms = [bareMs, newMs, seenMs].map((value) => value.toFixed(2));
  const over = [newOverMs, seenOverMs].map((value) => value.toFixed(2));
  const each = (figure: 'p99' | 'cpuMs'): string =>
    queryTimes.sides.map((side) => (side[figure] ?? 0).toFixed(2)).join(' / ');
  const judgement = [ratio.toFixed(2), ...over, meetsTarget(queryTimes) ? 'yes' : 'no'];
  const cells = [name, rows, ...ms, ...judgement, each('p99'), each('cpuMs')];
  return `| ${cells.join(' | ')} |`;
}

function summarize(all: readonly QueryTimes[]): readonly string[] {
  const long = all.filter(isLong);
  const short = all.filter((queryTimes) => !isLong(queryTimes));
  const count = (of: readonly QueryTimes[], passes: (queryTimes: QueryTimes) => boolean): string =>
    `${of.filter(passes).length} of ${of.length}`;
  const mean = (of: readonly QueryTimes[], value: (queryTimes: QueryTimes) => number): string =>
    Math.exp(
      of.reduce((sum, queryTimes) => sum + Math.log(value(queryTimes)), 0) / of.length,
    ).toFixed(2);
  const longest = count(long, meetsTarget);
  const withinNew = count(short, ({ newOverMs }) => newOverMs <= NEW_MOST_MS);
  const withinSeen = count(short, ({ seenOverMs }) => seenOverMs <= SEEN_MOST_MS);
  const middle = (value: (queryTimes: QueryTimes) => number): string =>
    median(short.map(value)).toFixed(2);
  return [
    `${all.length} of ${QUERIES.length} queries had equal results.`,
    `${LONG_MS} ms and more of bare time: ${longest} at a ratio of at most ${RATIO_MOST}; geometric` +
      ` mean ${mean(long, ({ ratio }) => ratio)}.`,
    `Shorter: ${withinNew} at most ${NEW_MOST_MS} ms more with a new text (median` +
      ` ${middle(({ newOverMs }) => newOverMs)}), ${withinSeen} at most ${SEEN_MOST_MS} ms more with a text` +
      ` seen before (median ${middle(({ seenOverMs }) => seenOverMs)}); geometric means of the ratios` +
      ` ${mean(short, ({ newMs, bareMs }) => newMs / bareMs)} and` +
      ` ${mean(short, ({ seenMs, bareMs }) => seenMs / bareMs)}.`,
  ];
}
