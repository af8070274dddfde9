// Measures changes of stored data: an append to a large against one to an empty dataset, corrections against
// bare DuckDB's search for their keys, pushes against bare group commits.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { byMedian, type Client, openClient } from '../http/clientProcess.ts';
import { measureCpuMs, cpuSince } from '../http/cpuTime.ts';
import { type HttpBench, type BenchServer, serveFilled } from '../http/server.ts';
import { bareDuckDb, invertRatio, p99, type Pair, type Ratio } from '../base/measure.ts';
import { measureRatio, computeRatio, type Measurement } from '../base/measure.ts';
import { listFiles, fillDaily, loadRequest, symbolOf, SYMBOLS } from '../base/stored.ts';

/** Rows per append and per load of corrections. */
const ROWS = 1_000;
const PUSH_SECONDS = 12;
const PUSHES_PER_TICK = 10;
const TICK_MS = 10;
/** Output limit for the times of all pushes. */
const STDOUT_MAX = 16 * 1024 ** 2;

interface Bench extends HttpBench {
  /** Files after the fill. */
  readonly files: readonly string[];
}

export async function benchLife(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const { content: files, server } = await serveFilled(
    join(folder, 'life'),
    {},
    async (tapedeck) => {
      await fillDaily(tapedeck, folder, 'MUCH', rows);
      return listFiles(tapedeck, 'MUCH');
    },
  );
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const bench = { client: stack.use(openClient()), server, folder, rows, pairs, files };
  const ratios = [
    await benchAppend(bench),
    await benchCorrections(bench),
    await benchPushes(bench),
  ];
  return ratios.map((ratio) => ({ ...ratio, bench: `${ratio.bench}, ${rows} stored` }));
}

/** Measures one load by the client process until it is stored. */
export async function loadBy(
  client: Client,
  server: BenchServer,
  dataset: string,
  csv: string,
): Promise<Measurement> {
  const requests = [loadRequest(dataset, csv, server.secret)];
  return byMedian(await client.drive(server, { requests, connections: 1, count: 1 }));
}

function buildCsv(day: number): string {
  const date = new Date(Date.UTC(2040, 0, 1 + day)).toISOString().slice(0, 10);
  const rows = Array.from({ length: ROWS }, (_, at) => `${symbolOf(at)},${date},${at}.5`);
  return `symbol,date,close\n${rows.join('\n')}\n`;
}

async function benchAppend({ client, pairs, server }: Bench): Promise<Ratio> {
  const bench = {
    name: `append of ${ROWS} newest rows`,
    target: '<= 1.5 of one to an empty dataset',
    pairs,
  };
  const ratio = await measureRatio(
    bench,
    (round) => loadBy(client, server, 'MUCH', buildCsv(round)),
    (round) => loadBy(client, server, `EMPTY${round}`, buildCsv(round)),
  );
  return invertRatio(ratio);
}

async function benchCorrections(of: Bench): Promise<Ratio> {
  const { client, folder, pairs, rows, server } = of;
  const days = Math.floor(rows / SYMBOLS);
  const keys = (round: number): readonly (readonly [string, string])[] =>
    Array.from({ length: ROWS }, (_, at) => {
      const day = (at * 7919 + round * 104_729) % days;
      const date = new Date(Date.UTC(2000, 0, 1 + day)).toISOString().slice(0, 10);
      return [symbolOf((at * 31 + round) % SYMBOLS), date];
    });
  const files = of.files.map((file) => `'${file}'`).join(', ');
  const bench = {
    name: `${ROWS} back-dated corrections`,
    target: '<= 3 of a bare semi-join of their keys',
    pairs,
  };
  const ratio = await measureRatio(
    bench,
    (round) => {
      const lines = keys(round).map(([symbol, date]) => `${symbol},${date},1.25`);
      return loadBy(client, server, 'MUCH', `symbol,date,close\n${lines.join('\n')}\n`);
    },
    async (round) => {
      const path = join(folder, `keys-${round}.csv`);
      const lines = keys(round).map(([symbol, date]) => `${symbol},${date}`);
      await writeFile(path, `symbol,date\n${lines.join('\n')}\n`);
      return bareDuckDb(`SELECT count(*), sum(close) FROM read_parquet([${files}]) AS t
        SEMI JOIN read_csv('${path}') AS k ON t.symbol = k.symbol AND t.date = k.date`);
    },
  );
  return invertRatio(ratio);
}

async function benchPushes({ folder, pairs, server }: Bench): Promise<Ratio> {
  const rounds: Pair[] = [];
  for (let round = 0; round < Math.min(pairs, 3); round += 1) {
    const date = `2050-01-0${1 + round}`;
    const ours = await pushLoad(server, 'MUCH', date, 1_000, PUSH_SECONDS);
    rounds.push({ ours, bare: await commitAll(join(folder, `commits-${round}.db`)) });
  }
  const bench = {
    name: '1,000 pushes a second, half replacing: p99',
    target: '<= 4 of the p99 of a bare group commit',
    pairs: rounds.length,
  };
  const note = 'over HTTP from a client process; a bare commit writes the rows of 10 ms';
  return { ...invertRatio(computeRatio(bench, rounds)), note };
}

interface PushResult {
  readonly times: readonly number[];
  readonly cpuMs: number;
  readonly pushes: number;
}

/** Pushes at a constant rate from a separate process; measures the p99. */
export async function pushLoad(
  { base, pids, secret }: BenchServer,
  dataset: string,
  date: string,
  perSecond: number,
  seconds: number,
): Promise<Measurement> {
  const script = new URL('./pushLoad.ts', import.meta.url).pathname;
  const parts = [script, base, secret, dataset, date, String(perSecond), String(seconds)];
  const before = await measureCpuMs(pids);
  const { stdout } = await promisify(execFile)(process.execPath, parts, { maxBuffer: STDOUT_MAX });
  const spent = (await measureCpuMs(pids)) - before;
  const { cpuMs, pushes, times } = JSON.parse(stdout) as PushResult;
  return { ms: p99(times), times, cpuMs: spent / pushes, clientCpuMs: cpuMs / pushes };
}

async function commitAll(path: string): Promise<Measurement> {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE pushed (symbol TEXT, date TEXT, document TEXT)');
  const insert = database.prepare('INSERT INTO pushed VALUES (?, ?, ?)');
  const times: number[] = [];
  const spent = process.cpuUsage();
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
  return { ms: p99(times), times, cpuMs: cpuSince(spent) / times.length };
}
