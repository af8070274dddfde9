// Scrambled answers keep everything but the values, and change those within their rules.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { scrambleRecords } from '../../api/scramble.ts';
import type { ColumnType } from '../../store/columns.ts';
import type { TextFormat } from '../../store/duckdb/protocol.ts';
import { renderBody } from '../../store/duckdb/render.ts';
import { seedsOf } from '../seeds.ts';

const RUNS = 300;
const DAY_MS = 86_400_000;
const KEEP: ReadonlySet<string> = new Set(['id', 'key', 'subkey']);
const DAY = /^\d{4}-\d{2}-\d{2}/;

type Members = Readonly<Record<string, unknown>>;

const scrambledText = (text: string, seed = 'seed', keep = KEEP): string =>
  scrambleRecords(Buffer.from(text), 'json', seed, keep).toString();
const scrambled = (value: unknown, seed = 'seed'): unknown =>
  JSON.parse(scrambledText(JSON.stringify(value), seed));
const scrambledOne = (value: unknown, name = 'v'): unknown =>
  (scrambled([{ [name]: value }]) as readonly [Members])[0][name];

/** Days between two texts or numbers that are times. */
const daysOf = (from: string | number, to: string | number): number => {
  const msOf = (time: string | number): number =>
    typeof time === 'number' ? time : Date.parse(`${time.slice(0, 10)}T00:00:00Z`);
  return (msOf(to) - msOf(from)) / DAY_MS;
};

const sorted = (text: string): string => [...text].sort().join('');

function assertAnagram(before: string, after: string): void {
  assert.equal(sorted(after), sorted(before));
  const [old, now] = [[...before], [...after]];
  const kinds = [/\p{L}/u, /[0-9]/];
  for (const [index, character] of old.entries()) {
    const kind = kinds.find((one) => one.test(character));
    if (kind === undefined) assert.equal(now[index], character);
    else assert.match(now[index] ?? '', kind);
  }
}

const decimalsOf = (text: string): number =>
  /^-?\d+(?:\.(\d+))?(?:e[+-]?\d+)?$/i.exec(text)?.[1]?.length ?? 0;

/** Both are numbers as they are written. */
function assertNear(before: string, after: string): void {
  const [old, now] = [Number(before), Number(after)];
  assert.ok(Math.abs(now - old) <= Math.abs(old) * (0.05 + 1e-12), `${before} became ${after}`);
  assert.equal(decimalsOf(after), decimalsOf(before), `${before} became ${after}`);
  assert.equal(/e.*/i.exec(after)?.[0], /e.*/i.exec(before)?.[0]);
}

/** Walks both; adds to `days` by how many days each date moved. */
function assertScrambled(name: string, before: unknown, after: unknown, days: Set<number>): void {
  if (KEEP.has(name)) return assert.deepEqual(after, before);
  if (typeof before === 'string') {
    assert.ok(typeof after === 'string');
    if (!DAY.test(before)) return assertAnagram(before, after);
    days.add(daysOf(before, after));
    return assert.equal(after.slice(10), before.slice(10));
  }
  if (typeof before === 'number') {
    assert.ok(typeof after === 'number');
    const isTime = name === 'date' || (before >= 1e12 && before <= 4e12);
    if (isTime && Number.isInteger(before)) return void days.add(daysOf(before, after));
    assert.equal(Number.isInteger(after), Number.isInteger(before), `${before} became ${after}`);
    return assert.ok(Math.abs(after - before) <= Math.abs(before) * (0.05 + 1e-12));
  }
  if (before === null || typeof before !== 'object') return assert.equal(after, before);
  assert.equal(Array.isArray(after), Array.isArray(before));
  const [old, now] = [Object.entries(before), Object.entries(after as Members)];
  assert.deepEqual(
    now.map(([member]) => member),
    old.map(([member]) => member),
  );
  for (const [index, [member, value]] of old.entries()) {
    const inner = Array.isArray(before) ? name : member;
    assertScrambled(inner, value, now[index]?.[1], days);
  }
}

const days = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('NASDAQ/NGS (Global Select)', 'Apple Inc.', 'a "quoted" \\ text\n', 'Ünïcode 12'),
);
const leaves = fc.oneof(
  texts.filter((text) => !DAY.test(text)),
  days,
  days.map((time) => time.slice(0, 10)),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
  fc.integer({ min: 0, max: 999_999_999 }).map((hundredths) => hundredths / 100),
  fc.integer({ min: 1e12, max: 4e12 }),
  fc.constantFrom(true, false, null),
);
const names = fc.constantFrom('open', 'date', 'id', 'key', 'note', 'a.b', '2020', '', '__proto__');
const values = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaves, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(names, tie('value'), { maxKeys: 5 }),
}));
const records = fc.array(fc.dictionary(names, values.value, { maxKeys: 6 }), { maxLength: 6 });

