// Splits as vendors write them.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { isNoSplit, parseSplit } from '../../../market/files/splitText.ts';

/** Text -> shares after, shares before. */
const SPLITS: Readonly<Record<string, readonly [number, number]>> = {
  '10:1': [10, 1],
  '1:30': [1, 30],
  '10/1': [10, 1],
  '10 for 1': [10, 1],
  '1-for-30': [1, 30],
  '3-For-2': [3, 2],
  '4.000000/1.000000': [4, 1],
  '1.000000/30.000000': [1, 30],
  '1.5:1': [1.5, 1],
  '10.0': [10, 1],
  '4': [4, 1],
  '1.5': [3, 2],
  '0.5': [1, 2],
  '0.05': [1, 20],
  '0.02': [1, 50],
  '0.01': [1, 100],
  '0.0333333': [1, 30],
  '0.0333': [1, 30],
  '0.033': [1, 30],
  '0.066667': [1, 15],
  '0.0666': [1, 15],
  '0.333333': [1, 3],
  '0.33': [1, 3],
  '0.67': [2, 3],
  '1.33': [4, 3],
  '1.333': [4, 3],
  '1.05': [21, 20],
  '1.025': [41, 40],
  '1.02': [51, 50],
  '1.03': [103, 100],
  '1.1': [11, 10],
  '7.0': [7, 1],
  '20.000': [20, 1],
};

test('pairs and ratios are shares after and shares before', () => {
  for (const [text, [to, from]] of Object.entries(SPLITS)) {
    const split = parseSplit(text);
    assert.deepEqual([split?.to, split?.from], [to, from], text);
  }
  assert.deepEqual(
    ['0.0333333', '0.0333', '1.33', '0.05', '10.0'].map((text) => parseSplit(text)?.rounded),
    [true, true, true, false, false],
  );
});

test('every small split is recovered from its ratio with six decimals', () => {
  for (let from = 1; from <= 40; from += 1) {
    for (let to = 1; to <= 40; to += 1) {
      const split = parseSplit((to / from).toFixed(6));
      assert.ok(split !== undefined);
      assert.equal(split.to * from, split.from * to, `${to} for ${from}`);
    }
  }
});

test('texts that are not splits are ignored', () => {
  for (const text of ['', 'x', '0:1', '1:0', '-2', '2 for', '1e3']) {
    assert.equal(parseSplit(text), undefined, text);
  }
  for (const text of ['0', '0.0', '1.0', '1', '1:1', '1.000000/1.000000']) {
    assert.ok(isNoSplit(text), text);
  }
  for (const text of ['2', '1:30', 'x', '']) assert.ok(!isNoSplit(text), text);
});
