// A day of mixed load, its hours some seconds each: reads, SQL, pushes, loads, deletions, purges, a schedule,
// a backup now and then, restarts and kills. The times of each endpoint are recorded every hour, and
// acknowledged records must exist at the end of each hour.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, treeBytes } from '../../bench/base/measure.ts';
import { startCommand } from '../cli/command.ts';
import { headers, type Killable, killable } from '../soak/crash/rounds/killable.ts';
import { type Seeded, seeded } from '../soak/crash/rounds/seeded.ts';
import { chargedBy } from './bill.ts';
import { BUSY } from './stallWatch.ts';
import { type Bound, both, type Column, folderSize, megabytes } from './trend.ts';

const DOORS = ['hot', 'other', 'sql', 'push', 'load'] as const;
type Door = (typeof DOORS)[number];
type Times = Readonly<Record<Door, number[]>>;

interface DayHour {
  readonly hour: number;
  readonly happened: string;
  readonly times: Times;
  /** Stalls over 50 ms, and those in which the server itself was busy. */
  readonly stalls: number;
  readonly busy: number;
  readonly rssServer: number;
  readonly rssTree: number;
  readonly files: number;
  readonly bytes: number;
}

export const DAY_COLUMNS: readonly Column<DayHour>[] = [
  ['hour', ({ hour }) => String(hour)],
  ...DOORS.map((door): Column<DayHour> => [`${door} ms`, ({ times }) => both(times[door])]),
  ['stalls / busy', ({ busy, stalls }) => `${stalls} / ${busy}`],
  ['server / tree MB', (one) => `${megabytes(one.rssServer)} / ${megabytes(one.rssTree)}`],
  ['files', ({ files }) => String(files)],
  ['folder MB', ({ bytes }) => megabytes(bytes)],
  ['what happened', ({ happened }) => happened],
];

export const DAY_BOUNDS: readonly Bound<DayHour>[] = [
  // Every version is kept for an hour at least, which is longer than this day: files grow with each load.
  { name: 'files', of: ({ files }) => files, most: 2, counted: false },
  { name: 'memory of the server', of: (one) => one.rssServer, most: 1.5, counted: false },
  ...DOORS.map((door): Bound<DayHour> => ({
    name: door,
    most: 1.5,
    counted: false,
    of: ({ times }) => median(times[door]),
  })),
];

interface DayOrder {
  readonly hours: number;
  readonly hourMs: number;
  readonly seed: number;
  readonly log: (entry: DayHour) => void;
}

const KEYS = 100;
const DAYS = 200;
const LOADED = 500;
const CSV = 'symbol,day,v\n';
/** Messages that a kill may remove from the bill: reads of 30 records for a window and its maximum delay. */
const LOST_MOST = 20_000;

const dayText = (day: number): string =>
  new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10);

class EngineDay {
  readonly #root: string;
  readonly #children: ChildProcess[];
  readonly #random: Seeded;
  readonly failures: string[] = [];
  #server: Killable | undefined;
  #isOver = false;
  #times = newTimes();
  #lastV = 0;
  /** Possible values of a record: a single one if its push was acknowledged. */
  readonly #pushed = new Map<string, readonly number[]>();
  reportedMessages = 0;
  kills = 0;

  constructor(root: string, children: ChildProcess[], random: Seeded) {
    this.#root = root;
    this.#children = children;
    this.#random = random;
  }

  get #stallsPath(): string {
    return join(this.#root, 'stalls');
  }

