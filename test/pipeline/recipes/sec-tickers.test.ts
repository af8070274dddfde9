// The SEC's list of symbols: an object whose members are the records.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { CONTACT } from './companyConcept.ts';
import { countsOf, openRecipes } from './recipeRun.ts';

test('a symbol maps to the number of its company', async () => {
  await using run = await openRecipes();
  const first = { cik_str: 320193, ticker: 'TAPE', title: 'Tape & Deck Corp' };
  const second = { cik_str: 320193, ticker: 'TAPE-B', title: 'Tape & Deck Corp' };
  run.publish(JSON.stringify({ 0: first, 1: second }));
  await run.add('sec-tickers', '--set', `contact=${CONTACT}`);
  assert.deepEqual(countsOf(await run.runs('SEC_TICKERS')), [2, 0, 0]);
  assert.deepEqual(run.requests[0], { url: '/files/company_tickers.json', agent: CONTACT });
  const query = "SELECT cik_str FROM SEC_TICKERS WHERE ticker = 'TAPE-B'";
  assert.deepEqual(await run.rows(query), [{ cik_str: 320193 }]);
  run.publish(JSON.stringify({ 0: first }));
  assert.deepEqual(countsOf(await run.runs('SEC_TICKERS')), [1, 0, 0]);
  assert.deepEqual(await run.rows(query), []);
});
