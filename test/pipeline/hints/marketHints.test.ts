// Hints about files for inputs of the market, followed literally: over HTTP, as a push and by `core load`.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { send } from '../../base/client.ts';
import { coreFolder, type CoreFolder } from '../../market/inputs/coreFolder.ts';
import { commandsIn, type Hint, hintsIn } from './followHints.ts';

let core: CoreFolder;
beforeAll(async () => {
  core = await coreFolder();
  const splits = ['ADJA', 'ADJB', 'ADJC', 'ADJD', 'ADJP', 'TRDA', 'TRDB'];
  const lines = splits.map((symbol) => `${symbol},2024-06-10,1,10`);
  const file = await core.write('splits.csv', 'symbol,exDate,fromFactor,toFactor', ...lines);
  await core.loaded(file, '--as', 'SPLITS');
});
afterAll(async () => core[Symbol.asyncDispose]());

const AS = ['--as', 'HISTORICAL_PRICES'] as const;

async function post(
  body: string,
  query: Readonly<Record<string, string>>,
  input = 'HISTORICAL_PRICES',
): Promise<{ readonly status: number; readonly output: string }> {
  const all = new URLSearchParams({ wait: 'true', token: core.server.secret, ...query });
  const url = `${core.server.base}/v1/data/CORE/${input}?${all}`;
  const answer = await fetch(url, { method: 'POST', body });
  const { message, notes = [] } = (await answer.json()) as {
    readonly message: string;
    readonly notes?: readonly string[];
  };
  return { status: answer.status, output: [message, ...notes].join('\n') };
}

async function rowsOf(symbol: string, ...names: readonly string[]): Promise<readonly unknown[]> {
  const path = `/data/CORE/HISTORICAL_PRICES/${symbol}?last=9&sort=asc`;
  const rows = (await core.get(path)) as readonly object[];
  return rows.map((row) => names.map((name) => Reflect.get(row, name) as unknown));
}

const bars = (symbol: string, ...closes: readonly number[]): string =>
  `symbol,date,close\n${symbol},2024-06-07,${closes[0]}\n${symbol},2024-06-10,${closes[1]}\n`;

const only = (hints: readonly Hint[], name: string): Hint => {
  const namedHint = hints.find(({ query }) => Object.hasOwn(query, name));
  assert.ok(namedHint !== undefined, `${name}: ${JSON.stringify(hints)}`);
  return namedHint;
};

test('closes that contradict a split: declared, or confirmed', async () => {
  const refused = await post(bars('ADJA', 120.8, 121.7), {});
  assert.equal(refused.status, 400, refused.output);
  const hints = hintsIn(refused.output);
  const [declared, confirmed] = [only(hints, 'constants'), only(hints, 'confirmAdjustment')];
  const cases = [
    { symbol: 'ADJA', hint: declared, isSplitAdjusted: true },
    { symbol: 'ADJB', hint: confirmed, isSplitAdjusted: null },
  ];
  for (const { hint, isSplitAdjusted, symbol } of cases) {
    const stored = await post(bars(symbol, 120.8, 121.7), hint.query);
    assert.equal(stored.status, 200, stored.output);
    const expected = [
      ['2024-06-07', 120.8, isSplitAdjusted],
      ['2024-06-10', 121.7, isSplitAdjusted],
    ];
    assert.deepEqual(await rowsOf(symbol, 'date', 'close', 'isSplitAdjusted'), expected);
    const other = symbol === 'ADJA' ? 'ADJC' : 'ADJD';
    const file = await core.write('bars.csv', bars(other, 120.8, 121.7));
    await core.loaded(file, ...AS, ...hint.options);
    assert.deepEqual(await rowsOf(other, 'date', 'close', 'isSplitAdjusted'), expected);
  }
});

test('a push of such closes takes the same parameter, and the same member', async () => {
  const records = (more: object): object[] => [
    { symbol: 'ADJP', date: '2024-06-07', close: 120.8, note: 1, ...more },
    { symbol: 'ADJP', date: '2024-06-10', close: 121.7, note: 1, ...more },
  ];
  const push = (query: string, more: object = {}): ReturnType<typeof send> =>
    send(
      core.server,
      'POST',
      `/record/CORE/HISTORICAL_PRICES?duplicates=reject&${query}`,
      records(more),
    );
  const refused = await push('');
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /set isSplitAdjusted to true in each record/);
  const { message } = JSON.parse(refused.text) as { readonly message: string };
  const confirmed = only(hintsIn(message), 'confirmAdjustment');
  const stored = await push(`${new URLSearchParams(confirmed.query)}`);
  assert.equal(stored.status, 200, stored.text);
  assert.deepEqual(await rowsOf('ADJP', 'close'), [[120.8], [121.7]]);
  const declared = await push('', { isSplitAdjusted: true, symbol: 'ADJC', date: '2024-06-11' });
  assert.equal(declared.status, 200, declared.text);
});

test('closes as traded that are declared adjusted: the hint leaves the declaration out', async () => {
  const query = { constants: '{"isSplitAdjusted":true}' };
  const refused = await post(bars('TRDA', 1208.8, 121.7), query);
  assert.match(refused.output, /: leave out isSplitAdjusted \(--adjusted\), or confirm it/);
  assert.equal((await post(bars('TRDA', 1208.8, 121.7), {})).status, 200);
  assert.deepEqual(await rowsOf('TRDA', 'close', 'isSplitAdjusted'), [
    [1208.8, null],
    [121.7, null],
  ]);
});