describe('any records', () => {
  test('shape, anagrams, 5 %, one shift of the dates, and what is kept', (t) => {
    const holds = (before: unknown, seed: string): void => {
      const parsed: unknown = JSON.parse(JSON.stringify(before));
      const moved = new Set<number>();
      assertScrambled('', parsed, scrambled(parsed, seed), moved);
      const [shift] = moved;
      assert.ok(moved.size <= 1, `moved by ${[...moved].join(', ')} days`);
      if (shift !== undefined) assert.ok(shift !== 0 && Math.abs(shift) <= 30, `${shift} days`);
    };
    for (const seed of seedsOf(t)) {
      fc.assert(fc.property(records, fc.string(), holds), { seed, numRuns: RUNS });
    }
  });

  test('the same again, in whatever place; JSON lines as the array', (t) => {
    const holds = (before: readonly unknown[]): void => {
      const once = scrambled(before) as readonly unknown[];
      assert.deepEqual(scrambled(before), once);
      assert.deepEqual(scrambled([...before].reverse()), [...once].reverse());
      const lines = before.map((record) => `${JSON.stringify(record)}\n`).join('');
      const answer = scrambleRecords(Buffer.from(lines), 'jsonl', 'seed', KEEP).toString();
      const joined = answer.split('\n').slice(0, -1).join(',');
      assert.equal(`[${joined}]`, scrambledText(JSON.stringify(before)));
    };
    for (const seed of seedsOf(t)) {
      fc.assert(fc.property(records, holds), { seed, numRuns: RUNS });
    }
  });

  test('numbers as they are written, of any length', (t) => {
    const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,25})?(e-?[0-9]{1,2})?$/);
    const holds = (before: string): void => {
      const after = scrambledText(`[${before}]`).slice(1, -1);
      if (/^\d{13}$/.test(before)) return;
      assertNear(before, after);
      assert.equal(after.startsWith('-'), before.startsWith('-'));
    };
    for (const seed of seedsOf(t)) {
      fc.assert(fc.property(digits, holds), { seed, numRuns: 10 * RUNS });
    }
  });
});

describe('texts', () => {
  test('letters and digits change places among themselves, the rest stays', () => {
    const before = 'Apple Inc. (AAPL), 1 Infinite Loop: 95014';
    const after = scrambledOne(before) as string;
    assert.notEqual(after, before);
    assertAnagram(before, after);
  });
  test('two letters always change, one never does', () => {
    assert.equal(scrambledOne('US'), 'SU');
    assert.equal(scrambledOne('A'), 'A');
    assert.equal(scrambledOne('10'), '01');
    assert.equal(scrambledOne(''), '');
    assert.equal(scrambledOne('–, !'), '–, !');
  });
  test('letters of every script, and characters of two code units', () => {
    assert.equal(scrambledOne('жЯ'), 'Яж');
    assert.equal(scrambledOne('😀ab😀'), '😀ba😀');
    assert.equal(scrambledOne('𝒜b'), 'b𝒜');
    assert.equal(scrambledText('["\\ud800ab"]'), '["\\ud800ba"]');
  });
  test('escapes stay escapes', () => {
    assert.equal(scrambledText('["\\"a\\\\b\\u0001\\n"]'), '["\\"b\\\\a\\u0001\\n"]');
    assert.equal(scrambledText('["\\u0041b"]'), '["bA"]');
  });
  test('a 64-bit integer in text keeps its first digit', () => {
    const after = String(scrambledOne('9007199254740993'));
    assert.match(after, /^9\d{15}$/);
    assertAnagram('9007199254740993', after);
    assert.match(String(scrambledOne('-9000000000000001')), /^-9\d{15}$/);
  });
});

