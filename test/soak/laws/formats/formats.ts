// One answer in every format has the same content: random datasets of every type and random requests, read
// back with third-party readers, compared with each other and with the written records.
import assert from 'node:assert/strict';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';
import {
  type Cell,
  type Column,
  type Decoded,
  type Kind,
  parquetReader,
  readArrow,
  readDelimited,
  readRecords,
  unsigned,
} from './formatReaders.ts';

/** Requests to one server. */
const REQUESTS_A_WORLD = 60;
const WEIGHT = 3;

/** `Key` differs from another member only in case. */
const ODD = 'odd "na|me", x';
const KINDS = {
  sym: 'text',
  n: 'integer',
  note: 'text',
  price: 'number',
  big: 'integer',
  flag: 'boolean',
  day: 'day',
  at: 'instant',
  tree: 'json',
  Key: 'text',
  [ODD]: 'text',
} as const satisfies Readonly<Record<string, Kind>>;

interface Shelf {
  readonly id: string;
  readonly index: Readonly<Record<string, string>>;
}

const SHELVES: readonly [Shelf, ...Shelf[]] = [
  { id: 'DAYS', index: { key: 'sym', date: 'day' } },
  { id: 'TICKS', index: { key: 'sym', subkey: 'Key', date: 'at' } },
  { id: 'LOOSE', index: {} },
];

