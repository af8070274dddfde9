// Any table that is loaded without options: every endpoint returns the loaded records, with or without a
// unique index.
import assert from 'node:assert/strict';
import { type Seeded, seeded } from '../crash/rounds/seeded.ts';
import { load, send } from '../../base/client.ts';
import { parquetOf } from '../fuzz/http/bases.ts';
import { startServer, type TestServer } from '../../base/server.ts';

type Value = string | number | null;
type Row = Readonly<Record<string, Value>>;

interface TableCase {
  readonly names: readonly string[];
  readonly rows: readonly Row[];
}

/** Typical columns; each function generates one value of a record. */
const KINDS: Readonly<Record<string, (random: Seeded, at: number) => Value>> = {
  symbol: (random) => random.pick(['AAPL', 'MSFT', 'brk.b', 'TSLA']),
  country: (random) => random.pick(['Chad', 'Peru', 'Côte d’Ivoire']),
  id: (random, at) => (random.chance(0.9) ? at : at - 1),
  name: (random) => random.pick(['Ann', 'ann', 'Bob', 'Eve "E."', 'x, y']),
  date: (random) => `2024-0${random.between(1, 3)}-${random.between(10, 28)}`,
  traded: (random) => `2024-01-0${random.between(1, 4)}T0${random.between(0, 3)}:00:00Z`,
  year: (random) => random.between(1990, 1996),
  code: (random) => `0${random.between(0, 30)}`,
  price: (random) => random.between(-40, 4_000) / 8,
  note: (random) => random.pick<Value>([null, 'a', 'a', 'ü', '']),
  flag: (random) => random.pick(['true', 'false']),
  mixed: (random) => random.pick<Value>([1, 'x', 2.5, null]),
};

function tableOf(random: Seeded): TableCase {
  const all = Object.keys(KINDS);
  const names = all.filter(() => random.chance(0.45));
  if (names.length === 0) names.push('symbol');
  const count = random.pick([1, 2, 3, 8, 20, 60]);
  const baseRows = Array.from({ length: count }, (_, at) => {
    const values = names.map((name) => [name, KINDS[name]?.(random, at) ?? null] as const);
    return Object.fromEntries(values) as Row;
  });
  const blanks = random.chance(0.2) ? random.pick([names[0] ?? '', names.at(-1) ?? '']) : undefined;
  const rows = baseRows.flatMap((row) => {
    const own = blanks !== undefined && random.chance(0.2) ? { ...row, [blanks]: null } : row;
    return random.chance(0.1) ? [own, own] : [own];
  });
  const chosenRows = random.chance(0.3) ? distinct(rows, names) : rows;
  // A completely empty record is not a record.
  return { names, rows: chosenRows.filter((row) => names.some((name) => isGiven(row[name]))) };
}

const isGiven = (value: Value | undefined): boolean =>
  value !== undefined && value !== null && value !== '';

/** Removes duplicates of key and date, like a clean source. */
function distinct(rows: readonly Row[], names: readonly string[]): readonly Row[] {
  const index = names.filter((name) => /^(symbol|country|date|year)$/.test(name));
  const seen = new Set<string>();
  return rows.filter((row) => {
    const value = JSON.stringify(index.map((name) => row[name]));
    if (index.length === 0 || seen.has(value)) return index.length === 0;
    seen.add(value);
    return true;
  });
}

const cell = (value: Value | undefined): string => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",;\t\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

function csvOf({ names, rows }: TableCase, delimiter: string): string {
  const lines = rows.map((row) => names.map((name) => cell(row[name])).join(delimiter));
  return [names.join(delimiter), ...lines, ''].join('\n');
}

const literal = (value: Value | undefined): string => {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'number' ? `${value}` : `'${value.replaceAll("'", "''")}'`;
};

async function parquetBody({ names, rows }: TableCase): Promise<Uint8Array> {
  const types = names.map((name) => {
    const texts = rows.some((row) => typeof row[name] === 'string');
    return texts ? 'VARCHAR' : 'DOUBLE';
  });
  const lines = rows.map((row) => {
    const values = names.map((name, at) => {
      const value = row[name];
      const text = types[at] === 'VARCHAR' && typeof value === 'number' ? String(value) : value;
      return `CAST(${literal(text)} AS ${types[at]})`;
    });
    return `(${values.join(', ')})`;
  });
  return parquetOf(`SELECT * FROM (VALUES ${lines.join(', ')}) t(${names.join(', ')})`);
}