describe('dates', () => {
  const shift = daysOf('2024-01-01', scrambledOne('2024-01-01') as string);

  const MOVED: readonly (readonly [string, string])[] = [
    ['2024-02-28', ''],
    ['2024-02-28T23:59:59.123456Z', 'T23:59:59.123456Z'],
    ['2024-02-28T23:59:59+05:30', 'T23:59:59+05:30'],
    ['2024-02-28 09:30', ' 09:30'],
    ['2024-02-28 09:30:00', ' 09:30:00'],
    ['1900-01-15', ''],
    ['0001-02-15', ''],
  ];
  for (const [before, rest] of MOVED) {
    test(`${before} moves and keeps its form`, () => {
      const after = scrambledOne(before) as string;
      assert.equal(daysOf(before, after), shift);
      assert.equal(after.slice(10), rest);
    });
  }
  for (const before of ['2024-02-30', '2024-13-01', '2024-1-1', '2024-01-31x', '2024-01-31T']) {
    test(`${before} is no date but text`, () => {
      assertAnagram(before, scrambledOne(before) as string);
    });
  }
  test('the ends of the calendar keep their form', () => {
    for (const day of ['0000-01-01', '9999-12-31']) {
      for (const seed of ['a', 'b', 'c', 'd']) {
        assert.match(scrambledText(`["${day}"]`, seed), /^\["\d{4}-\d\d-\d\d"\]$/);
      }
    }
  });
  test('epoch milliseconds move by the same days', () => {
    const times = { date: 0, updated: -86_400_000, at: 1_700_000_000_123, old: 999_999_999_999 };
    const [after] = scrambled([times]) as readonly [Record<keyof typeof times, number>];
    assert.equal(daysOf(times.date, after.date), shift);
    assert.equal(daysOf(times.updated, after.updated), shift);
    assert.equal(daysOf(times.at, after.at), shift);
    assertNear(String(times.old), String(after.old));
  });
  test('seeds move by every number of days but none', () => {
    const seen = new Set<number>();
    for (let seed = 0; seed < 1_000; seed += 1) {
      const [after] = scrambled([{ date: 0 }], `seed ${seed}`) as readonly [{ date: number }];
      seen.add(after.date / DAY_MS);
    }
    const all = [...seen].sort((a, b) => a - b);
    assert.deepEqual([all.length, all[0], all.at(-1), seen.has(0)], [60, -30, 30, false]);
  });
});

describe('numbers', () => {
  const EXACT: readonly (readonly [string, RegExp])[] = [
    ['0', /^0$/],
    ['-0.00', /^-0\.00$/],
    ['7', /^7$/],
    ['0.01', /^0\.01$/],
    ['100.50', /^(9[5-9]|10[0-5])\.\d\d$/],
    ['100.5', /^(9[5-9]|10[0-5])\.[1-9]$/],
    ['1000', /^(9[5-9]\d|10[0-5]\d)$/],
    ['1.5e-7', /^1\.[4-6]e-7$/],
    ['1e400', /^1e400$/],
    ['12345678901234567890', /^1[123]\d{13}67890$/],
    ['0.12345678901234567890', /^0\.1[12]\d{12}567890$/],
  ];
  for (const [before, form] of EXACT) {
    test(`${before} becomes ${form.source}`, () => {
      for (const seed of ['a', 'b', 'c', 'd', 'e']) {
        assert.match(scrambledText(`[${before}]`, seed).slice(1, -1), form);
      }
    });
  }
  test('none grows out of its kind', () => {
    for (const seed of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const text = scrambledText(
        '[9007199254740991,-9007199254740991,1.7976931348623157e308]',
        seed,
      );
      const [high, low, double] = JSON.parse(text) as readonly number[];
      assert.ok(Number.isSafeInteger(high) && Number.isSafeInteger(low), text);
      assert.ok(Number.isFinite(double), text);
    }
  });
  test('up and down, over the whole of the 5 %', () => {
    const all = Array.from({ length: 1_000 }, (_, index) => 1_000_000 + index);
    const ratios = (scrambled(all) as readonly number[]).map((now, i) => now / (all[i] ?? 0) - 1);
    assert.ok(Math.min(...ratios) < -0.049 && Math.max(...ratios) > 0.049);
    const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
    assert.ok(Math.abs(mean) < 0.005, `${mean}`);
  });
});

describe('members', () => {
  test('what is kept stays whole, at any depth', () => {
    const kept =
      '{"id":"ABC 12","key":{"a":["XY",123456]},"in":{"subkey":"XY","list":[{"id":1.5}]}}';
    assert.equal(scrambledText(kept), kept);
    const beside = scrambledText('[{"key":[["XY"]],"a":"XY","in":[{"key":"XY"},"XY"]}]');
    assert.equal(beside, '[{"key":[["XY"]],"a":"YX","in":[{"key":"XY"},"YX"]}]');
  });
  test('names, their order, repeated ones and blanks are not touched', () => {
    const text = ' [ { "2" : true , "1" : null , "ab" : [ ] , "ab" : { } , "x\\"y" : "" } ] \n';
    assert.equal(scrambledText(text), text);
  });
  test('the name counts, the place does not', () => {
    const text = 'a long enough text to tell';
    const [one, two] = scrambled([
      { a: text, b: text },
      { c: [text], a: text },
    ]) as readonly Members[];
    assert.equal(one?.['a'], two?.['a']);
    assert.notEqual(one?.['a'], one?.['b']);
    assert.notEqual(scrambledText('["abcdefgh"]', 'one'), scrambledText('["abcdefgh"]', 'two'));
  });
  test('no depth is too deep', () => {
    const deep = `${'[{"a":'.repeat(100_000)}"XY"${'}]'.repeat(100_000)}`;
    assert.equal(scrambledText(deep), deep.replace('XY', 'YX'));
  });
  test('nothing comes of nothing', () => {
    for (const format of ['json', 'jsonl', 'csv', 'psv'] as const) {
      assert.equal(scrambleRecords(Buffer.from(''), format, 's', KEEP).length, 0);
    }
    assert.equal(scrambledText('[]'), '[]');
    assert.equal(scrambleRecords(Buffer.from('a|b\n'), 'psv', 's', KEEP).toString(), 'a|b\n');
  });
});

