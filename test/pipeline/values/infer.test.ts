// Inference as tables and properties.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { findDateSpelling } from '../../../pipeline/values/dateFormats.ts';
import { likeliestIndex } from '../../../pipeline/conform/indexGuess.ts';
import { inferType, widen } from '../../../pipeline/values/infer.ts';
import { seedsOf } from '../../base/seeds.ts';

const TYPES: readonly (readonly [readonly string[], string])[] = [
  [['1', '-2', '0'], 'integer'],
  [['1', '2.5'], 'number'],
  [['1e5', '.5', '-3.'], 'number'],
  [['999999999999999999'], 'integer'],
  [['1234567890123456789'], 'string'],
  [['-1234567890123456789', '1'], 'string'],
  [['007', '12'], 'string'],
  [['00.5'], 'string'],
  [['TRUE', 'false'], 'boolean'],
  [['true', '1'], 'string'],
  [['2020-02-29'], 'string:date'],
  [['2020-13-01'], 'string'],
  [['2020/01/31'], 'string:date'],
  [['Jan 1 2000', 'Dec 31 1999'], 'string:date'],
  [['Jan 1, 2000'], 'string:date'],
  [['1-Jan-2000'], 'string:date'],
  [['31/01/2020', '05/01/2020'], 'string:date'],
  [['01/31/2020'], 'string:date'],
  [['05/01/2020'], 'string'],
  [['31/01/2020', '01/31/2020'], 'string'],
  [['2020-01-31 10:00'], 'string:date-time'],
  [['2020-01-31T10:00:00.123Z', '2020-01-31T10:00:00+01:00'], 'string:date-time'],
  [['2020-01-31', '2020-01-31T10:00:00Z'], 'string:date-time'],
  [['2020-01-31', '31.01.2020', 'Q1 2020'], 'string:date'],
  [['1', 'NA'], 'integer'],
  [['NA', '-'], 'string'],
  [['1,234.5', '$2'], 'number'],
  [['', '3', ''], 'integer'],
  [['', ''], 'string'],
  [[], 'string'],
];
for (const [values, expected] of TYPES) {
  test(`${JSON.stringify(values)} is ${expected}`, () => {
    const { type, format } = inferType(values).property;
    assert.equal(format === undefined ? type : `${type}:${format}`, expected);
  });
}

test('only an unambiguous order of day and month is taken', () => {
  const orderOf = (value: string): string | undefined => {
    const read = findDateSpelling([value])?.read;
    return read?.kind === 'written' ? read.order : undefined;
  };
  assert.equal(orderOf('31/01/2020'), 'DMY');
  assert.equal(orderOf('01/31/2020'), 'MDY');
  assert.equal(findDateSpelling(['01/02/2020']), undefined);
});

test('the parts of the index are guessed by name, the date also by type', () => {
  const date = { type: 'string', format: 'date' } as const;
  const text = { type: 'string' } as const;
  assert.deepEqual(likeliestIndex({ a: text, Symbol: text, Date: date }), {
    key: 'Symbol',
    date: 'Date',
  });
  assert.deepEqual(likeliestIndex({ country: text, ticker: text }), { key: 'ticker' });
  assert.deepEqual(likeliestIndex({ x: { type: 'number' }, settled: date }), { date: 'settled' });
  assert.deepEqual(likeliestIndex({ symbol: { type: 'integer' } }), { key: 'symbol' });
  assert.deepEqual(likeliestIndex({ symbol: { type: 'number' } }), {});
});

const WIDTH = ['boolean', 'integer', 'number', 'string:date', 'string:date-time', 'string'];
const nameOf = (values: readonly string[]): string => {
  const { type, format } = inferType(values).property;
  return format === undefined ? type : `${type}:${format}`;
};

/** True when every value of the narrower type is one of the wider. */
const holds = (wider: string, narrower: string): boolean =>
  wider === narrower ||
  wider === 'string' ||
  (wider === 'string:date-time' && narrower === 'string:date') ||
  (wider === 'number' && narrower === 'integer');

test('law: more values never narrow a type', (t) => {
  const value = fc.constantFrom(
    '',
    '1',
    '-5',
    '2.5',
    '007',
    'true',
    'FALSE',
    '2020-01-31',
    'Jan 1 2000',
    '31/01/2020',
    '05/06/2020',
    '2020-01-31T10:00:00Z',
    'x',
    '1e9',
    '20200131',
    '31.01.2020',
    'Q1 2020',
    'NA',
    '1,234.5',
    '12,5',
  );
  const law = fc.property(
    fc.array(value, { minLength: 1, maxLength: 6 }),
    fc.array(value, { maxLength: 6 }),
    (some, more) => {
      const before = nameOf(some);
      const after = nameOf([...some, ...more]);
      assert.ok(WIDTH.includes(before) && WIDTH.includes(after));
      // Empty cells carry no information, and a day alone may be ambiguous in its order, or may
      // not be a day at all.
      const filledCells = some.filter((cell) => cell !== '' && cell !== 'NA');
      if (filledCells.every((cell) => /^\d\d\/\d\d\/|^20200131$/.test(cell))) return;
      // Only other values decide it: of 31.01.2020 and 05/06/2020 the second is ambiguous.
      if (before === 'string' && inferType(some).open !== undefined) return;
      assert.ok(holds(after, before), `${before} became ${after}`);
    },
  );
  for (const seed of seedsOf(t)) fc.assert(law, { seed, numRuns: 2_500 });
});

test('widening ends at text', () => {
  assert.deepEqual(widen({ type: 'integer' }, '12.5'), { type: 'number' });
  assert.deepEqual(widen({ type: 'integer' }, '0005'), { type: 'string' });
  assert.deepEqual(widen({ type: 'integer' }, '9876E5'), { type: 'string' });
  assert.deepEqual(widen({ type: 'number' }, 'x'), { type: 'string' });
  assert.deepEqual(widen({ type: 'string', format: 'date' }, 'x'), { type: 'string' });
  assert.deepEqual(widen({ type: 'boolean' }, '1'), { type: 'string' });
});
