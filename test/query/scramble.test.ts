// Values of the test environment: of the same type and form, near the real ones, and never them.
import assert from 'node:assert/strict';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, test } from 'vitest';
import { scrambledRows } from '../../query/plan/sandboxValues.ts';
import { type Column, type ColumnType, sqlType } from '../../store/lake/versions/columns.ts';

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(() => connection.closeSync());

const KEY: Column = { id: 1, name: 'k', type: 'varchar', nullable: false };

/** The scrambled values of one column, given in SQL; in their order. */
async function scrambled(
  type: ColumnType,
  values: readonly string[],
  seed = 'seed',
): Promise<readonly unknown[]> {
  const column: Column = { id: 2, name: 'a "v"', type, nullable: true };
  const records = values.map(
    (value, at) => `(${at}, 'k${at}', CAST(${value} AS ${sqlType(type)}))`,
  );
  const table = `(VALUES ${records.join(', ')}) AS t(place, k, "a ""v""")`;
  const rows = scrambledRows(`(SELECT * FROM ${table})`, [KEY, column], [KEY], { seed });
  const all = await connection.runAndReadAll(`SELECT * FROM ${rows} ORDER BY place`);
  const columnType = all.columnTypes()[2];
  assert.equal(columnType?.alias ?? columnType?.toString(), sqlType(type));
  return all.getRowObjectsJson().map((row) => row['a "v"']);
}

test('whole numbers change by up to 5 %, small ones by one, and only 0 stays', async () => {
  const least = -(2n ** 63n);
  const values = [1_000_000n, -777_777n, 100n, 21n, 7n, 1n, -1n, 2n ** 63n - 1n, least, 2n ** 53n];
  const others = await scrambled('int64', [...values.map(String), '0', 'NULL']);
  for (const [at, value] of values.entries()) {
    const other = BigInt(String(others[at]));
    assert.notEqual(other, value);
    const by = other > value ? other - value : value - other;
    const most = (value < 0n ? -value : value) / 20n;
    assert.ok(by <= (most > 1n ? most : 1n), `${value} became ${other}`);
    assert.ok(other * value > 0n, `${value} became ${other}`);
  }
  assert.deepEqual(others.slice(values.length).map(String), ['0', 'null']);
});

test('a factor of one becomes no factor of 0', async () => {
  for (let at = 0; at < 20; at += 1) {
    const [one] = await scrambled('float64', ['1'], `seed ${at}`);
    const [cent] = await scrambled('float64', ['0.01'], `seed ${at}`);
    assert.deepEqual([Number(one), Number(cent)], [2, 0.02]);
  }
});

test('exact numbers become others that their types hold', async () => {
  for (const [type, values] of [
    [
      'decimal(18,6)',
      ['100.25', '-0.5', '0.000001', '999999999999.999999', '-999999999999.999999'],
    ],
    ['decimal(2,2)', ['0.99', '0.01', '-0.99']],
    ['decimal(38,0)', ['99999999999999999999999999999999999999', '7']],
    ['int128', ['99999999999999999999999999999999999999', '-18446744073709551616', '1', '-7']],
    ['timestamp_ns', ["'2024-01-02 03:04:05.123456789'", "'1969-12-31 23:59:59.999999999'"]],
  ] as const) {
    const others = await scrambled(type, [...values, 'NULL']);
    for (const [at, value] of values.entries()) {
      assert.notEqual(others[at], null, `${type} ${value}`);
      const isSame =
        type === 'timestamp_ns'
          ? `'${others[at]}'` === value
          : Number(others[at]) === Number(value);
      assert.equal(isSame, false, `${type} ${value}`);
    }
    assert.equal(others.at(-1), null);
  }
});

test('decimal numbers keep their decimals, and NaN and infinity stay unchanged', async () => {
  const values = ['100.25', '-0.5', '1234.5678', '99', '1e300', '1.5e305', '2.5e-9', '-3.125'];
  const others = await scrambled('float64', [...values, '0', "'nan'", "'infinity'", 'NULL']);
  for (const [at, text] of values.entries()) {
    const [value, other] = [Number(text), Number(others[at])];
    assert.notEqual(other, value);
    const decimals = text.includes('e') ? 0 : (text.split('.')[1] ?? '').length;
    const most = Math.max(Math.abs(value) * 0.05, text.includes('e') ? 0 : 10 ** -decimals);
    assert.ok(Math.abs(other - value) <= most * 1.0001, `${value} became ${other}`);
    if (!text.includes('e')) assert.equal(Number(other.toFixed(decimals)), other, text);
  }
  assert.deepEqual(others.slice(values.length), [0, 'NaN', 'Infinity', null]);
  const prices = Array.from({ length: 500 }, (_, at) => `${100 + at}.${at % 9}${1 + (at % 9)}`);
  const lengths = (await scrambled('float64', prices)).map(
    (price) => String(price).split('.')[1]?.length,
  );
  assert.ok(
    lengths.every((length) => length === 2),
    'none loses its last decimal',
  );
});

const letters = (text: string): string => [...text].toSorted().join('');

