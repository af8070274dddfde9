// The suites of `npm run soak`: their names, their full counts, and the function that runs a part. A new
// suite is a line in this table.
import { cutRounds } from './crash/nodes/cutRounds.ts';
import { quotaRaces } from './crash/nodes/quotaRaces.ts';
import { crashRounds } from './crash/rounds/killRounds.ts';
import { lifeRounds } from './crash/rounds/lifeRounds.ts';
import { nodeRounds } from './crash/nodes/nodeRounds.ts';
import type { Orders } from './crash/rounds/seeded.ts';
import { postgresRounds } from './crash/rounds/postgresRounds.ts';
import { onceRounds } from './crash/rounds/onceRounds.ts';
import { pushRounds } from './crash/rounds/pushRounds.ts';
import { ruleRounds } from './crash/rounds/ruleRounds.ts';
import { streamRounds } from './crash/rounds/streamRounds.ts';
import { powerLossPrefixes } from './crash/rounds/powerLoss.ts';
import { fuzzFiles } from './fuzz/http/files.ts';
import { longLine } from './fuzz/http/longLine.ts';
import { exactnessLaw } from './fuzz/licence/exactness.ts';
import { extractionLaw } from './fuzz/licence/extraction.ts';
import { markupLaw } from './fuzz/markup/markup.ts';
import { leaksLaw } from './fuzz/licence/leaks.ts';
import { ruleLeaksLaw } from './fuzz/licence/ruleLeaks.ts';
import { fuzzRequests } from './fuzz/http/requests.ts';
import { clockLaw } from './laws/history/clock.ts';
import { bodiesLaw } from './fuzz/bodies/bodies.ts';
import { stallsLaw } from './fuzz/stalls.ts';
import { cellsLaw } from './laws/formats/cells.ts';
import { contractsLaw } from './laws/contracts.ts';
import { cursorsLaw } from './laws/history/cursors.ts';
import { downloadsLaw } from './laws/downloads.ts';
import { exactTypesLaw } from './laws/formats/exactTypes.ts';
import { csvFilesLaw } from './laws/formats/csvFiles.ts';
import { formatsLaw } from './laws/formats/formats.ts';
import { historyLaw } from './laws/history/histories.ts';
import { quotaLeasesLaw } from './laws/leases/quotaLeases.ts';
import { limitsLaw } from './laws/limits.ts';
import { memoryLaw } from './laws/memory.ts';
import { meteringLaw } from './laws/metering.ts';
import { momentsLaw } from './laws/history/moments.ts';
import { secondFileLaw } from './laws/history/secondFile.ts';
import { tablesLaw } from './laws/tables.ts';
import { alertsLaw } from './laws/alerts.ts';
import { backtestLaw } from './laws/backtest.ts';
import { rulesLaw } from './laws/rules.ts';
import { streamBarsLaw } from './laws/streams/streamBars.ts';
import { streamMoneyLaw } from './laws/streams/streamMoney.ts';
import { streamLogLaw } from './laws/streams/streamLog.ts';
import { streamQuotaLaw } from './laws/streams/streamQuota.ts';
import { streamOrderLaw } from './laws/streams/streamOrder.ts';
import { startNats } from '../base/servers/nats.ts';
import { rotLaw } from './laws/rot.ts';
import { seriesPlansLaw } from './laws/series/seriesPlans.ts';
import { seriesRequestsLaw } from './laws/series/seriesRequests.ts';
import { writtenDatesLaw } from './laws/formats/writtenDates.ts';
import { exchangeLaw } from '../market/exchange/exchangeLaw.ts';
import { optionsLaw } from '../market/exchange/optionsLaw.ts';
import { tableOf, verdictOf } from '../life/diary.ts';
import { DAY_BOUNDS, DAY_COLUMNS, engineDay } from '../life/engineDay.ts';
import { liveMonth } from '../life/month.ts';
import { STREAM_BOUNDS, STREAM_COLUMNS, streamHours } from '../life/streamHours.ts';
import { markdownOf, trendOf } from '../life/trend.ts';
import { scheduledMonth } from '../life/schedules/scheduledMonth.ts';
import { fuzzTexts } from './fuzz/sql/fuzzTexts.ts';
import { adjustLaw } from '../market/laws/adjustLaw.ts';
import { delayLaw } from '../market/laws/delayLaw.ts';
import { figuresLaw } from '../market/laws/figuresLaw.ts';
import { indicatorsLaw } from '../market/indicators/indicatorsLaw.ts';
import { symbolsLaw } from '../market/laws/symbolsLaw.ts';
import { estimatesLaw } from '../query/sql/prices/estimatesLaw.ts';
import { opinionsLaw } from '../query/sql/opinions.ts';
import { conditionsLaw, selectsLaw } from '../query/sql/selectsLaw.ts';