const TYPES: Readonly<Record<Kind, object>> = {
  text: { type: 'string' },
  json: { type: 'object' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  day: { type: 'string', format: 'date' },
  instant: { type: 'string', format: 'date-time' },
};

const TEXTS: readonly [string, ...string[]] = [
  '',
  ' ',
  'plain',
  'a,b',
  'a|b',
  'q"uo""te',
  '"',
  'two\nlines',
  'two\r\nlines\r',
  'é ü ß',
  '\u{1f600}\u2028\uff61',
  'null',
  'true',
  '007',
  '-0',
  '1e21',
  'NaN',
  '\\ \t \u0001',
  'twelve bytes',
  'thirteen byte',
  'long '.repeat(60),
];
const NUMBERS: readonly [number, ...number[]] = [
  ...([0, -0, 1, -1.5, 0.1, 1e21, 1e-7, 5e-324, 1e300, -1e300, 12.75] as const),
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  123456789.125,
];
const INTEGERS: readonly [bigint, ...bigint[]] = [
  ...([0n, -1n, 7n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n] as const),
  1n - 2n ** 53n,
  -(2n ** 53n),
  -(2n ** 53n) - 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
];
const TREES: readonly [string, ...string[]] = [
  '{}',
  '[]',
  '{"a":{"b":[1,null,{"c":"x,y|z"}]}}',
  '["q\\"uote","\\n","é","\u{1f600}"]',
  '{"big":12345678901234567890,"e":1e400}'.replace('1e400', '1e40'),
];

/** A value, and its token in a JSON body. */
interface Value {
  readonly cell: Cell;
  readonly token: string;
}

const NOTHING: Value = { cell: null, token: 'null' };

function valueOf(random: Seeded, kind: Kind): Value {
  if (random.chance(0.2)) return NOTHING;
  if (kind === 'text') return quoted(random.pick(TEXTS));
  if (kind === 'json') {
    const token = random.pick(TREES);
    return { cell: token, token };
  }
  if (kind === 'number') {
    const cell = random.pick(NUMBERS);
    return { cell, token: Object.is(cell, -0) ? '-0.0' : JSON.stringify(cell) };
  }
  if (kind === 'integer') {
    const cell = random.pick(INTEGERS);
    return { cell, token: String(cell) };
  }
  if (kind === 'boolean') {
    const cell = random.chance(0.5);
    return { cell, token: String(cell) };
  }
  return kind === 'day' ? dayOf(random.between(-200_000, 200_000)) : instantOf(random);
}

const quoted = (text: string): Value => ({ cell: text, token: JSON.stringify(text) });

const dayOf = (days: number): Value =>
  quoted(new Date(days * 86_400_000).toISOString().slice(0, 10));

/** An instant of the years 1100 to 2800, some with microseconds. */
function instantOf(random: Seeded): Value {
  const ms = random.between(-27_000_000, 27_000_000) * 1_000_003;
  const micros = random.pick<number>([0, 0, 1, 999]);
  const iso = new Date(ms).toISOString().slice(0, -1);
  const digits = micros === 0 ? '' : String(micros).padStart(3, '0');
  return { cell: BigInt(ms) * 1000n + BigInt(micros), token: `"${iso}${digits}Z"` };
}

type Written = ReadonlyMap<string, Value>;

function recordOf(random: Seeded, shelf: Shelf, n: number): Written {
  const values = new Map(
    Object.entries(KINDS).map(([name, kind]) => [name, valueOf(random, kind)] as const),
  );
  values.set('n', { cell: BigInt(n), token: String(n) });
  const { date, subkey } = shelf.index;
  values.set('sym', quoted(random.pick<string>(['AAPL', 'BRK|B', 'Ünï'])));
  if (subkey !== undefined) values.set(subkey, quoted(random.pick<string>(['x', 'y"', 'z'])));
  // Each record has its own day, so that none is replaced.
  if (date === 'day') values.set(date, dayOf(n * 9 - 3_000));
  if (date === 'at') values.set(date, instantOf(random));
  return values;
}

interface World {
  readonly server: TestServer;
  readonly random: Seeded;
  /** By dataset, then by `n`. */
  readonly written: ReadonlyMap<string, ReadonlyMap<Cell, Written>>;
  readonly readParquet: (bytes: Uint8Array) => Promise<Decoded>;
}

interface FormatsReport {
  readonly failures: readonly string[];
  readonly requests: number;
  readonly refused: number;
  readonly rows: number;
}

export async function formatsLaw(requests: number, seed: number): Promise<FormatsReport> {
  const random = seeded(seed);
  const total = { failures: [] as string[], requests: 0, refused: 0, rows: 0 };
  const parquet = await parquetReader();
  try {
    while (total.requests < requests) {
      await using server = await startServer({ seams: { watch: false } });
      const written = new Map<string, ReadonlyMap<Cell, Written>>();
      for (const shelf of SHELVES) written.set(shelf.id, await fill(server, random, shelf));
      const world = { server, random, written, readParquet: parquet.read };
      const count = Math.min(REQUESTS_A_WORLD, requests - total.requests);
      for (let at = 0; at < count; at += 1) {
        total.requests += 1;
        const shelf = random.pick(SHELVES);
        const path = at < SHELVES.length ? wholeOf(at) : pathOf(random, shelf);
        try {
          const rows = await compare(world, path);
          total.rows += rows ?? 0;
          if (rows === undefined) total.refused += 1;
        } catch (error) {
          total.failures.push(`${path}: ${String(error).slice(0, 2_000)}`);
        }
      }
    }
  } finally {
    await parquet.close();
  }
  return total;
}

/** Creates a dataset with a load, and pushes that are not flushed yet. */
async function fill(
  server: TestServer,
  random: Seeded,
  shelf: Shelf,
): Promise<ReadonlyMap<Cell, Written>> {
  const types = Object.entries(KINDS).map(([name, kind]) => [name, TYPES[kind]]);
  const schema = { type: 'object', properties: Object.fromEntries(types) as object };
  const columnMapping = shelf.index;
  const dataset = { datasetId: shelf.id, weight: WEIGHT, schema, columnMapping };
  await post(server, '/datasets/WS?', JSON.stringify({ dataset }));
  const counts = [random.between(20, 120), random.between(0, 8)];
  const written = new Map<Cell, Written>();
  for (const [at, count] of counts.entries()) {
    const records = Array.from({ length: count }, (_, index) =>
      recordOf(random, shelf, at * 1_000 + index),
    );
    for (const record of records) written.set(record.get('n')?.cell ?? null, record);
    const body = `[${records.map(tokensOf).join(',')}]`;
    const path = at === 0 ? `/data/WS/${shelf.id}?wait=true&` : `/record/WS/${shelf.id}?`;
    if (count > 0) await post(server, `${path}duplicateKeyHandling=replace&`, body);
  }
  return written;
}

const tokensOf = (record: Written): string =>
  `{${[...record].map(([name, { token }]) => `${JSON.stringify(name)}:${token}`).join(',')}}`;

async function post({ base, secret }: TestServer, path: string, body: string): Promise<void> {
  const answer = await fetch(`${base}/v1${path}token=${secret}`, { method: 'POST', body });
  assert.equal(answer.status, 200, `${path}: ${await answer.text()}`);
}

/** Requests each whole dataset first, so that it is compared with the written records. */
const wholeOf = (at: number): string => `data/WS/${SHELVES[at]?.id}?range=max`;

function pathOf(random: Seeded, { id, index }: Shelf): string {
  const door = random.pick<string>([`data/WS/${id}`, `time-series/${id}`]);
  const keys = random.pick<string>(['', '', '/AAPL', '/BRK%7CB', '/AAPL,%C3%9Cn%C3%AF', '/NONE']);
  const query = new URLSearchParams(random.pick(RECORDS));
  if (random.chance(0.2)) query.set('sort', random.pick<string>(['asc', 'desc']));
  if (random.chance(0.2)) query.set('offset', String(random.between(1, 5)));
  if (random.chance(0.1)) query.set('interval', '3');
  if (random.chance(0.1)) query.set('dateField', random.pick<string>(['at', 'day', 'big']));
  if (random.chance(0.15)) query.set('collapse', random.pick(COLLAPSES));
  if (random.chance(0.15)) query.set('transform', random.pick(TRANSFORMS));
  if (random.chance(0.2)) query.set('includeSystemRecordProperties', 'true');
  if (random.chance(0.3)) query.set('filter', filterOf(random));
  return `${door}${index['key'] === undefined ? '' : keys}?${query}`;
}

const RECORDS: readonly [string, ...string[]] = [
  '',
  'range=max',
  'range=max',
  'last=20',
  'first=7',
  'limit=3',
  'to=2000-01-01&last=50',
  'range=2020',
  'last=0',
];
const COLLAPSES: readonly [string, ...string[]] = [
  'monthly|sum',
  'annual',
  'weekly|max',
  'annual|sum',
];
const TRANSFORMS: readonly [string, ...string[]] = ['diff', 'cumul', 'rdiff', 'normalize'];

function filterOf(random: Seeded): string {
  const names = [
    'note',
    ...Object.keys(KINDS).filter((name) => name !== ODD && random.chance(0.3)),
  ];
  return random.chance(0.3) ? 'note' : [...new Set(['date', 'key', ...names])].join(',');
}

const FORMATS = ['json', 'jsonl', 'csv', 'psv', 'text', 'arrow', 'parquet'] as const;
type Format = (typeof FORMATS)[number];

interface Answered {
  readonly status: number;
  readonly used: string | null;
  readonly bytes: Buffer;
}

/** Number of records in every format; undefined if every format was refused alike. */
async function compare(world: World, path: string): Promise<number | undefined> {
  const { readParquet, server, written } = world;
  const url = `${server.base}/v1/${path}&token=${server.publishable}`;
  const entries: [Format, Answered][] = [];
  for (const format of FORMATS) {
    const answer = await fetch(`${url}&format=${format}`);
    const used = answer.headers.get('svccloud-messages-used');
    const bytes = Buffer.from(await answer.arrayBuffer());
    entries.push([format, { status: answer.status, used, bytes }]);
  }
  const answers = Object.fromEntries(entries) as Readonly<Record<Format, Answered>>;
  const { json } = answers;
  for (const [format, { status, used }] of entries) {
    assert.deepEqual([status, used], [json.status, json.used], `status and price of ${format}`);
  }
  if (json.status === 400) return undefined;
  assert.equal(json.status, 200, json.bytes.toString());
  const described = await fetch(`${url}&schema=true`);
  const decoded = readArrow(answers.arrow.bytes, jsonNames((await described.json()) as Described));
  assert.equal(json.used, String(decoded.rows.length * WEIGHT), 'the count is the price');
  compareTexts(answers, decoded);
  compareParquet(await readParquet(answers.parquet.bytes), decoded);
  assert.deepEqual(answers.text.bytes, answers.csv.bytes);
  const whole = /^data\/WS\/(\w+)\?range=max$/.exec(path)?.[1];
  if (whole !== undefined) compareWritten(written.get(whole), decoded);
  return decoded.rows.length;
}

type Described = readonly { readonly name: string; readonly type: string }[];

function jsonNames(described: Described): (name: string) => boolean {
  const names = new Set(described.filter(({ type }) => type === 'object').map(({ name }) => name));
  return (name) => names.has(name);
}

function compareTexts(
  answers: Readonly<Record<Format, Answered>>,
  { columns, rows }: Decoded,
): void {
  const text = (format: Format): string => answers[format].bytes.toString('utf8');
  const records = JSON.parse(text('json')) as Readonly<Record<string, unknown>>[];
  const lines = text('jsonl').split('\n').slice(0, -1);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    records,
    'lines',
  );
  assert.deepEqual(readRecords(records, columns), rows.map(inJson(columns)), 'json');
  // Null and empty text are both an empty cell.
  const cells = rows.map((row) => row.map((cell) => inText(cell) ?? ''));
  assert.deepEqual(readDelimited(text('csv'), ',', columns), cells, 'csv');
  assert.deepEqual(readDelimited(text('psv'), '|', columns), cells, 'psv');
}