describe('every format says the same', () => {
  const TYPES: readonly (readonly [string, ColumnType, string])[] = [
    ['key', 'varchar', "'KEY-' || i"],
    ['2020', 'varchar', "CASE i % 4 WHEN 0 THEN '10001' WHEN 1 THEN 'true' ELSE '[1]' END"],
    ['quoted', 'varchar', `CASE WHEN i % 3 > 0 THEN 'a,b|c "d" ' || chr(10) || i || chr(13) END`],
    ['empty', 'varchar', "CASE WHEN i % 2 = 0 THEN '' END"],
    ['whole', 'int64', 'i * 7919'],
    ['long', 'int64', '9007199254740000 + i * 37'],
    ['price', 'float64', 'CAST(i * 137 - 9999 AS DOUBLE) / 100'],
    ['tiny', 'float64', 'CAST(i AS DOUBLE) * 1e-9'],
    ['huge', 'float64', 'CAST(i AS DOUBLE) * 1.1e18'],
    ['truth', 'boolean', 'i % 2 = 0'],
    ['day', 'date', "DATE '2023-12-25' + CAST(i AS INTEGER)"],
    ['time', 'timestamp', "TIMESTAMP '2024-02-28 23:59:59.123456' + INTERVAL (i) HOUR"],
    ['date', 'int64', '1700000000000 + i'],
    ['nested', 'json', `CAST('{"key": "K", "a": [1.50, "text", null], "b": ' || i || '}' AS JSON)`],
    ['scalar', 'json', `CAST('"text ' || i || '"' AS JSON)`],
  ];
  const types = new Map(TYPES.map(([name, type]) => [name, type]));

  /** The answer as the server renders it, scrambled. */
  async function answerIn(
    format: TextFormat,
    told: ReadonlyMap<string, ColumnType>,
  ): Promise<string> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      const members = TYPES.map(([name, , sql]) => `${sql} AS "${name}"`).join(', ');
      const result = await connection.stream(`SELECT ${members} FROM range(500) AS r(i)`);
      const { bytes } = await renderBody(result, format);
      return scrambleRecords(Buffer.from(bytes), format, 'seed', KEEP, told).toString();
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  }

  const cellOf = (value: unknown, type: ColumnType): string => {
    if (value === null) return '';
    return type === 'json' || typeof value !== 'string' ? JSON.stringify(value) : value;
  };

  for (const [format, delimiter] of [
    ['csv', ','],
    ['psv', '|'],
  ] as const) {
    test(`${format} and json`, async () => {
      const rows = JSON.parse(await answerIn('json', new Map())) as readonly Members[];
      const table = await answerIn(format, types);
      const [header, ...cells] = parse(table, { delimiter }) as readonly (readonly string[])[];
      assert.deepEqual(header, [...types.keys()]);
      assert.equal(cells.length, 500);
      for (const [index, row] of rows.entries()) {
        for (const [column, [name, type]] of [...types].entries()) {
          const cell = cells[index]?.[column] ?? '';
          const told = type === 'json' ? JSON.stringify(JSON.parse(cell)) : cell;
          const expected = cellOf(row[name], type);
          const same = type === 'float64' ? Number(told) === Number(expected) : told === expected;
          assert.ok(same, `row ${index}, ${name}: ${told}, in json ${expected}`);
        }
      }
    });
  }

  test('a date that is told as one may also be epoch milliseconds', () => {
    const rows = Buffer.from('date,day\n1700000000000,2024-01-01\n');
    const told = new Map<string, ColumnType>([
      ['date', 'timestamp'],
      ['day', 'date'],
    ]);
    const [, cells = ''] = scrambleRecords(rows, 'csv', 'seed', KEEP, told).toString().split('\n');
    const record = { date: 1_700_000_000_000, day: '2024-01-01' };
    assert.equal(cells, Object.values((scrambled([record]) as readonly [object])[0]).join(','));
  });

  test('columns whose types are not told are read by their looks', async () => {
    const [told, untold] = await Promise.all([answerIn('csv', types), answerIn('csv', new Map())]);
    const rowsOf = (text: string): readonly (readonly string[])[] =>
      parse(text, { delimiter: ',' });
    const without = (rows: readonly (readonly string[])[]): readonly (readonly string[])[] =>
      // Text that looks like something else, and doubles past 2^53, want to be told.
      rows.map((row) => row.filter((_, column) => ![1, 8].includes(column)));
    assert.deepEqual(without(rowsOf(untold)), without(rowsOf(told)));
  });
});
