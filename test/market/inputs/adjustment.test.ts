// The declared adjustment of closes is checked against the stored splits.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { coreFolder, type CoreFolder } from './coreFolder.ts';

let core: CoreFolder;
beforeAll(async () => {
  core = await coreFolder();
  const splits = ['symbol,exDate,fromFactor,toFactor'];
  for (const symbol of ['TRD', 'ADJ', 'API', 'TTY']) splits.push(`${symbol},2024-06-10,1,10`);
  splits.push('SML,2024-06-10,20,21', 'REV,2024-06-10,30,1');
  await core.loaded(await core.write('splits.csv', ...splits), '--as', 'SPLITS');
});
afterAll(async () => core[Symbol.asyncDispose]());

const AS = ['--as', 'HISTORICAL_PRICES'];
const HEADER = 'symbol,date,close,volume,isSplitAdjusted';
const bars = (symbol: string, before: number, after: number, adjusted = ''): readonly string[] => [
  HEADER,
  `${symbol},2024-06-06,${before * 0.99},1000,${adjusted}`,
  `${symbol},2024-06-07,${before},1000,${adjusted}`,
  `${symbol},2024-06-10,${after},1000,${adjusted}`,
  `${symbol},2024-06-11,${after * 1.01},1000,${adjusted}`,
];

const post = async (
  body: string,
  query = '',
): Promise<{ readonly status: number; readonly text: string }> => {
  const { base, secret } = core.server;
  const url = `${base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${secret}${query}`;
  const answer = await fetch(url, { method: 'POST', body });
  return { status: answer.status, text: await answer.text() };
};

test('prices that match their declaration are loaded without a message', async () => {
  for (const [symbol, before, after, adjusted] of [
    ['TRD', 1208.88, 121.79, 'false'],
    ['ADJ', 120.888, 121.79, 'true'],
    ['SML', 100, 100, ''],
    ['REV', 1, 31, ''],
    ['NEW', 100, 10, ''],
  ] as const) {
    const ran = await core.loaded(
      await core.write(`${symbol}.csv`, ...bars(symbol, before, after, adjusted)),
      ...AS,
    );
    assert.doesNotMatch(ran.stdout, /warning|note:/, symbol);
  }
});

test('a contradiction is refused by the API, which names the parameter that confirms it', async () => {
  const adjusted = bars('API', 120.888, 121.79).join('\n');
  const refused = await post(adjusted);
  assert.equal(refused.status, 400, refused.text);
  assert.match(
    refused.text,
    /API closes at 120\.888 before and 121\.79 after its split of 2024-06-10/,
  );
  assert.match(refused.text, /declared as traded/);
  assert.match(refused.text, /confirmAdjustment=true/);
  const traded = bars('API', 1208.88, 121.79, 'true').join('\n');
  assert.match((await post(traded)).text, /declared split-adjusted/);
  const dry = JSON.parse((await post(adjusted, '&dryRun=true')).text) as { readonly error: string };
  assert.match(dry.error, /confirmAdjustment=true/);
  const confirmed = await post(adjusted, '&confirmAdjustment=true');
  assert.equal(confirmed.status, 200, confirmed.text);
  assert.match(confirmed.text, /warning: API closes at 120\.888/);
});

test('core load shows the contradiction and needs a yes', async () => {
  const file = await core.write('TTY.csv', ...bars('TTY', 120.888, 121.79));
  const alone = await core.load([file, ...AS]);
  assert.equal(alone.code, 1);
  assert.match(alone.stdout, /^warning: TTY closes at 120\.888 .* \(--adjusted\)$/m);
  const refused = await core.load([file, ...AS], 'n\n');
  assert.equal(refused.code, 1);
  const other = await core.write('TRD2.csv', ...bars('TTY', 120.888, 121.79));
  const first = await core.write('FIRST.csv', HEADER, 'FST,2024-01-02,5,1,');
  const both = await core.load([first, other, ...AS, '--yes']);
  assert.match(both.stdout + both.stderr, /confirmAdjustment=true \(--confirm-adjustment\)/);
  const loaded = await core.loaded(file, ...AS);
  assert.match(loaded.stdout, /4 records received, 4 stored/);
});

test('splits loaded after prices are compared with them', async () => {
  await core.loaded(await core.write('LATE.csv', ...bars('LATE', 120, 121)), ...AS);
  const splits = await core.write(
    'late.csv',
    'symbol,exDate,fromFactor,toFactor',
    'LATE,2024-06-10,1,10',
  );
  const ran = await core.loaded(splits, '--as', 'SPLITS');
  assert.match(ran.stdout, /note: stored prices contradict a split: LATE closes at 120 before/);
});

test('a close far from both its neighbours is reported and stored', async () => {
  const file = await core.write(
    'odd.csv',
    HEADER,
    ...[10, 11, 1100, 12, 13, 0.9, 12].map((close, at) => `ODD,2024-01-${at + 10},${close},1,`),
  );
  const ran = await core.loaded(file, ...AS);
  assert.match(ran.stdout, /note: 2 closes are 10 times or a tenth of both their neighbours: /);
  assert.match(ran.stdout, /: ODD 2024-01-12 1100, ODD 2024-01-15 0\.9;/);
  const rows = (await core.get('/data/CORE/HISTORICAL_PRICES/ODD?last=9')) as readonly object[];
  assert.equal(rows.length, 7);
});
