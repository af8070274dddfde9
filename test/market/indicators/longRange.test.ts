// Answers over long ranges are computed in a worker thread, and are those of short ranges.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { indicatorOf } from '../../../market/indicators/indicators.ts';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const DAYS = 1_500;
const PERIOD = 400;

const closeAt = (at: number): number => Math.round(100_000 + 30_000 * Math.sin(at / 9)) / 1_000;
const dayAt = (at: number): string =>
  new Date(Date.UTC(2020, 0, 1 + at)).toISOString().slice(0, 10);

async function startWithPrices(): Promise<TestServer> {
  const server = await startServer({
    seams: { clock: () => Date.parse('2024-03-01T20:00:00Z') },
  });
  const records = Array.from({ length: DAYS }, (_, at) => {
    const close = closeAt(at);
    const prices = { open: close, high: close + 1, low: close - 1, close };
    return { symbol: 'AAA', date: dayAt(at), ...prices, volume: 100 };
  });
  const loaded = await send(server, 'POST', '/data/CORE/HISTORICAL_PRICES?wait=true', records);
  assert.equal(loaded.status, 200, loaded.text);
  return server;
}

test('the values of a window of 400 bars over 1,500 days', async () => {
  await using server = await startWithPrices();
  for (const name of ['aroon', 'sma']) {
    const path = `/stock/AAA/indicator/${name}?range=max&input1=${PERIOD}`;
    const { status, text } = await send(server, 'GET', path);
    assert.equal(status, 200, text);
    const answer = JSON.parse(text) as {
      readonly indicator: readonly (readonly (number | null)[])[];
      readonly chart: readonly object[];
    };
    const closes = Array.from({ length: DAYS }, (_, at) => closeAt(at));
    const columns =
      name === 'sma' ? [closes] : [closes.map((one) => one + 1), closes.map((one) => one - 1)];
    const expected = indicatorOf(name)?.compute(columns, [PERIOD]) ?? [];
    assert.equal(answer.chart.length, DAYS);
    for (const [output, values] of expected.entries()) {
      for (const [at, value] of values.entries()) {
        const received = answer.indicator[output]?.[at] ?? Number.NaN;
        assert.ok(
          Object.is(received, value) || Math.abs(received - value) < 1e-6,
          `${name} ${at}: ${received} is not ${value}`,
        );
      }
    }
  }
});

test('a batch has the answers of single requests, and a refusal keeps its status', async () => {
  await using server = await startWithPrices();
  const get = async (path: string): Promise<unknown> => {
    const { status, text } = await send(server, 'GET', `/stock/AAA/${path}`);
    assert.equal(status, 200, text);
    return JSON.parse(text);
  };
  const chart = (await get('chart/max')) as readonly { readonly close: number }[];
  assert.deepEqual(
    chart.map(({ close }) => close),
    Array.from({ length: DAYS }, (_, at) => closeAt(at)),
  );
  const filtered = (await get('chart/max?filter=date')) as readonly object[];
  assert.deepEqual([filtered.length, filtered[0]], [DAYS, { date: dayAt(0) }]);
  const batch = await get('batch?types=quote,chart&range=max');
  assert.deepEqual(batch, { quote: await get('quote'), chart });
  const arrow = await send(server, 'GET', '/stock/AAA/chart/max?format=arrow&sort=desc');
  assert.equal(arrow.status, 400);
  assert.match(arrow.text, /format\\" must be json, jsonl, csv or psv/);
});