interface SoakOrder {
  readonly count: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

interface SoakReport {
  readonly failures: readonly string[];
  /** Measured beside the checks, one line each. */
  readonly notes: readonly string[];
}

export interface SoakSuite {
  readonly name: string;
  /** The full count of DESIGN.md "Tests". */
  readonly fullCount: number;
  /** Count of one seed, after which the progress is saved; a stopped soak repeats at most this many. */
  readonly partCount: number;
  run(order: SoakOrder): Promise<SoakReport>;
}

const HISTORY_STEPS = 25;
const MOMENT_STEPS = 40;

export const SOAK_SUITES: readonly SoakSuite[] = [
  { name: 'kill', fullCount: 200, partCount: 8, run: crashRounds },
  { name: 'kill-pushes', fullCount: 200, partCount: 20, run: pushRounds },
  { name: 'kill-once', fullCount: 200, partCount: 20, run: onceRounds },
  { name: 'kill-postgres', fullCount: 200, partCount: 20, run: postgresRounds },
  { name: 'kill-nodes', fullCount: 200, partCount: 20, run: ofOneSeed(nodeRounds) },
  { name: 'cut-nodes', fullCount: 50, partCount: 10, run: ofOneSeed(cutRounds) },
  { name: 'quota-races', fullCount: 1_000, partCount: 250, run: ofOneSeed(quotaRaces) },
  { name: 'quota-leases', fullCount: 10_000, partCount: 1_000, run: quotaLeasesLaw },
  { name: 'kill-rules', fullCount: 100, partCount: 10, run: ruleKillsPart },
  { name: 'kill-streams', fullCount: 20, partCount: 4, run: streamKillsPart },
  { name: 'kill-life', fullCount: 200, partCount: 22, run: lifeRounds },
  { name: 'power-loss', fullCount: 1_000, partCount: 25, run: powerLossPrefixes },
  { name: 'metering', fullCount: 1_000_000, partCount: 100_000, run: meterPart },
  { name: 'limits', fullCount: 500, partCount: 50, run: limitsPart },
  { name: 'downloads', fullCount: 1_000, partCount: 200, run: downloadsPart },
  { name: 'alerts', fullCount: 1_000, partCount: 100, run: alertsPart },
  { name: 'rules', fullCount: 10_000, partCount: 1_000, run: rulesPart },
  { name: 'backtest', fullCount: 600, partCount: 60, run: backtestPart },
  { name: 'stream-money', fullCount: 10_000, partCount: 500, run: streamMoneyPart },
  { name: 'stream-quota', fullCount: 1_000, partCount: 250, run: streamQuotaPart },
  { name: 'stream-order', fullCount: 50_000, partCount: 5_000, run: streamOrderPart },
  { name: 'stream-log', fullCount: 1_000, partCount: 50, run: streamLogPart },
  { name: 'stream-bars', fullCount: 100_000, partCount: 5_000, run: streamBarsPart },
  { name: 'clock', fullCount: 500, partCount: 25, run: clockPart },
  { name: 'histories', fullCount: 1_000, partCount: 10, run: historiesPart },
  { name: 'moments', fullCount: 400, partCount: 10, run: momentsPart },
  { name: 'cursors', fullCount: 400, partCount: 10, run: cursorsPart },
  { name: 'second-files', fullCount: 10_000, partCount: 250, run: secondFilesPart },
  { name: 'tables', fullCount: 5_000, partCount: 250, run: tablesPart },
  { name: 'csv-files', fullCount: 20_000, partCount: 1_000, run: csvFilesPart },
  { name: 'contracts', fullCount: 2_000, partCount: 50, run: contractsPart },
  { name: 'memory', fullCount: 10_000, partCount: 500, run: memoryPart },
  { name: 'series-plans', fullCount: 100_000, partCount: 20_000, run: plansPart },
  { name: 'series-requests', fullCount: 2_000, partCount: 200, run: answersPart },
  { name: 'rot', fullCount: 1_000, partCount: 250, run: rotPart },
  { name: 'formats', fullCount: 2_000, partCount: 200, run: formatsPart },
  { name: 'exact-types', fullCount: 1_000, partCount: 100, run: lawPart(exactTypesLaw) },
  { name: 'cells', fullCount: 2_000, partCount: 100, run: lawPart(cellsLaw) },
  { name: 'written-dates', fullCount: 2_000, partCount: 200, run: lawPart(writtenDatesLaw) },
  { name: 'exchange', fullCount: 1_000, partCount: 50, run: lawPart(exchangeLaw) },
  { name: 'options', fullCount: 1_000, partCount: 100, run: lawPart(optionsLaw) },
  { name: 'sql-selects', fullCount: 10_000, partCount: 500, run: selectsPart },
  { name: 'sql-conditions', fullCount: 2_000, partCount: 200, run: conditionsPart },
  { name: 'sql-estimates', fullCount: 1_000, partCount: 200, run: estimatesPart },
  { name: 'sql-opinions', fullCount: 20_000, partCount: 2_000, run: lawPart(opinionsLaw) },
  { name: 'licence-programs', fullCount: 200, partCount: 100, run: lawPart(extractionLaw) },
  { name: 'licence-leaks', fullCount: 1_000, partCount: 250, run: lawPart(leaksLaw) },
  { name: 'markup', fullCount: 5_000, partCount: 5_000, run: lawPart(markupLaw) },
  { name: 'licence-rules', fullCount: 2_000, partCount: 200, run: lawPart(ruleLeaksLaw) },
  { name: 'licence-folds', fullCount: 1_000, partCount: 100, run: lawPart(exactnessLaw) },
  { name: 'fuzz-sql', fullCount: 100_000, partCount: 5_000, run: textsPart },
  { name: 'fuzz-files', fullCount: 10_000, partCount: 500, run: filesPart },
  { name: 'long-line', fullCount: 1_024, partCount: 1_024, run: loggedPart(longLine) },
  { name: 'fuzz-requests', fullCount: 50_000, partCount: 5_000, run: requestsPart },
  { name: 'stall', fullCount: 50_000, partCount: 5_000, run: loggedPart(stallsLaw) },
  { name: 'bodies', fullCount: 2_000, partCount: 1_000, run: loggedPart(bodiesLaw) },
  { name: 'month', fullCount: 30, partCount: 30, run: monthPart },
  { name: 'stream-hours', fullCount: 120, partCount: 120, run: streamHoursPart },
  { name: 'engine-day', fullCount: 24, partCount: 24, run: engineDayPart },
  { name: 'schedules', fullCount: 500, partCount: 500, run: schedulesPart },
  { name: 'adjusting', fullCount: 2_000, partCount: 200, run: async (order) => adjustLaw(order) },
  { name: 'figures', fullCount: 2_000, partCount: 200, run: async (order) => figuresLaw(order) },
  {
    name: 'indicators',
    fullCount: 1_000,
    partCount: 100,
    run: async (order) => indicatorsLaw(order),
  },
  { name: 'delays', fullCount: 2_000, partCount: 200, run: async (order) => delayLaw(order) },
  { name: 'symbols', fullCount: 200_000, partCount: 20_000, run: symbolsLaw },
];

type Law = (count: number, seed: number) => Promise<{ readonly failures: readonly string[] }>;

/** Runs rounds that accept several seeds with one seed. */
function ofOneSeed(rounds: (orders: Orders) => Promise<readonly SoakReport[]>): SoakSuite['run'] {
  return async ({ seed, ...order }) => {
    const [report] = await rounds({ ...order, seeds: [seed] });
    return report ?? { failures: ['no report'], notes: [] };
  };
}

/** Runs a law whose figures are its notes. */
function lawPart(law: Law): SoakSuite['run'] {
  return async ({ count, seed }) => {
    const { failures, ...figures } = await law(count, seed);
    return { failures, notes: [JSON.stringify(figures)] };
  };
}

/** Schedules of a month of 30 days. */
async function schedulesPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { failures, summary } = await scheduledMonth({ schedules: count, days: 30, seed });
  return { failures, notes: [JSON.stringify(summary)] };
}

