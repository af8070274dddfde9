// Measures the cost of operations with twenty times as many stored records: two datasets of the same shape in
// one server, measured alternately. Prints a Markdown table.
import { join } from 'node:path';
import { warmCache, driveReads, readPaths } from '../hot/hotReads.ts';
import { byMedian, byP99, byPace, type Client, openClient } from '../http/clientProcess.ts';
import { getRequests, type RequestSpec } from '../http/order.ts';
import { type BenchServer, serveFilled } from '../http/server.ts';
import { loadBy } from '../lake/life.ts';
import { summarizeAnswers, median, type Measurement } from '../base/measure.ts';
import { fillDaily, symbolOf } from '../base/stored.ts';
import { coldReads, roundKeys, LASTS } from './series.ts';

/** Ratio of the records of the larger to those of the smaller dataset. */
const TIMES = 20;
/** Few enough that a key of the smaller dataset also has 252 records. */
const SYMBOLS = 2_500;
const ROWS = 1_000;
const PUSHES = 300;

interface Filled {
  readonly dataset: string;
  readonly days: number;
  /** Version after the fill. */
  readonly snapshot: number;
}

interface Stored extends Filled {
  readonly client: Client;
  readonly server: BenchServer;
}

type Measure = (stored: Stored, round: number) => Promise<Measurement>;

export async function benchSizes(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly string[]> {
  const cache = { TAPEDECK_CACHE_BYTES: String(1024 ** 3) };
  const few = Math.round(rows / TIMES);
  const place = join(folder, 'sizes');
  const { content, server } = await serveFilled(place, cache, async (tapedeck) => {
    const fill = async (dataset: string, count: number): Promise<Filled> => {
      await fillDaily(tapedeck, folder, dataset, count, SYMBOLS);
      const { snapshot } = tapedeck.services.lake;
      return { dataset, days: Math.floor(count / SYMBOLS), snapshot };
    };
    return { small: await fill('SMALL', few), large: await fill('LARGE', rows) };
  });
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const endpoint = { client: stack.use(openClient()), server };
  const [small, large] = [
    { ...endpoint, ...content.small },
    { ...endpoint, ...content.large },
  ];
  const lines = [
    `| what | ${few} stored, ms (p50 / p99 / CPU) | ${rows} stored, ms (p50 / p99 / CPU) | ratio |`,
    '|---|---|---|---|',
  ];
  // Reads run before the operations that change files; reads of the older version run after them.
  for (const [name, measure] of ROWS_OF_TABLE) {
    lines.push(await formatRow(name, measure, small, large, pairs));
  }
  return lines;
}

async function formatRow(
  name: string,
  measure: Measure,
  small: Stored,
  large: Stored,
  pairs: number,
): Promise<string> {
  const rounds: { small: Measurement; large: Measurement }[] = [];
  for (let round = 0; round <= pairs; round += 1) {
    const first = await measure(small, round);
    const pair = { small: first, large: await measure(large, round) };
    if (round > 0) rounds.push(pair);
  }
  const ratio = median(rounds.map((pair) => pair.large.ms / pair.small.ms));
  const cells = [
    formatCell(rounds.map((pair) => pair.small)),
    formatCell(rounds.map((pair) => pair.large)),
    ratio.toFixed(2),
  ];
  return `| ${name} | ${cells.join(' | ')} |`;
}

/** Formats the figure used for the ratio and the times of the answers. */
function formatCell(rounds: readonly Measurement[]): string {
  const { cpuMs = 0, p50 = 0, p99 = 0 } = summarizeAnswers(rounds);
  const answers = [p50, p99, cpuMs].map(formatMs).join(' / ');
  return `${formatMs(median(rounds.map(({ ms }) => ms)))} (${answers})`;
}

const formatMs = (ms: number): string => ms.toFixed(ms < 1 ? 3 : 1);

/** Measures throughput of reads from memory; the first round fills the cache. */
async function hotReads(
  { client, dataset, days, server }: Stored,
  records: number,
  round: number,
): Promise<Measurement> {
  const { publishable: token } = server;
  const paths = readPaths({ dataset, symbols: SYMBOLS, records, days, token });
  if (round === 0) await warmCache(client, server, paths);
  return byPace(await driveReads(client, server, paths));
}

const formatDay = (firstMs: number, day: number): string =>
  new Date(firstMs + day * 86_400_000).toISOString().slice(0, 10);

const STORED_FROM = Date.UTC(2000, 0, 1);
/** Later than the last stored day. */
const NEW_FROM = Date.UTC(2040, 0, 1);

const append: Measure = ({ client, dataset, server }, round) => {
  const date = formatDay(NEW_FROM, round);
  const lines = Array.from({ length: ROWS }, (_, at) => `${symbolOf(at)},${date},${at}.5`);
  return loadBy(client, server, dataset, `symbol,date,close\n${lines.join('\n')}\n`);
};

const correct: Measure = ({ client, dataset, days, server }, round) => {
  const lines = Array.from({ length: ROWS }, (_, at) => {
    const date = formatDay(STORED_FROM, (at * 7919 + round * 104_729) % days);
    return `${symbolOf((at * 31 + round) % SYMBOLS)},${date},1.25`;
  });
  return loadBy(client, server, dataset, `symbol,date,close\n${lines.join('\n')}\n`);
};

/** Sequential pushes, without contention. */
const pushes = ({ dataset, days, server }: Stored, round: number): readonly RequestSpec[] =>
  Array.from({ length: PUSHES }, (_, at) => {
    const date = formatDay(STORED_FROM, (at * 13 + round) % days);
    const body = JSON.stringify({ symbol: symbolOf(at), date, close: at + 0.5 });
    const query = `duplicateKeyHandling=replace&token=${server.secret}`;
    return { path: `/v1/record/WS/${dataset}?${query}`, method: 'POST', body };
  });

const drivePushes = (stored: Stored, round: number) =>
  stored.client.drive(stored.server, {
    requests: pushes(stored, round),
    connections: 1,
    count: PUSHES,
  });

const versions: Measure = async ({ client, dataset, server }) => {
  const path = `/v1/datasets/WS/${dataset}/versions?token=${server.publishable}`;
  return byMedian(
    await client.drive(server, { requests: getRequests([path]), connections: 1, count: 50 }),
  );
};

const ROWS_OF_TABLE: readonly (readonly [name: string, measure: Measure])[] = [
  ...LASTS.map((last): readonly [string, Measure] => [
    `cold read of the last ${last}`,
    (stored, round) => coldReads(stored, last, roundKeys(round, SYMBOLS)),
  ]),
  ...LASTS.map((records): readonly [string, Measure] => [
    `hot read of ${records}, of 32 connections`,
    (stored, round) => hotReads(stored, records, round),
  ]),
  [`append of ${ROWS} newer records`, append],
  [`${ROWS} corrections over all days`, correct],
  ['one push, median', async (stored, round) => byMedian(await drivePushes(stored, round))],
  ['one push, p99', async (stored, round) => byP99(await drivePushes(stored, round + 100))],
  ['list of versions', versions],
  [
    'read of the last 30 of an older version',
    (stored, round) => coldReads(stored, 30, roundKeys(round, SYMBOLS), `&asOf=${stored.snapshot}`),
  ],
];