test('texts are anagrams, or else of other letters; days in them move', async () => {
  const long = 'Größe 12 日本 '.repeat(60);
  const values = [
    'Microsoft Corporation',
    'AB',
    long,
    'aaaa',
    'q',
    '-',
    '2020-01-31',
    '日本語',
    "O'x",
  ];
  const quoted = values.map((value) => `'${value.replaceAll("'", "''")}'`);
  const others = (await scrambled('varchar', [...quoted, "''", 'NULL'])) as string[];
  for (const [at, value] of values.entries()) {
    assert.notEqual(others[at], value);
    assert.equal([...(others[at] ?? '')].length, [...value].length);
  }
  assert.equal(letters(others[0] ?? ''), letters(values[0] ?? ''));
  assert.match(others[2]?.slice(-60) ?? '', /^[x0 ]+$/, 'text beyond 256 characters is masked');
  assert.match(others[6] ?? '', /^20(19-12|20-0[1-3])-\d\d$/);
  assert.deepEqual(others.slice(values.length), ['', null]);
});

/** Share of the expected count by which a place of 4,000 texts may differ: four standard deviations. */
const UNIFORM_WITHIN = 0.21;

test('a letter moves to any place of its text equally often, and to the same one each time', async () => {
  const count = 4_000;
  const letterAt = (text: string): number[] => [...'abcdefgh'].map((one) => text.indexOf(one));
  // Digits distinguish the texts, so that each letter is in a text once.
  const texts = Array.from(
    { length: count },
    (_, at) => `'abcdefgh${String(at).padStart(4, '0')}'`,
  );
  const once = (await scrambled('varchar', texts)) as string[];
  assert.deepEqual(await scrambled('varchar', texts), once);
  const length = 12;
  const places = Array.from({ length: 8 }, () => new Array<number>(length).fill(0));
  for (const text of once) {
    for (const [letter, place] of letterAt(text).entries()) {
      const row = places[letter] ?? [];
      row[place] = (row[place] ?? 0) + 1;
    }
  }
  const expected = count / length;
  for (const [letter, row] of places.entries()) {
    for (const [place, times] of row.entries()) {
      const off = Math.abs(times / expected - 1);
      assert.ok(off < UNIFORM_WITHIN, `letter ${letter} is ${times} times at place ${place}`);
    }
  }
});

test('dates move together and stay in the calendar; booleans are random', async () => {
  const dates = ["'2020-01-31'", "'1970-01-01'", "'9999-12-31'", "'infinity'", 'NULL'];
  const days = (await scrambled('date', dates)) as string[];
  const moved = (at: number, text: string): number =>
    (Date.parse(days[at] ?? '') - Date.parse(text)) / 86_400_000;
  assert.equal(moved(0, '2020-01-31'), moved(1, '1970-01-01'));
  assert.ok(Math.abs(moved(0, '2020-01-31')) <= 30 && moved(0, '2020-01-31') !== 0);
  assert.equal(days[2], '9999-12-31');
  assert.equal(days[4], null);
  const times = (await scrambled('timestamp', [
    "'2020-01-31 10:11:12.345'",
    "'0001-01-01'",
  ])) as string[];
  assert.match(times[0] ?? '', / 10:11:12\.345$/);
  const truths = await scrambled(
    'boolean',
    Array.from({ length: 200 }, () => 'true'),
  );
  const trueCount = truths.filter((truth) => truth === true).length;
  assert.ok(trueCount > 50 && trueCount < 150, `${trueCount} of 200`);
});

test('documents keep their members and kinds, and nothing else', async () => {
  const values = [
    { a: 1, b: 'x, "y" :"VARCHAR"', c: [1.5, 2], DOUBLE: { BOOLEAN: true, BIGINT: -7 }, n: null },
    [1, 2, 3],
    'text',
    12.5,
    [{ a: null }, { a: 'Zebra' }],
    {},
  ];
  const quoted = values.map((value) => `'${JSON.stringify(value)}'`);
  const others = (await scrambled('json', [...quoted, 'NULL'])) as string[];
  const parsed = others.slice(0, -1).map((text) => JSON.parse(text) as unknown);
  const [first] = parsed as { readonly [name: string]: unknown }[];
  assert.deepEqual(Object.keys(first ?? {}), ['a', 'b', 'c', 'DOUBLE', 'n']);
  assert.deepEqual(typeof first?.['a'], 'number');
  assert.deepEqual(Object.keys(first?.['DOUBLE'] as object), ['BOOLEAN', 'BIGINT']);
  assert.ok(
    Array.isArray(parsed[1]) && typeof parsed[2] === 'string' && typeof parsed[3] === 'number',
  );
  assert.doesNotMatch(others.join(), /Zebra|text|12\.5|-7/);
  assert.equal(others.at(-1), null);
});

test('the same each time for a seed, and another for another', async () => {
  const values = ['1000000', '2000000', '3000000'];
  const once = await scrambled('int64', values);
  assert.deepEqual(await scrambled('int64', values), once);
  assert.notDeepEqual(await scrambled('int64', values, 'other'), once);
});