async function selectsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { failures, ...figures } = await selectsLaw(count, seed);
  return { failures, notes: [JSON.stringify(figures)] };
}

async function conditionsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { failures, ...figures } = await conditionsLaw(count, seed);
  return { failures, notes: [JSON.stringify(figures)] };
}

async function estimatesPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { failures, ...figures } = await estimatesLaw(count, seed);
  return { failures, notes: [JSON.stringify(figures)] };
}

async function textsPart(order: SoakOrder): Promise<SoakReport> {
  const { runs, failures } = await fuzzTexts(order);
  return { failures, notes: [`${runs} texts`] };
}

async function memoryPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await memoryLaw(count, seed)] };
}

async function meterPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const messages = await meteringLaw(count, seed);
  return { failures: [], notes: [`${messages} messages in headers, ledger and usage alike`] };
}

async function limitsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const passed = await limitsLaw(count, seed);
  return { failures: [], notes: [`${passed} calls passed, the others of 64 each were refused`] };
}

async function downloadsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await downloadsLaw(count, seed)] };
}

function rulesPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return Promise.resolve({ failures: [], notes: [rulesLaw(count, seed)] });
}

async function ruleKillsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await ruleRounds(count, seed)] };
}

async function streamKillsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const order = { kills: count, readers: 160, records: 320, seed };
  return { failures: [], notes: [await streamRounds(order)] };
}

