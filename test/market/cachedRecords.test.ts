// Records of a group that are cached partly as bytes: each symbol keeps its own.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { send } from '../base/client.ts';
import { startServer } from '../base/server.ts';

const DAYS = 300;
const dayAt = (at: number): string =>
  new Date(Date.UTC(2023, 0, 1 + at)).toISOString().slice(0, 10);

test('a batch after indicators of its symbols has the bars of all of them', async () => {
  await using server = await startServer({
    seams: { clock: () => Date.parse('2024-03-01T20:00:00Z') },
  });
  const symbols = ['AAA', 'BBB', 'CCC'];
  const records = symbols.flatMap((symbol, place) =>
    Array.from({ length: DAYS }, (_, at) => {
      const close = 100 * (place + 1) + at / 8;
      const prices = { open: close, high: close + 1, low: close - 1, close };
      return { symbol, date: dayAt(at), ...prices, volume: 100_000 };
    }),
  );
  const loaded = await send(server, 'POST', '/data/CORE/HISTORICAL_PRICES?wait=true', records);
  assert.equal(loaded.status, 200, loaded.text);
  // An indicator keeps the records of its symbol as bytes, a chart keeps parsed ones.
  for (const symbol of ['AAA', 'BBB']) {
    const path = `/stock/${symbol}/indicator/sma?range=max&lastIndicator=true`;
    assert.equal((await send(server, 'GET', path)).status, 200);
  }
  assert.equal((await send(server, 'GET', '/stock/CCC/chart/max?filter=close')).status, 200);
  const path = `/stock/market/batch?symbols=${symbols.join(',')}&types=chart&range=max`;
  const batch = JSON.parse((await send(server, 'GET', path)).text) as Record<
    string,
    { readonly chart: readonly { readonly close: number }[] }
  >;
  for (const [place, symbol] of symbols.entries()) {
    const chart = batch[symbol]?.chart ?? [];
    assert.deepEqual([symbol, chart.length], [symbol, DAYS]);
    assert.equal(chart[0]?.close, 100 * (place + 1), symbol);
  }
});