  async start(): Promise<void> {
    const watch = `--import ${new URL('./stallWatch.ts', import.meta.url).href}`;
    const own = { NODE_OPTIONS: watch, STALLS: this.#stallsPath };
    const source = { TAPEDECK_SOURCE_FOLDER: join(this.#root, 'source') };
    const data = join(this.#root, 'data');
    this.#server = await killable(data, this.#children, { ...source, ...own });
  }

  async prepare(): Promise<void> {
    await mkdir(join(this.#root, 'source'));
    await writeFile(join(this.#root, 'source', 'f.csv'), `${CSV}A,2024-01-01,1\n`);
    await this.start();
    const json = { 'content-type': 'application/json' };
    await this.#ask('POST', '/workspaces', '{"name":"WS"}', json);
    for (const id of ['P', 'L']) {
      await this.#ask(
        'POST',
        `/data/WS/${id}?wait=true&key=symbol&date=day`,
        `${CSV}S0,2023-01-01,0\n`,
      );
    }
    const source = JSON.stringify({ type: 'FILE', path: 'f.csv' });
    const sourceAnswer = await this.#ask('POST', '/data-sources/WS', source, json);
    const { dataSourceId } = JSON.parse(sourceAnswer) as { readonly dataSourceId: string };
    const columnMapping = { key: 'symbol', date: 'day' };
    const schedule = { dataSourceId, datasetId: 'F', cron: '* * * * *', columnMapping };
    await this.#ask('POST', '/ingestion-schedules/WS', JSON.stringify(schedule), json);
  }

  /** Runs until `over` is called. */
  async live(): Promise<void> {
    const every = async (ms: number, work: () => Promise<unknown>): Promise<void> => {
      while (!this.#isOver) {
        await sleep(ms);
        const server = this.#server;
        if (server === undefined) continue;
        await work().catch((error: unknown) => {
          // A server that was stopped meanwhile may fail.
          if (this.#server === server) this.failures.push(String(error));
        });
      }
    };
    const symbol = (): string => `S${this.#random.between(0, KEYS - 1)}`;
    const query = encodeURIComponent(
      'SELECT symbol, count(*) AS n, avg(v) AS a FROM P GROUP BY symbol ORDER BY n DESC LIMIT 20',
    );
    await Promise.all([
      ...[1, 2].map(() =>
        every(2, () => this.#timed('hot', 'GET', `/data/WS/P/${symbol()}?last=30`)),
      ),
      every(20, () => this.#timed('other', 'GET', `/data/WS/L/${symbol()}?last=5`)),
      every(200, () => this.#timed('sql', 'GET', `/sql-query/WS?sqlQuery=${query}`)),
      every(10, () => this.#push()),
      every(1_000, () => this.#load()),
      every(3_000, () => this.#timed('other', 'DELETE', `/data/WS/L/${symbol()}`)),
    ]);
  }

  over(): void {
    this.#isOver = true;
  }

  /** The additional event at the beginning of an hour. */
  async event(hour: number): Promise<string> {
    if (hour % 8 === 3) {
      await this.#end('SIGTERM');
      await this.start();
      return 'restart';
    }
    if (hour % 8 === 7) {
      this.kills += 1;
      await this.#end('SIGKILL');
      await this.start();
      return 'kill -9';
    }
    if (hour % 6 === 0) {
      const env = { TAPEDECK_DATA: join(this.#root, 'data') };
      const target = join(this.#root, 'backup');
      const { code, stderr } = await startCommand(['backup', target], { env }, this.#children)
        .ended;
      if (code !== 0) this.failures.push(`hour ${hour}, backup: ${stderr}`);
      return 'backup';
    }
    if (hour % 4 === 2) {
      await this.#ask('DELETE', `/data/WS/L/S${hour}?purge=true`);
      return 'purge';
    }
    return '';
  }

  async entry(hour: number, happened: string): Promise<DayHour> {
    const { bytes, files } = folderSize(join(this.#root, 'data'));
    const pid = this.#server?.pid ?? 0;
    const times = this.#times;
    this.#times = newTimes();
    const stallLog = existsSync(this.#stallsPath) ? readFileSync(this.#stallsPath, 'utf8') : '';
    rmSync(this.#stallsPath, { force: true });
    const lines = stallLog.split('\n').filter((line) => line !== '');
    const stalls = lines.length;
    const busy = lines.filter((line) => line === BUSY).length;
    const rss = { rssServer: await treeBytes(pid, false), rssTree: await treeBytes(pid) };
    return { hour, happened, times, stalls, busy, ...rss, files, bytes };
  }

  /** Checks that sampled records have the last acknowledged value or a later one. */
  async check(hour: number): Promise<void> {
    const names = [...this.#pushed.keys()];
    for (let at = 0; at < 50 && names.length > 0; at += 1) {
      const name = names[this.#random.between(0, names.length - 1)] ?? '';
      const [symbol = '', day = ''] = name.split(' ');
      const before = this.#pushed.get(name) ?? [];
      const text = await this.#ask('GET', `/data/WS/P/${symbol}?on=${day}`);
      const [record] = JSON.parse(text) as readonly { readonly v: number }[];
      const may = [...before, ...(this.#pushed.get(name) ?? [])];
      if (record !== undefined && may.includes(record.v)) continue;
      this.failures.push(`hour ${hour}: ${name} is ${record?.v}, not of ${may.join()}`);
    }
  }

  charged(): Promise<number> {
    assert.ok(this.#server, 'no server runs');
    return chargedBy(this.#server);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.kill(signal);
  }

  async #push(): Promise<void> {
    const name = `S${this.#random.between(0, KEYS - 1)} ${dayText(this.#random.between(0, DAYS - 1))}`;
    const [symbol, day] = name.split(' ');
    const v = (this.#lastV += 1);
    const before = this.#pushed.get(name) ?? [];
    this.#pushed.set(name, [...before, v]);
    const body = JSON.stringify([{ symbol, day, v }]);
    await this.#timed('push', 'POST', '/record/WS/P?duplicateKeyHandling=replace', body);
    this.#pushed.set(name, [v]);
  }

  #load(): Promise<unknown> {
    const lines = Array.from({ length: LOADED }, () => {
      const [key, day] = [this.#random.between(0, KEYS - 1), this.#random.between(0, DAYS - 1)];
      return `S${key},${dayText(day)},${this.#random.between(0, 1_000_000)}\n`;
    });
    const path = '/data/WS/L?wait=true&duplicateKeyHandling=replace';
    return this.#timed('load', 'POST', path, `${CSV}${lines.join('')}`);
  }

  async #timed(door: Door, method: string, path: string, body?: string): Promise<void> {
    const beganMs = performance.now();
    await this.#ask(method, path, body);
    this.#times[door].push(performance.now() - beganMs);
  }

  async #ask(method: string, path: string, body?: string, more = {}): Promise<string> {
    const base = this.#server?.base ?? '';
    const bodyInit = body === undefined ? {} : { body };
    const answer = await fetch(`${base}/v1${path}`, {
      method,
      headers: { ...headers, ...more },
      ...bodyInit,
    });
    this.reportedMessages += Number(answer.headers.get('svccloud-messages-used') ?? 0);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text;
  }
}

const newTimes = (): Times => ({ hot: [], other: [], sql: [], push: [], load: [] });

export async function engineDay({ hourMs, hours, log, seed }: DayOrder): Promise<{
  readonly entries: readonly DayHour[];
  readonly failures: readonly string[];
  readonly notes: readonly string[];
}> {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-day-'));
  const children: ChildProcess[] = [];
  try {
    const day = new EngineDay(root, children, seeded(seed));
    await day.prepare();
    const before = (await day.charged()) - day.reportedMessages;
    const living = day.live();
    const entries: DayHour[] = [];
    for (let hour = 1; hour <= hours; hour += 1) {
      const untilMs = performance.now() + hourMs;
      const happened = await day.event(hour);
      await day.check(hour);
      await sleep(Math.max(0, untilMs - performance.now()));
      const entry = await day.entry(hour, happened);
      entries.push(entry);
      log(entry);
    }
    day.over();
    await living;
    await day.check(hours + 1);
    await sleep(1_000);
    const charged = (await day.charged()) - before;
    const notes = [
      `answers reported ${day.reportedMessages} messages, ${charged} were charged, ${day.kills} kills`,
    ];
    const isPaid =
      charged <= day.reportedMessages + LOST_MOST &&
      day.reportedMessages - charged <= day.kills * LOST_MOST;
    return { entries, failures: isPaid ? day.failures : [...day.failures, ...notes], notes };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await sleep(500);
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}