async function backtestPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await backtestLaw(count, seed)] };
}

async function alertsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await alertsLaw(count, seed)] };
}

async function streamMoneyPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await streamMoneyLaw(count, seed)] };
}

async function streamQuotaPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await streamQuotaLaw(count, seed)] };
}

async function streamOrderPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [streamOrderLaw(count, seed)] };
}

async function streamLogPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  await using nats = await startNats();
  if (nats === undefined) throw new Error('NATS is not here');
  return { failures: [], notes: [await streamLogLaw(count, seed, nats)] };
}

async function streamBarsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await streamBarsLaw(count, seed)] };
}

async function clockPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await clockLaw(count, seed)] };
}

async function historiesPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  let records = 0;
  for (let at = 0; at < count; at += 1)
    records += await historyLaw(HISTORY_STEPS, seed * 1_000 + at);
  return {
    failures: [],
    notes: [`${count} histories of ${HISTORY_STEPS} steps, ${records} records`],
  };
}

async function momentsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  let answers = 0;
  for (let at = 0; at < count; at += 1)
    answers += await momentsLaw(MOMENT_STEPS, seed * 1_000 + at);
  const note = `${count} histories of ${MOMENT_STEPS} steps, ${answers} answers requested again`;
  return { failures: [], notes: [note] };
}

async function cursorsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const records = await cursorsLaw(count, seed);
  return { failures: [], notes: [`${count} rounds of 4 writers, ${records} records returned`] };
}

async function secondFilesPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [`${await secondFileLaw(count, seed)} steps`] };
}

async function tablesPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [JSON.stringify(await tablesLaw(count, seed))] };
}

