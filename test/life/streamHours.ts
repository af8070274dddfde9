// Hours of streams in real time: two hundred readers of the synthetic exchange and of a dataset
// with concurrent pushes, loads, deletions and compactions. Now and then a reader disconnects and another
// one connects. Values that could grow are recorded, and the charged messages must equal the read ones.
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, p99, treeBytes } from '../../bench/base/measure.ts';
import { fetchText, type Killable, killable } from '../soak/crash/rounds/killable.ts';
import { type Seeded, seeded } from '../soak/crash/rounds/seeded.ts';
import { chargedBy } from './bill.ts';
import { type Bound, both, type Column, folderSize, megabytes } from './trend.ts';

interface StreamEntry {
  readonly minute: number;
  readonly messages: number;
  readonly rssServer: number;
  readonly rssTree: number;
  readonly files: number;
  readonly lakeBytes: number;
  /** Milliseconds from a push to a reader. */
  readonly lags: readonly number[];
  readonly pushes: readonly number[];
  readonly loads: readonly number[];
}

interface HoursOrder {
  readonly minutes: number;
  /** Duration of one line of the diary. */
  readonly stepMinutes: number;
  readonly seed: number;
  readonly log: (entry: StreamEntry) => void;
}

interface HoursReport {
  readonly entries: readonly StreamEntry[];
  readonly failures: readonly string[];
  readonly read: number;
  readonly charged: number;
}

export const STREAM_COLUMNS: readonly Column<StreamEntry>[] = [
  ['minute', ({ minute }) => String(minute)],
  ['messages', ({ messages }) => String(messages)],
  ['server / tree MB', (one) => `${megabytes(one.rssServer)} / ${megabytes(one.rssTree)}`],
  ['files', ({ files }) => String(files)],
  ['lake MB', ({ lakeBytes }) => megabytes(lakeBytes)],
  ['push to reader ms', ({ lags }) => both(lags)],
  ['push ms', ({ pushes }) => both(pushes)],
  ['load ms', ({ loads }) => both(loads)],
];

export const STREAM_BOUNDS: readonly Bound<StreamEntry>[] = [
  { name: 'files', of: ({ files }) => files, most: 2, counted: true },
  { name: 'memory of the server', of: (one) => one.rssServer, most: 1.5, counted: false },
  { name: 'memory of the tree', of: (one) => one.rssTree, most: 1.5, counted: false },
  { name: 'push to reader', of: ({ lags }) => median(lags), most: 1.5, counted: false },
  { name: 'push to reader, p99', of: ({ lags }) => p99(lags), most: 1.5, counted: false },
];

const READERS = 200;
const KEYS = 50;
/** Records of a key: few, so that most pushes replace existing ones. */
const DAYS = 1_000;
const FIRST_MS = Date.UTC(2024, 0, 1);

const dayText = (day: number): string =>
  new Date(FIRST_MS + day * 86_400_000).toISOString().slice(0, 10);

const PUSH_EVERY_MS = 200;
const PUSH_RECORDS = 5;
const LOAD_EVERY_MS = 15_000;
const LOAD_RECORDS = 500;
const DELETE_EVERY_MS = 60_000;
const CHANGE_EVERY_MS = 5_000;
const ADMIN = 'ak_0123456789abcdef0123456789abcdef';
const SETTINGS = {
  TAPEDECK_DEMO: 'on',
  TAPEDECK_DEMO_CLOCK: 'always',
  TAPEDECK_CHILDREN: '1',
  TAPEDECK_ADMIN_TOKEN: ADMIN,
  TAPEDECK_KEEP_ALL: '1',
};

interface Reader {
  readonly messages: () => number;
  readonly close: () => Promise<void>;
  readonly isEnded: () => boolean;
}

const END = Buffer.from('\r\n\r\n');

