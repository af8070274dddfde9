// Values of every type, through every input and every output format: they are read back digit for digit.
// The printers share no code with the readers.
import { get, loaded, read, send } from '../../../base/client.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

interface Property {
  readonly name: string;
  readonly property: object;
  /** A value as it is written in CSV and answers. */
  readonly value: () => string;
  /** The value is a number or a boolean in JSON, not a string. */
  readonly isBare: boolean;
}

const ROWS_MAX = 8;
const FORMATS = ['csv', 'json', 'jsonl', 'parquet', 'arrow'] as const;
const WAYS = ['csv', 'json', 'texts', 'lines', 'push'] as const;
/** Texts without separators of the formats. */
const TEXTS = ['0005', '1e5', 'a b', 'ü', '12345E107', 'TRUE', 'null', '-'] as const;

function digits(random: Seeded, count: number): string {
  let text = '';
  for (let left = count; left > 0; left -= 1) text += String(random.between(0, 9));
  return text;
}

/** A decimal with `scale` digits behind the point, as DuckDB prints it. */
function decimal(random: Seeded, precision: number, scale: number): string {
  const whole = digits(random, random.between(0, precision - scale)).replace(/^0+/, '');
  const rest = random.chance(0.3)
    ? digits(random, Math.min(2, scale)).padEnd(scale, '0')
    : digits(random, scale);
  const isZero = whole === '' && /^0*$/.test(rest);
  const sign = random.chance(0.5) && !isZero ? '-' : '';
  return `${sign}${whole === '' ? '0' : whole}${scale === 0 ? '' : `.${rest}`}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** A fraction of a second as in answers: at least three digits, in groups of three. */
function fraction(random: Seeded, count: number): string {
  const text = digits(random, random.pick([3, count])).padEnd(count, '0');
  return text.replace(/^(\d{3}(?:\d{3})*?)(?:000)*$/, '$1');
}

const clock = (random: Seeded): string =>
  [random.between(0, 23), random.between(0, 59), random.between(0, 59)].map(two).join(':');

/** A day of the years 1700 to 2200. */
const day = (random: Seeded): string =>
  new Date(random.between(-98_000, 84_000) * 86_400_000).toISOString().slice(0, 10);

function timeOfDay(random: Seeded): string {
  const rest = random.chance(0.5) ? '' : digits(random, 6).replace(/0+$/, '');
  return `${clock(random)}${rest === '' ? '' : `.${rest}`}`;
}

function int64(random: Seeded): string {
  const text = decimal(random, 18, 0);
  return random.pick([text, '9223372036854775807', '-9223372036854775808', '9007199254740993']);
}

const double = (random: Seeded): string =>
  String(Number(`${decimal(random, 15, 5)}e${random.between(-5, 5)}`));

function propertiesOf(random: Seeded): readonly Property[] {
  const precision = random.between(1, 38);
  const scale = random.between(0, precision);
  const instant = (count: number) => (): string =>
    `${day(random)}T${clock(random)}.${fraction(random, count)}Z`;
  const text = (name: string, format: string | undefined, value: () => string): Property => ({
    name,
    property: { type: 'string', ...(format === undefined ? {} : { format }) },
    value,
    isBare: false,
  });
  const bare = (name: string, property: object, value: () => string): Property => ({
    name,
    property,
    value,
    isBare: true,
  });
  return [
    text('s', undefined, () => random.pick(TEXTS)),
    text('day', 'date', () => day(random)),
    text('at', 'date-time', instant(6)),
    text('ns', 'date-time-ns', instant(9)),
    text('tod', 'time', () => timeOfDay(random)),
    bare('yes', { type: 'boolean' }, () => String(random.chance(0.5))),
    bare('whole', { type: 'integer' }, () => int64(random)),
    bare('huge', { type: 'integer', format: 'int128' }, () => decimal(random, 38, 0)),
    bare('real', { type: 'number' }, () => double(random)),
    bare('dec', { type: 'number', format: 'decimal', precision, scale }, () =>
      decimal(random, precision, scale),
    ),
  ];
}

/** An empty cell of CSV is an empty text, not null (INTERFACE.md 3.3); a date is in each record. */
const FILLED: ReadonlySet<string> = new Set(['s', 'day']);

type Rows = readonly (readonly (string | null)[])[];

const objectText = (
  names: readonly string[],
  row: Rows[number],
  isBare: (at: number) => boolean,
): string => {
  const members = row.map((cell, at) => {
    const value = cell !== null && isBare(at) ? cell : JSON.stringify(cell);
    return `${JSON.stringify(names[at])}:${value}`;
  });
  return `{${members.join(',')}}`;
};

/** Loads the rows into an existing dataset. */
async function bring(
  server: TestServer,
  id: string,
  way: (typeof WAYS)[number],
  properties: readonly Property[],
  rows: Rows,
): Promise<void> {
  const names = ['k', ...properties.map(({ name }) => name)];
  const isBare = (at: number): boolean => properties[at - 1]?.isBare === true;
  const never = (at: number): boolean => properties[at - 1]?.name === 'yes';
  const objects = rows.map((row) => objectText(names, row, way === 'texts' ? never : isBare));
  if (way === 'csv') {
    await loaded(server, id, [names, ...rows].map((row) => `${row.join(',')}\n`).join(''));
  } else if (way === 'lines') await loaded(server, id, `${objects.join('\n')}\n`);
  else if (way !== 'push') await loaded(server, id, `[${objects.join(',')}]`);
  else {
    const url = `${server.base}/v1/record/WS/${id}?wait=true&token=${server.secret}`;
    const headers = { 'content-type': 'application/json' };
    const body = `[${objects.join(',')}]`;
    const answer = await fetch(url, { method: 'POST', body, headers });
    if (answer.status !== 200) throw new Error(`${body}: ${await answer.text()}`);
  }
}

const create = async (server: TestServer, datasetId: string, all: readonly Property[]) => {
  const properties = Object.fromEntries(all.map(({ name, property }) => [name, property]));
  const schema = { type: 'object', properties: { k: { type: 'string' }, ...properties } };
  const dataset = { datasetId, schema, columnMapping: { key: 'k', date: 'day' } };
  const { status, text } = await send(server, 'POST', '/datasets/WS', { dataset });
  if (status !== 200) throw new Error(text);
};

/** The cells of a dataset, sorted by its key; doubles as JavaScript spells them. */
async function cellsOf(server: TestServer, id: string, names: readonly string[]): Promise<string> {
  const text = await read(server, `/data/WS/${id}?limit=99&sort=asc&format=csv`);
  const real = names.indexOf('real');
  const rows = text.trimEnd().split('\n').slice(1).sort();
  return rows.map((line) => plainReal(line.split(','), real).join(',')).join('\n');
}

const plainReal = (cells: readonly string[], real: number): readonly string[] =>
  cells.map((cell, at) => (at === real && cell !== '' ? String(Number(cell)) : cell));

async function failuresOf(server: TestServer, id: string, random: Seeded): Promise<string[]> {
  const properties = propertiesOf(random);
  const names = ['k', ...properties.map(({ name }) => name)];
  const rows = Array.from({ length: random.between(1, ROWS_MAX) }, (_, at) => [
    `r${at}`,
    ...properties.map(({ name, value }) =>
      !FILLED.has(name) && random.chance(0.1) ? null : value(),
    ),
  ]);
  const expected = rows.map((row) => row.join(',')).join('\n');
  const failures: string[] = [];
  const compare = async (name: string, what: string): Promise<void> => {
    const received = await cellsOf(server, name, names);
    if (received !== expected) failures.push(`${what}:\n${received}\ninstead of\n${expected}`);
  };
  for (const way of WAYS) {
    await create(server, `${id}_${way}`, properties);
    await bring(server, `${id}_${way}`, way, properties, rows);
    await compare(`${id}_${way}`, `in by ${way}`);
    failures.push(...(await differentReads(server, `${id}_${way}`)));
  }
  for (const format of FORMATS) {
    const way = random.pick(WAYS);
    const answer = await get(server, `/data/WS/${id}_${way}?limit=99&sort=asc&format=${format}`);
    await create(server, `${id}_BACK_${format}`, properties);
    await loaded(server, `${id}_BACK_${format}`, new Uint8Array(await answer.arrayBuffer()));
    await compare(`${id}_BACK_${format}`, `in by ${way}, out and in by ${format}`);
  }
  return failures;
}

/** Checks that a record is the same from files, from memory, and after pushes over memory. */
async function differentReads(server: TestServer, id: string): Promise<readonly string[]> {
  const path = `/data/WS/${id}/r0?last=1`;
  const cold = await read(server, `${path}&interval=2`);
  for (let times = 0; times < 3; times += 1) {
    const warm = await read(server, path);
    if (warm !== cold) return [`${path}: ${warm} from memory, ${cold} from files`];
  }
  return [];
}

/** Plays `count` schemas, each with a few records. */
export async function exactTypesLaw(
  count: number,
  seed: number,
): Promise<{ readonly failures: readonly string[]; readonly schemas: number }> {
  const random = seeded(seed);
  const failures: string[] = [];
  await using server = await startServer();
  for (let at = 0; at < count; at += 1) {
    const wrong = await failuresOf(server, `T${at}`, random);
    failures.push(...wrong.map((one) => `seed ${seed}, schema ${at}, ${one}`));
  }
  return { failures, schemas: count };
}
