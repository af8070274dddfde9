// While the synthetic exchange fills CORE for the first time, market routes refuse requests for missing data.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { startServer, type TestServer } from '../../base/server.ts';

/** Friday noon in New York. */
const FRIDAY = Date.parse('2026-01-30T17:00:00Z');
const SMALL = { symbols: 2, years: 2, minuteDays: 1 } as const;

async function ask(
  server: TestServer,
  path: string,
): Promise<{ readonly status: number; readonly text: string; readonly retryAfter: string | null }> {
  const separator = path.includes('?') ? '&' : '?';
  const url = `${server.base}/v1${path}${separator}token=${server.publishable}`;
  const answer = await fetch(url);
  const retryAfter = answer.headers.get('retry-after');
  return { status: answer.status, text: await answer.text(), retryAfter };
}

/** Routes of daily prices, and of inputs that are filled after them. */
const WAITING = [
  '/stock/SYNDEX/quote',
  '/stock/SYNDEX/chart/1m',
  '/stock/SYNDEX/batch?types=company,quote',
  '/stock/market/list/mostactive',
  '/stock/SYNDEX/earnings',
  '/market',
  '/fx/rate/USD/EUR',
  '/crypto/BTCUSD/quote',
  '/time-series/HISTORICAL_PRICES/SYNDEX',
  '/data/CORE/TREASURY/DGS10',
  '/data-points/SYNDEX/QUOTE-LATESTPRICE',
  '/data-points/market/DGS10',
  '/stats/recent',
  '/ref-data/options/symbols',
  '/stock/SYNDEX/peers',
  '/options/SYNDEX20260220C00100000/chart',
  '/stock/market/batch?symbols=SYNDEX&types=quote',
];

test('market routes answer 503 with the progress of the demo, until it is filled', async () => {
  await using server = await startServer({ seams: { clock: () => FRIDAY, exchange: SMALL } });
  const { exchange, services } = server.tapedeck;
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const turn = services.runner.inTurn('CORE', 'HISTORICAL_PRICES', () => gate);
  try {
    await checkWaiting(server);
  } finally {
    release();
    await turn;
  }
  await exchange?.filled();
  assert.equal((await ask(server, '/stock/SYNDEX/quote')).status, 200);
  assert.equal((await ask(server, '/stock/NONE/quote')).text, 'Unknown symbol');
});

async function checkWaiting(server: TestServer): Promise<void> {
  const { services } = server.tapedeck;
  while (services.lake.directory.dataset('CORE', 'DIVIDENDS') === undefined) {
    const early = await ask(server, '/stock/SYNDEX/quote');
    assert.deepEqual([early.status, early.text.slice(0, 20)], [503, 'the demo is filling,']);
  }
  for (const path of WAITING) {
    const { retryAfter, status, text } = await ask(server, path);
    assert.deepEqual([status, retryAfter], [503, '2'], `${path}: ${text}`);
    assert.match(text, /^the demo is filling, \d+ %: CORE\.[A-Z_]+ is not loaded yet/, path);
  }
  const company = await ask(server, '/stock/SYNDEX/company');
  assert.equal(company.status, 200, company.text);
  assert.equal((await ask(server, '/stock/SYNDEX/nonsense')).status, 404);
  assert.equal((await ask(server, '/data/CORE/NOTHING/SYNDEX')).status, 404);
  assert.equal((await ask(server, '/data/WS/HISTORICAL_PRICES')).status, 404);
}