/** Counts messages; `onTime` gets the time in a message of the dataset. */
function readerOf(
  { base, publishable }: Killable,
  path: string,
  onTime: (ms: number) => void,
): Promise<Reader> {
  const url = `${base}/v1${path}${path.includes('?') ? '&' : '?'}token=${publishable}`;
  return new Promise((resolve, reject) => {
    const headers = { accept: 'text/event-stream' };
    const call = request(url, { headers, agent: false }, (answer) => {
      let [messages, isEnded] = [0, false];
      let rest: Buffer = Buffer.alloc(0);
      answer.on('data', (chunk: Buffer) => {
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        for (let at = rest.indexOf(END); at >= 0; at = rest.indexOf(END)) {
          const text = rest.toString('latin1', 0, at);
          const time = /"at":(\d{13})/.exec(text)?.[1];
          if (time !== undefined) onTime(Number(time));
          if (text.includes('data: ')) messages += 1;
          rest = rest.subarray(at + END.length);
        }
      });
      answer.on('error', () => undefined);
      answer.on('close', () => (isEnded = true));
      if (answer.statusCode !== 200) reject(new Error(`${path}: ${answer.statusCode}`));
      const close = async (): Promise<void> => {
        call.destroy();
        while (!isEnded) await sleep(5);
      };
      resolve({ messages: () => messages, isEnded: () => isEnded, close });
    });
    call.on('error', reject);
    call.end();
  });
}

/** A random stream: of the dataset, or of the exchange. */
function pathOf(random: Seeded, symbols: readonly string[]): string {
  const symbol = symbols[random.between(0, symbols.length - 1)] ?? '';
  const key = `/stream/WS/BEATS?keys=S${random.between(0, KEYS - 1)}`;
  // One in sixteen reads the whole exchange, one the whole dataset.
  const quote = `/stocksUS1Second?symbols=${symbol}`;
  const last = `/last?symbols=${symbol}&ids=true`;
  const tops = `/tops?symbols=${symbol}&heartbeat=30`;
  const deep = `/deep?symbols=${symbol}`;
  return random.pick([
    ...([
      key,
      key,
      key,
      key,
      quote,
      quote,
      quote,
      last,
      last,
      last,
      tops,
      tops,
      deep,
      deep,
    ] as const),
    ...(['/last', '/stream/WS/BEATS?deletions=true'] as const),
  ]);
}

class Hours {
  readonly #server: Killable;
  readonly #random: Seeded;
  readonly #symbols: readonly string[];
  readonly failures: string[] = [];
  readonly #readers: { path: string; reader: Reader }[] = [];
  #closed = 0;
  #lags: number[] = [];
  #pushes: number[] = [];
  #loads: number[] = [];
  #isOver = false;

  constructor(server: Killable, random: Seeded, symbols: readonly string[]) {
    this.#server = server;
    this.#random = random;
    this.#symbols = symbols;
  }

  get messages(): number {
    return this.#readers.reduce((sum, { reader }) => sum + reader.messages(), this.#closed);
  }

