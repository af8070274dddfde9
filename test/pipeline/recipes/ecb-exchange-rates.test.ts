// The reference rates of the ECB: one long table of all currencies, and its optional columns.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { countsOf, openRecipes } from './recipeRun.ts';

const HEADER = 'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE';
const line = (currency: string, day: string, value: string): string =>
  `EXR.D.${currency}.EUR.SP00.A,D,${currency},EUR,SP00,A,${day},${value}`;
const QUERY = `SELECT CURRENCY AS c, TIME_PERIOD AS day, OBS_VALUE AS rate FROM ECB_EXCHANGE_RATES
  ORDER BY CURRENCY, TIME_PERIOD`;

test('currencies are keys, a corrected rate replaces, a day without one is null', async () => {
  await using run = await openRecipes();
  const before = [line('JPY', '2025-02-18', '158.41'), line('USD', '2025-02-18', '1.0446')];
  run.publish(`${[HEADER, ...before, line('TRY', '2025-02-18', '')].join('\n')}\n`);
  await run.add('ecb-exchange-rates', '--set', 'start=2025-02-01', '--dataset', 'ECB');
  assert.deepEqual(countsOf(await run.runs('ECB')), [3, 0, 0]);
  const requestPath =
    '/service/data/EXR/D..EUR.SP00.A?startPeriod=2025-02-01&detail=dataonly&format=csvdata';
  assert.equal(run.requests[0]?.url, requestPath);

  // With attributes that were not requested, one of them with commas inside quotes.
  const more = ',"ECB reference exchange rate, 2:15 pm (C.E.T.)",USD';
  const lines = [
    `${HEADER},TITLE_COMPL,UNIT`,
    `${line('USD', '2025-02-18', '1.0450')}${more}`,
    `${line('USD', '2025-02-19', 'NaN')}${more}`,
    `${line('JPY', '2025-02-18', '158.41')}${more}`,
  ];
  run.publish(`\uFEFF${lines.join('\r\n')}\r\n`);
  assert.equal((await run.runs('ECB'))['status'], 'INGESTED');
  const query = QUERY.replace('ECB_EXCHANGE_RATES', 'ECB');
  assert.deepEqual(await run.rows(query), [
    { c: 'JPY', day: '2025-02-18', rate: 158.41 },
    { c: 'TRY', day: '2025-02-18', rate: null },
    { c: 'USD', day: '2025-02-18', rate: 1.045 },
    { c: 'USD', day: '2025-02-19', rate: null },
  ]);
});

test('another kind of rate goes to quarantine: it would have the index of the reference rate', async () => {
  await using run = await openRecipes();
  await run.add('ecb-exchange-rates');
  const good = line('USD', '2025-02-18', '1.0446');
  const strange = [good.replaceAll('SP00', 'EN00'), line('JPY', '2025-02-18', '0')];
  run.publish(`${[HEADER, good, ...strange].join('\n')}\n`);
  const job = await run.runs('ECB_EXCHANGE_RATES');
  assert.deepEqual([job['recordsIngested'], job['recordsQuarantined']], [1, 2]);
  assert.deepEqual(await run.rows(QUERY), [{ c: 'USD', day: '2025-02-18', rate: 1.0446 }]);
});
