// Text -> stored -> text: each cell of a random CSV file, and of a later one, is read back equal, typed or as
// text, or the notes report its change, or its record is rejected and counted.
import { get, loaded } from '../../../base/client.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

type Some = readonly [string, ...(readonly string[])];

/** Values of columns: a column mostly has values of one pool, and some of others. */
const POOLS: readonly [Some, ...(readonly Some[])] = [
  ['1', '700', '-3', '0', '9988', '123456789', '+5'],
  ['1.5', '128.10', '-0.25', '0.1', '.5', '3.', '1.5E10', '1e-7', '0.30000000000000004'],
  ['0005', '00', '007.5', '130A', 'BRK.B', '12345E107', '9876E5', '1_000', '0x1F', '+-5'],
  ['9007199254740993', '0.1234567890123456789', '12345678901234567.89', '1.00000000000000000001'],
  ['1e400', '-1e400', '1e-400', '5e-324', '2.5e-324', '9223372036854775808', '1e99999'],
  ['None', '--', 'NA', '#DIV/0!', String.raw`\N`, '.', 'nan', 'inf', '', 'null', '-'],
  ['TRUE', 'false', 'T', 'f', 'yes', '1', '0'],
  ['68.18K', '1.25M', '912.00', '2.5bn', '3M', '12k'],
  ['1,234.50', '12,34,567.89', '1,234,567', '999', '1,234'],
  ['$1.00', '($2.50)', '$(3.00)', '-$4.00', '49.03-', '(1.00)', '12 USD', "CHF 1'234.50"],
  ['12.5%', '-3 %', '0.00%', '5'],
  ['x', 'a b', 'epoch', 'infinity', ' 12', '12 ', '１２', '1 000'],
];
const NAMES = [
  'v',
  'code',
  'id',
  'symbol',
  'ticker',
  'cusip',
  'close',
  'Price',
  'volume',
  'account_id',
  'country',
] as const;
/** Plain rows before the tested ones in some files: the type sample has 10,000 rows. */
const SAMPLED = 10_001;
const ROWS = 12;

interface Column {
  readonly name: string;
  readonly usual: Some;
  readonly odd: number;
}

/** Loads `count` datasets of two files each. */
export async function cellsLaw(
  count: number,
  seed: number,
): Promise<{ readonly failures: readonly string[]; readonly cells: number }> {
  const random = seeded(seed);
  const failures: string[] = [];
  let cells = 0;
  await using server = await startServer();
  for (let at = 0; at < count; at += 1) {
    const columns = columnsOf(random.fork());
    const early = random.chance(0.1) ? SAMPLED : 0;
    const first = rowsOf(random, columns, early, 'y');
    const second = rowsOf(random, columns, 0, 'z');
    const wrong = await playFiles(server, `D${at}`, columns, [first, second]);
    cells += (first.length + second.length) * columns.length;
    failures.push(...wrong.map((fault) => `seed ${seed}, dataset ${at}: ${fault}`));
  }
  return { failures, cells };
}

function columnsOf(random: Seeded): readonly Column[] {
  const names = new Set(Array.from({ length: 4 }, () => random.pick(NAMES)));
  return [...names].map((name) => ({
    name,
    usual: random.pick(POOLS),
    odd: random.chance(0.5) ? 0 : 0.2,
  }));
}

interface Row {
  readonly key: string;
  readonly cells: readonly string[];
}

function rowsOf(
  random: Seeded,
  columns: readonly Column[],
  early: number,
  file: string,
): readonly Row[] {
  const plain = columns.map(({ usual }) => usual[0]);
  return Array.from({ length: early + ROWS }, (_, at) => ({
    key: at < early ? `a${at}` : `${file}${at}`,
    cells:
      at < early
        ? plain
        : columns.map(({ odd, usual }) =>
            random.pick(random.chance(odd) ? random.pick(POOLS) : usual),
          ),
  }));
}

type Stored = Readonly<Record<string, unknown>>;

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;

/** Loads the files and returns the faults of the records that are read back. */
async function playFiles(
  server: TestServer,
  id: string,
  columns: readonly Column[],
  files: readonly (readonly Row[])[],
): Promise<readonly string[]> {
  const header = ['k', ...columns.map(({ name }) => name)].map(quoted).join(',');
  const notes: string[] = [];
  let [ingested, rejected] = [0, 0];
  for (const [at, rows] of files.entries()) {
    const lines = rows.map(({ cells, key }) => [key, ...cells].map(quoted).join(','));
    const index = at === 0 ? { key: 'k' } : {};
    // A file is refused if all its records are rejected, and stores nothing.
    const job = await loaded(server, id, `${header}\n${lines.join('\n')}\n`, index).catch(String);
    if (typeof job === 'string') {
      if (at === 0 || !job.includes('no record is valid')) return [`file ${at}: ${job}`];
      rejected += rows.length;
      continue;
    }
    notes.push(...job.notes);
    rejected += job.recordsInvalid;
    ingested += job.recordsIngested;
  }
  const late = files.flatMap((rows) => rows.slice(-ROWS));
  const stored = new Map<string, Stored>();
  for (const { key } of late) {
    const answer = await get(server, `/data/WS/${id}/${key}`);
    const records = answer.ok ? ((await answer.json()) as readonly Stored[]) : [];
    if (records[0] !== undefined) stored.set(key, records[0]);
  }
  const all = files.flat();
  const lost = all.length - ingested - rejected;
  const faults = late.flatMap(({ cells, key }) => {
    const record = stored.get(key);
    if (record === undefined) return rejected > 0 ? [] : [`${key} is not there`];
    return columns.flatMap(({ name }, at) => {
      const cell = cells[at] ?? '';
      if (isSame(cell, record[name], name, notes)) return [];
      return [`${name} of ${key}: ${JSON.stringify(cell)} is ${JSON.stringify(record[name])}`];
    });
  });
  return lost === 0 ? faults : [...faults, `${lost} of ${all.length} records are lost`];
}

function isSame(cell: string, value: unknown, name: string, notes: readonly string[]): boolean {
  const isNoted = (what: string): boolean =>
    notes.some((note) => note.startsWith(`${name}: `) && note.includes(what));
  if (value === cell) return true;
  if (value === null || value === undefined) return cell === '' || isNoted('read as null');
  if (typeof value === 'boolean') return cell.toLowerCase() === String(value);
  if (decimalOf(cell) !== undefined && decimalOf(cell) === decimalOf(String(value))) return true;
  // A later file changed the column to text.
  const isText =
    typeof value === 'string' && notes.some((note) => note.startsWith(`${name} becomes `));
  return (typeof value === 'number' || isText) && isNoted('read as a number');
}

/** A number as its digits and the power of ten of the first; undefined if the text is no number. */
function decimalOf(text: string): string | undefined {
  const match = /^([-+]?)(\d*)\.?(\d*)(?:e([-+]?\d+))?$/i.exec(text.trim());
  const [, sign, whole = '', fraction = '', exponent = '0'] = match ?? [];
  const digits = `${whole}${fraction}`;
  if (match === null || digits === '' || /^0\d/.test(whole)) return undefined;
  const from = digits.search(/[1-9]/);
  if (from < 0) return '0';
  const power = whole.length - from + Number(exponent);
  return `${sign === '-' ? '-' : ''}0.${digits.slice(from).replace(/0+$/, '')}e${power}`;
}