const FORMATS = ['csv', 'tsv', 'psv', 'json', 'jsonl', 'parquet'] as const;

async function bodyOf(table: TableCase, format: string): Promise<string | Uint8Array> {
  if (format === 'parquet') return parquetBody(table);
  if (format === 'json') return JSON.stringify(table.rows);
  if (format === 'jsonl') return table.rows.map((row) => JSON.stringify(row)).join('\n');
  return csvOf(table, { csv: ',', tsv: '\t', psv: '|' }[format] ?? ',');
}

/** The records as sorted texts; blank values are equal in all formats. */
function bag(rows: readonly Row[], names: readonly string[]): readonly string[] {
  const toText = (value: Value | undefined): string => {
    if (!isGiven(value)) return '';
    const text = String(value);
    const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(time) ? text : String(time);
  };
  return rows.map((row) => JSON.stringify(names.map((name) => toText(row[name])))).toSorted();
}

interface Dataset {
  readonly columnMapping: { readonly key?: string };
  readonly records: number;
}

async function ask(server: TestServer, path: string): Promise<unknown> {
  const { status, text } = await send(server, 'GET', path);
  assert.equal(status, 200, `${path}: ${text}`);
  return JSON.parse(text);
}

/** Numbers of tables that were loaded, refused, and had no unique index. */
interface Tally {
  accepted: number;
  refused: number;
  numbered: number;
}

async function playTable(server: TestServer, seed: number, tally: Tally): Promise<void> {
  const random = seeded(seed);
  const table = tableOf(random);
  const { names, rows } = table;
  if (rows.length === 0) return;
  const format = random.pick(FORMATS);
  const body = await bodyOf(table, format);
  const label = `seed ${seed}, ${format}, ${rows.length} records of ${names.join()}`;
  const answer = await load(server, 'T', body);
  const text = await answer.text();
  if (answer.status !== 200) {
    assert.equal(answer.status, 400, `${label}: ${text}`);
    assert.match(
      text,
      /--[a-z]|\b(?:key|date|dateOrder|header|skipLines|as)\b/,
      `${label}: ${text}`,
    );
    tally.refused += 1;
    return;
  }
  const dataset = (await ask(server, '/datasets/WS/T')) as Dataset & { uniqueIndex?: boolean };
  assert.equal(dataset.records, rows.length, `${label}: ${text}`);
  const expectedRows = bag(rows, names);
  const limit = rows.length + 10;
  const read = (await ask(server, `/data/WS/T?limit=${limit}`)) as readonly Row[];
  assert.deepEqual(bag(read, names), expectedRows, `${label}, data: ${text}`);
  const sql = encodeURIComponent('SELECT * FROM T');
  const queriedRows = (await ask(server, `/sql-query/WS?sqlQuery=${sql}`)) as readonly Row[];
  assert.deepEqual(bag(queriedRows, names), expectedRows, `${label}, SQL: ${text}`);
  await readSeries(server, dataset, rows, label);
  tally.accepted += 1;
  if (dataset.uniqueIndex === false) tally.numbered += 1;
  const dropped = await send(server, 'DELETE', '/datasets/WS/T');
  assert.equal(dropped.status, 200, dropped.text);
}

/** Checks that each key has as many records in the series endpoint as in the table. */
async function readSeries(
  server: TestServer,
  { columnMapping: { key } }: Dataset,
  rows: readonly Row[],
  label: string,
): Promise<void> {
  if (key === undefined) return;
  const counts = Map.groupBy(rows, (row) => row[key]);
  for (const [value, own] of counts) {
    // A lower-case key also matches records in capitals, as old clients expect.
    if (!isGiven(value) || String(value) !== String(value).toUpperCase()) continue;
    const place = encodeURIComponent(String(value));
    const records = await ask(server, `/time-series/WS.T/${place}?limit=${own.length + 10}`);
    assert.equal((records as readonly Row[]).length, own.length, `${label}, series of ${value}`);
  }
}

/** Loads `count` random tables. */
export async function tablesLaw(count: number, seed: number): Promise<Tally> {
  await using server = await startServer({ seams: { watch: false } });
  const tally = { accepted: 0, refused: 0, numbered: 0 };
  for (let at = 0; at < count; at += 1) await playTable(server, seed * 10_007 + at, tally);
  return tally;
}