async function csvFilesPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  return { failures: [], notes: [await csvFilesLaw(count, seed)] };
}

async function contractsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const records = await contractsLaw(count, seed);
  return { failures: [], notes: [`${count} contracts, ${records} records`] };
}

async function plansPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { failures, plans, refused, cuts, left } = seriesPlansLaw(count, seed);
  const note = `${plans} plans, ${refused} refused, ${cuts} cuts of pages, ${left} left to files`;
  return { failures, notes: [note] };
}

async function answersPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { failures, requests, refused, rows, fromMemory } = await seriesRequestsLaw(count, seed);
  const note = `${requests} requests, ${refused} refused, ${rows} records, ${fromMemory} from memory`;
  return { failures, notes: [note] };
}

async function formatsPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { failures, requests, refused, rows } = await formatsLaw(count, seed);
  const note = `${requests} requests in every format, ${refused} refused, ${rows} records`;
  return { failures, notes: [note] };
}

async function rotPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { failures, ...figures } = await rotLaw(count, seed);
  return { failures, notes: [JSON.stringify(figures)] };
}

async function filesPart(order: SoakOrder): Promise<SoakReport> {
  const { runs, failures } = await fuzzFiles(order);
  return { failures, notes: [`${runs} files`] };
}

async function requestsPart(order: SoakOrder): Promise<SoakReport> {
  const { runs, failures } = await fuzzRequests(order);
  return { failures, notes: [`${runs} requests`] };
}

type LoggedLaw = (order: SoakOrder) => Promise<{ readonly failures: readonly string[] }>;

/** Runs a law whose log is its notes. */
function loggedPart(law: LoggedLaw): SoakSuite['run'] {
  return async (order) => {
    const notes: string[] = [];
    const { failures } = await law({ ...order, log: (line) => notes.push(line) });
    return { failures, notes };
  };
}

const EVERY_DAYS = 3;

/** Runs two hundred stream readers for `count` minutes. */
async function streamHoursPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const stepMinutes = Math.max(1, Math.floor(count / 12));
  const { charged, entries, failures, read } = await streamHours({
    minutes: count,
    stepMinutes,
    seed,
    log: ({ messages, minute }) => void process.stdout.write(`minute ${minute}: ${messages}\n`),
  });
  process.stdout.write(markdownOf(entries, STREAM_COLUMNS));
  // The retained history fills up in the first half.
  const full = entries.slice(Math.floor(entries.length / 2));
  const trend = trendOf(full, STREAM_BOUNDS);
  const money = `${read} messages were read, ${charged} charged`;
  return { failures: [...failures, ...trend.failures], notes: [money, ...trend.lines] };
}

/** Runs `count` hours of mixed work, each 25 seconds long. */
async function engineDayPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { entries, failures, notes } = await engineDay({
    hours: count,
    hourMs: 25e3,
    seed,
    log: ({ happened, hour }) => void process.stdout.write(`hour ${hour} ${happened}\n`),
  });
  process.stdout.write(markdownOf(entries, DAY_COLUMNS));
  // The retained history fills up in the first half.
  const trend = trendOf(entries.slice(Math.floor(entries.length / 2)), DAY_BOUNDS);
  return { failures: [...failures, ...trend.failures], notes: [...notes, ...trend.lines] };
}

/** Runs `count` days: 50,000 records each night, 1,000 corrections by day. */
async function monthPart({ count, seed }: SoakOrder): Promise<SoakReport> {
  const { entries, skipped } = await liveMonth({
    days: count,
    keys: 5e3,
    daysBefore: 26,
    seed,
    correctionsADay: 1e3,
    deletionsADay: 5,
    reads: 200,
    log: ({ day, records }) => void process.stdout.write(`day ${day}: ${records} records\n`),
  });
  process.stdout.write(tableOf(entries, EVERY_DAYS));
  const { failures, lines } = verdictOf(entries);
  return { failures, notes: [...lines, ...skipped.map((what) => `not tried: ${what}`)] };
}
