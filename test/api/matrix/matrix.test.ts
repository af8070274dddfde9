// The table of endpoints against the matrix: no row without its case, no case without its row, and the
// token and the refusals of a row follow from its reach.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { CASES, WAYS } from './matrixCases.ts';
import { isAlways, NEEDS } from './matrixRules.ts';

test('every row of the table has a case, and every case a row', () => {
  const without = ENDPOINTS.filter(({ id }) => CASES[id] === undefined).map(
    ({ id, method, path }) =>
      `${method} ${path}: add ${id} to CASES in test/api/matrix/matrixCases.ts, with what it reaches ` +
      'and, where it takes one, a valid body; the rules follow from that',
  );
  assert.deepEqual(without, []);
  const ids = ENDPOINTS.map(({ id }) => id);
  assert.deepEqual(ids, [...new Set(ids)], 'a duplicate id');
  const orphanCases = Object.keys(CASES).filter((id) => !ids.includes(id));
  assert.deepEqual(
    orphanCases,
    [],
    'these cases of test/api/matrix/matrixCases.ts have no row any more',
  );
});

test('the token of a row, its exemption from refusals, and its price follow from its reach', () => {
  const wrong = WAYS.flatMap((way) => {
    const { testCase, endpoint } = way;
    const { always = false, id, token, weight } = endpoint;
    const need = NEEDS[testCase.reach];
    const metered = testCase.metered === true;
    return [
      token === need ? [] : `${id} takes ${token}, not ${need}`,
      always === isAlways(way) ? [] : `${id}: always is ${always}`,
      (weight !== 'free') === metered ? [] : `${id}: its weight is documented as ${weight}`,
    ].flat();
  });
  assert.deepEqual(wrong, []);
});
