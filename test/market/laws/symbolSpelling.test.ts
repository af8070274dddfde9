// One spelling of a symbol in all inputs: DuckDB and our code agree, and callers may use other spellings.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { normalizeSymbol } from '../../../store/lake/datasets/symbolSpelling.ts';
import { read, send } from '../../base/client.ts';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { symbolsLaw, symbolsStored } from './symbolsLaw.ts';

/** Stored spelling -> received spellings. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  MSFT: ['msft', ' MSFT ', 'MsFt'],
  'BRK.B': ['BRK.B', 'BRK B', 'BRK/B', 'BRK-B', 'brk-b', 'brk  b', ' brk.b'],
  'BAC-PL': ['BAC PRL', 'BAC PR L', 'BAC.PR.L', 'BAC/PRL', 'BAC-PRL', 'BAC$L', 'BACpL', 'bac-pl'],
  'BAC-PR': ['BAC PRR', 'BACpR', 'BAC-PR', 'BAC-PRR'],
  'EP-P': ['EP PR', 'EP.PR', 'EP$'],
  // Ambiguous symbols stay unchanged.
  'BAC-L': ['BAC-L', 'bac-l'],
  'VOD.L': ['VOD.L'],
  'BTC-USD': ['btc-usd'],
  'NOVO-B.CO': ['NOVO-B.CO'],
  'RCI-B.TO': ['rci-b.to'],
  '^GSPC': ['^gspc'],
  APPL: ['APPL', 'appl', 'AppL'],
  PRPR: ['PRPR'],
  'A.B': ['A B'],
};

test('a symbol has one spelling, in DuckDB and in pushes, and keeps it if loaded again', async (context) => {
  for (const [symbol, texts] of Object.entries(SPELLINGS)) {
    const same = texts.map(() => symbol);
    assert.deepEqual(texts.map(normalizeSymbol), same);
    assert.deepEqual(await symbolsStored(texts), same);
  }
  for (const seed of seedsOf(context)) {
    const { failures, notes } = await symbolsLaw({ seed, count: 2_000 });
    assert.deepEqual(failures, []);
    for (const line of notes ?? []) note(context, line);
  }
});

async function load(server: TestServer, query: string, body: string): Promise<void> {
  const url = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}${query}`;
  const answer = await fetch(url, { method: 'POST', body });
  assert.equal(answer.status, 200, await answer.text());
}

test('a symbol is the same one in every way of loading and requesting it', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const constants = encodeURIComponent(JSON.stringify({ symbol: 'brk-b' }));
  await load(
    server,
    '',
    'symbol,date,close\nBRK/B,2024-01-30,1\nBAC PRL,2024-01-30,7\nBMY-L,2024-01-30,8\n',
  );
  await load(server, `&constants=${constants}`, 'date,close\n2024-01-31,2\n');
  await load(server, '', '[{"symbol":"BRK B","date":"2024-02-01","close":3}]');
  const record = { symbol: 'brk.b', date: '2024-02-02', close: 4 };
  const pushed = await send(server, 'POST', '/record/CORE/HISTORICAL_PRICES', record);
  assert.equal(pushed.status, 200, pushed.text);
  const dash = { symbol: 'BRK-B', date: '2024-02-05', close: 5 };
  await send(server, 'POST', '/record/CORE/HISTORICAL_PRICES', dash);
  const closes = [1, 2, 3, 4, 5].map((close) => ({ close }));
  for (const symbol of ['BRK.B', 'brk-b', 'BRK%20B', 'BRK%2FB']) {
    const chart = await read(server, `/stock/${symbol}/chart/max?filter=close`);
    assert.deepEqual(JSON.parse(chart), closes, symbol);
  }
  assert.equal(await read(server, '/stock/BAC-L/price'), '7');
  assert.equal(await read(server, '/stock/BAC.PR.L/price'), '7');
  assert.equal(await read(server, '/stock/BMY-PL/price'), '8');
  const batch = await read(server, '/stock/market/batch?symbols=brk-b,BRK.B,BMY-L&types=price');
  assert.deepEqual(JSON.parse(batch), {
    'BRK-B': { price: 5 },
    'BRK.B': { price: 5 },
    'BMY-L': { price: 8 },
  });
  const answer = await fetch(`${server.base}/v1/stock/NONE-B/price?token=${server.publishable}`);
  assert.deepEqual([answer.status, await answer.text()], [404, 'Unknown symbol']);
});