test('the vendor of a note declares the kind of the closes', async () => {
  const header = 'Date,Open,High,Low,Close,Adj Close,Volume';
  const body = `${header}\n2024-01-30,1,2,0.5,1.5,1.25,100\n`;
  const query = { guess: 'true', constants: '{"symbol":"YAH"}' };
  const noted = await post(body, query);
  const hint = only(hintsIn(noted.output), 'vendor');
  assert.equal((await post(body, { ...query, ...hint.query })).status, 200);
  assert.deepEqual(await rowsOf('YAH', 'close', 'fClose', 'isSplitAdjusted'), [[1.5, 1.25, true]]);
  await core.loaded(await core.write('YAC.csv', body), ...AS, ...hint.options);
  assert.deepEqual(await rowsOf('YAC', 'close', 'fClose', 'isSplitAdjusted'), [[1.5, 1.25, true]]);
});

test('two columns that may be one property: the refusal names either', async () => {
  const lines = (n: number): string[] => [
    'ticker,Trading Symbol,date,close',
    `TA${n},TB${n},2024-01-30,1.5`,
  ];
  const refused = await post(lines(0).join('\n'), { guess: 'true' });
  const hints = hintsIn(refused.output);
  assert.equal(hints.length, 2, refused.output);
  for (const [at, letter] of ['A', 'B'].entries()) {
    const stored = await post(lines(at).join('\n'), { guess: 'true', ...hints[at]?.query });
    assert.equal(stored.status, 200, stored.output);
    assert.deepEqual(await rowsOf(`T${letter}${at}`, 'close'), [[1.5]]);
    await core.loaded(
      await core.write('two.csv', ...lines(at + 2)),
      ...AS,
      ...(hints[at]?.options ?? []),
    );
    assert.deepEqual(await rowsOf(`T${letter}${at + 2}`, 'close'), [[1.5]]);
  }
});

const ACTIONS = [
  'Date;Open;High;Low;Close;Volume;Dividends;Stock Splits',
  '07/06/2024;119.77;121.69;118.02;120.888;412385790;0.0;0.0',
  '10/06/2024;120.37;123.1;117.01;121.79;314162700;0.0;10.0',
  '11/06/2024;121.77;122.87;118.74;120.91;222551200;0.01;0.0',
];

test('the commands for dividends and splits read the file as the prices were read', async () => {
  const file = await core.write("my 'act'.csv", 'downloaded; today', '', ...ACTIONS);
  const shape = ['--skip-lines', '2', '--delimiter', 'semicolon', '--date-order', 'DMY'];
  const ran = await core.loaded(file, ...AS, '--symbol', 'ACT', ...shape, '--adjusted');
  const commands = commandsIn(ran.stdout);
  assert.equal(commands.length, 2, ran.stdout);
  for (const command of commands) {
    const followed = await core.run(...command);
    assert.equal(followed.code, 0, `${command.join(' ')}: ${followed.stderr}`);
  }
  const [dividend] = (await core.get('/data/CORE/DIVIDENDS/ACT?last=9')) as readonly object[];
  assert.deepEqual(
    ['exDate', 'amount'].map((name) => Reflect.get(dividend ?? {}, name) as unknown),
    ['2024-06-11', 0.01],
  );
  const [split] = (await core.get('/data/CORE/SPLITS/ACT?last=9')) as readonly object[];
  assert.deepEqual(
    ['exDate', 'fromFactor', 'toFactor'].map((name) => Reflect.get(split ?? {}, name) as unknown),
    ['2024-06-10', 1, 10],
  );
});

test('the note of a load names the inputs that the file is loaded into again', async () => {
  const body = ACTIONS.join('\n').replaceAll(';', ',').replaceAll('ACT', 'API');
  const query = { guess: 'true', dateOrder: 'DMY', constants: '{"symbol":"API"}' };
  const { output } = await post(body, query);
  const inputs = [...output.matchAll(/load the file again as ([A-Z]+)/g)].map(
    ([, input = '']) => input,
  );
  assert.deepEqual(inputs, ['DIVIDENDS', 'SPLITS']);
  for (const input of inputs) {
    const stored = await post(body, query, input);
    assert.equal(stored.status, 200, stored.output);
    assert.equal(((await core.get(`/data/CORE/${input}/API?last=9`)) as unknown[]).length, 1);
  }
});

test('values that no column has are set with the options that the refusal names', async () => {
  const file = await core.write('nothing.csv', 'Day,Mid', '2024-01-30,2.5');
  const refused = await core.load([file, ...AS, '--yes']);
  assert.match(refused.stderr, /no column or value for symbol, close/);
  const symbol = /--symbol \w+/.exec(refused.stderr)?.[0].split(' ') ?? [];
  const map =
    /--map COLUMN=close/.exec(refused.stderr)?.[0].replace('COLUMN', 'Mid').split(' ') ?? [];
  await core.loaded(file, ...AS, ...symbol, ...map);
  assert.deepEqual(await rowsOf('AAPL', 'date', 'close'), [['2024-01-30', 2.5]]);
  const set = /--set close=VALUE/.exec(refused.stderr)?.[0].replace('VALUE', '7').split(' ') ?? [];
  await core.loaded(file, ...AS, ...symbol, ...set);
  assert.deepEqual(await rowsOf('AAPL', 'date', 'close'), [['2024-01-30', 7]]);
  const wide = await core.write('wide.csv', 'date,wida,widb', '2024-01-30,1.5,2.5');
  const lacking = await core.load([wide, ...AS, '--yes']);
  const option = /--wide close/.exec(lacking.stderr)?.[0].split(' ') ?? [];
  await core.loaded(wide, ...AS, ...option);
  assert.deepEqual(
    [await rowsOf('WIDA', 'close'), await rowsOf('WIDB', 'close')],
    [[[1.5]], [[2.5]]],
  );
});
