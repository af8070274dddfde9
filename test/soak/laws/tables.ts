// Any table that somebody loads without a word: what comes out of every door is what went in, record for
// record, whatever tells its records apart or does not.
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

/** What the columns of people hold; each makes one value of a record. */
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
  const made = Array.from({ length: count }, (_, at) => {
    const values = names.map((name) => [name, KINDS[name]?.(random, at) ?? null] as const);
    return Object.fromEntries(values) as Row;
  });
  const blanks = random.chance(0.2) ? random.pick([names[0] ?? '', names.at(-1) ?? '']) : undefined;
  const rows = made.flatMap((row) => {
    const own = blanks !== undefined && random.chance(0.2) ? { ...row, [blanks]: null } : row;
    return random.chance(0.1) ? [own, own] : [own];
  });
  const kept = random.chance(0.3) ? distinct(rows, names) : rows;
  // A wholly empty record is none.
  return { names, rows: kept.filter((row) => names.some((name) => isGiven(row[name]))) };
}

const isGiven = (value: Value | undefined): boolean =>
  value !== undefined && value !== null && value !== '';

/** With one record of each key and date, as a clean source has them. */
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

async function bodyOf(made: TableCase, format: string): Promise<string | Uint8Array> {
  if (format === 'parquet') return parquetBody(made);
  if (format === 'json') return JSON.stringify(made.rows);
  if (format === 'jsonl') return made.rows.map((row) => JSON.stringify(row)).join('\n');
  return csvOf(made, { csv: ',', tsv: '\t', psv: '|' }[format] ?? ',');
}

/** The records as sorted texts: blank is blank, however a format spells it. */
function bag(rows: readonly Row[], names: readonly string[]): readonly string[] {
  const told = (value: Value | undefined): string => {
    if (!isGiven(value)) return '';
    const text = String(value);
    const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(time) ? text : String(time);
  };
  return rows.map((row) => JSON.stringify(names.map((name) => told(row[name])))).toSorted();
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

/** How many tables were kept, refused, and had no unique index. */
interface Tally {
  kept: number;
  refused: number;
  numbered: number;
}

async function playTable(server: TestServer, seed: number, tally: Tally): Promise<void> {
  const random = seeded(seed);
  const made = tableOf(random);
  const { names, rows } = made;
  if (rows.length === 0) return;
  const format = random.pick(FORMATS);
  const body = await bodyOf(made, format);
  const told = `seed ${seed}, ${format}, ${rows.length} records of ${names.join()}`;
  const answer = await load(server, 'T', body);
  const text = await answer.text();
  if (answer.status !== 200) {
    assert.equal(answer.status, 400, `${told}: ${text}`);
    assert.match(
      text,
      /--[a-z]|\b(?:key|date|dateOrder|header|skipLines|as)\b/,
      `${told}: ${text}`,
    );
    tally.refused += 1;
    return;
  }
  const dataset = (await ask(server, '/datasets/WS/T')) as Dataset & { uniqueIndex?: boolean };
  assert.equal(dataset.records, rows.length, `${told}: ${text}`);
  const wanted = bag(rows, names);
  const limit = rows.length + 10;
  const read = (await ask(server, `/data/WS/T?limit=${limit}`)) as readonly Row[];
  assert.deepEqual(bag(read, names), wanted, `${told}, data: ${text}`);
  const sql = encodeURIComponent('SELECT * FROM T');
  const asked = (await ask(server, `/sql-query/WS?sqlQuery=${sql}`)) as readonly Row[];
  assert.deepEqual(bag(asked, names), wanted, `${told}, SQL: ${text}`);
  await readSeries(server, dataset, rows, told);
  tally.kept += 1;
  if (dataset.uniqueIndex === false) tally.numbered += 1;
  const dropped = await send(server, 'DELETE', '/datasets/WS/T');
  assert.equal(dropped.status, 200, dropped.text);
}

/** Each key has as many records on the door of series as in the table. */
async function readSeries(
  server: TestServer,
  { columnMapping: { key } }: Dataset,
  rows: readonly Row[],
  told: string,
): Promise<void> {
  if (key === undefined) return;
  const counts = Map.groupBy(rows, (row) => row[key]);
  for (const [value, own] of counts) {
    // A lower-case key is also asked for in capitals, as old clients do.
    if (!isGiven(value) || String(value) !== String(value).toUpperCase()) continue;
    const place = encodeURIComponent(String(value));
    const found = await ask(server, `/time-series/WS.T/${place}?limit=${own.length + 10}`);
    assert.equal((found as readonly Row[]).length, own.length, `${told}, series of ${value}`);
  }
}

/** Loads so many random tables. */
export async function tablesLaw(count: number, seed: number): Promise<Tally> {
  await using server = await startServer({ seams: { watch: false } });
  const tally = { kept: 0, refused: 0, numbered: 0 };
  for (let at = 0; at < count; at += 1) await playTable(server, seed * 10_007 + at, tally);
  return tally;
}