  async open(): Promise<void> {
    const path = pathOf(this.#random, this.#symbols);
    const onTime = (ms: number): void => void this.#lags.push(Date.now() - ms);
    this.#readers.push({ path, reader: await readerOf(this.#server, path, onTime) });
  }

  /** Runs the concurrent writes until `over` is called. */
  async live(): Promise<void> {
    await Promise.all([
      this.#every(PUSH_EVERY_MS, () => this.#push()),
      this.#every(LOAD_EVERY_MS, () => this.#load()),
      this.#every(DELETE_EVERY_MS, () => this.#delete()),
      this.#every(CHANGE_EVERY_MS, () => this.#change()),
    ]);
  }

  async entry(minute: number, folder: string): Promise<StreamEntry> {
    const { bytes: lakeBytes, files } = folderSize(folder);
    const { pid } = this.#server;
    const [lags, pushes, loads] = [this.#lags, this.#pushes, this.#loads];
    [this.#lags, this.#pushes, this.#loads] = [[], [], []];
    const rss = { rssServer: await treeBytes(pid, false), rssTree: await treeBytes(pid) };
    return { minute, messages: this.messages, ...rss, files, lakeBytes, lags, pushes, loads };
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const one of this.#readers.splice(0)) await this.#closing(one);
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      const nextMs = Date.now() + ms;
      await work().catch((error: unknown) => void this.failures.push(String(error)));
      await sleep(Math.max(0, nextMs - Date.now()));
    }
  }

  async #push(): Promise<void> {
    const records = Array.from({ length: PUSH_RECORDS }, () => this.#record());
    const beganMs = performance.now();
    await fetchText(this.#server.base, 'POST', REPLACING, JSON.stringify(records));
    this.#pushes.push(performance.now() - beganMs);
  }

  #record(): object {
    const random = this.#random;
    const symbol = `S${random.between(0, KEYS - 1)}`;
    const day = dayText(random.between(0, DAYS - 1));
    return { symbol, day, at: Date.now(), v: random.next() };
  }

  async #load(): Promise<void> {
    const records = Array.from({ length: LOAD_RECORDS }, () => ({ ...this.#record(), at: 0 }));
    const beganMs = performance.now();
    const path = '/data/WS/BEATS?wait=true&duplicateKeyHandling=replace';
    await fetchText(this.#server.base, 'POST', path, JSON.stringify(records));
    this.#loads.push(performance.now() - beganMs);
  }

  async #delete(): Promise<void> {
    await fetchText(
      this.#server.base,
      'DELETE',
      `/data/WS/BEATS/S${this.#random.between(0, KEYS - 1)}`,
    );
  }

  async #change(): Promise<void> {
    const at = this.#random.between(0, this.#readers.length - 1);
    const [one] = this.#readers.splice(at, 1);
    if (one !== undefined) await this.#closing(one);
    await this.open();
  }

  async #closing({ path, reader }: { path: string; reader: Reader }): Promise<void> {
    if (reader.isEnded()) this.failures.push(`${path} was ended`);
    await reader.close();
    this.#closed += reader.messages();
  }
}

const REPLACING = '/record/WS/BEATS?duplicateKeyHandling=replace';

const DATASET = JSON.stringify({
  dataset: {
    datasetId: 'BEATS',
    schema: {
      properties: {
        symbol: { type: 'string' },
        day: {
          type: 'string',
          format: 'date',
        },
        at: { type: 'integer' },
        v: { type: 'number' },
      },
    },
    columnMapping: { key: 'symbol', date: 'day' },
  },
});

type Symbols = readonly { readonly symbol: string }[];
async function prepared({ base }: Killable): Promise<Symbols> {
  const admin = async (method: string, path: string, body?: string): Promise<string> => {
    const authorization = `Bearer ${ADMIN}`;
    const bodyInit = body === undefined ? {} : { body };
    const answer = await fetch(`${base}/v1${path}`, {
      method,
      headers: { authorization },
      ...bodyInit,
    });
    return answer.text();
  };
  const [own] = JSON.parse(await admin('GET', '/admin/accounts')) as readonly {
    readonly accountId: string;
  }[];
  await admin('PATCH', `/admin/accounts/${own?.accountId}`, '{"tier":"scale","payAsYouGo":true}');
  await fetchText(base, 'POST', '/workspaces', '{"name":"WS"}');
  await fetchText(base, 'POST', '/datasets/WS', DATASET);
  // The exchange is filled while the server answers.
  for (;;) {
    const symbols = JSON.parse(await fetchText(base, 'GET', '/ref-data/symbols')) as Symbols;
    if (symbols.length > 0) return symbols;
    await sleep(1_000);
  }
}

export async function streamHours(order: HoursOrder): Promise<HoursReport> {
  const { log, minutes, seed, stepMinutes } = order;
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-streams-'));
  const folder = join(root, 'data');
  const children: ChildProcess[] = [];
  try {
    const server = await killable(folder, children, SETTINGS);
    const symbols = (await prepared(server)).map(({ symbol }) => symbol);
    const before = await chargedBy(server);
    const hours = new Hours(server, seeded(seed), symbols);
    for (let at = 0; at < READERS; at += 1) await hours.open();
    const living = hours.live();
    const entries: StreamEntry[] = [];
    for (let minute = stepMinutes; minute <= minutes; minute += stepMinutes) {
      await sleep(stepMinutes * 60_000);
      const entry = await hours.entry(minute, folder);
      entries.push(entry);
      log(entry);
    }
    await hours.end();
    await living;
    const read = hours.messages;
    const charged = (await settled(server, before)) - before;
    const unpaid = `${read} messages were read, ${charged} charged`;
    // Messages in flight to a reader that disconnected are charged too.
    const isPaid = charged >= read && charged - read <= read * 0.001 + READERS * 100;
    const failures = isPaid ? hours.failures : [...hours.failures, unpaid];
    return { entries, failures, read, charged };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await sleep(500);
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Resolves once no more charges arrive. */
async function settled(server: Killable, chargedBefore: number): Promise<number> {
  for (let charged = chargedBefore; ;) {
    await sleep(1_000);
    const now = await chargedBy(server);
    if (now === charged) return now;
    charged = now;
  }
}