/** Text formats have no infinity and no NaN: they are null. */
const inText = (cell: Cell): Cell =>
  typeof cell === 'number' && !Number.isFinite(cell) ? null : cell;

const inJson =
  (columns: readonly Column[]) =>
  (row: readonly Cell[]): readonly Cell[] =>
    row.map((cell, at) =>
      columns[at]?.kind === 'json' && cell !== null
        ? JSON.stringify(JSON.parse(String(cell)))
        : inText(cell),
    );

/** In Parquet a name that differs from an earlier one only in case gets a number. */
function compareParquet(read: Decoded, { columns, rows }: Decoded): void {
  const seen = new Set<string>();
  const named = columns.map(({ kind, name }) => {
    const isTaken = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    return { name: isTaken ? `${name}_1` : name, kind };
  });
  assert.deepEqual(read.columns, named, 'names and types of parquet');
  assert.deepEqual(read.rows, rows, 'parquet');
}

function compareWritten(
  written: ReadonlyMap<Cell, Written> | undefined,
  { columns, rows }: Decoded,
): void {
  const place = columns.findIndex(({ name }) => name === 'n');
  assert.equal(rows.length, written?.size);
  for (const row of rows) {
    const record = written?.get(row[place] ?? null);
    const expected = columns.map(({ name }) => unsigned(record?.get(name)?.cell ?? null));
    assert.deepEqual(row, expected, 'the written record');
  }
}
