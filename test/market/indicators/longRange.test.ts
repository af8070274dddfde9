// An indicator over a long range is computed in a worker thread, and answers as one over a short range does.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { indicatorOf } from '../../../market/indicators/indicators.ts';
import { send } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';

const DAYS = 1_500;
const PERIOD = 400;

const closeAt = (at: number): number => Math.round(100_000 + 30_000 * Math.sin(at / 9)) / 1_000;
const dayAt = (at: number): string =>
  new Date(Date.UTC(2020, 0, 1 + at)).toISOString().slice(0, 10);

test('the values of a window of 400 bars over 1,500 days', async () => {
  await using server = await startServer({
    seams: { clock: () => Date.parse('2024-03-01T20:00:00Z') },
  });
  const records = Array.from({ length: DAYS }, (_, at) => {
    const close = closeAt(at);
    const prices = { open: close, high: close + 1, low: close - 1, close };
    return { symbol: 'AAA', date: dayAt(at), ...prices, volume: 100 };
  });
  const loaded = await send(server, 'POST', '/data/CORE/HISTORICAL_PRICES?wait=true', records);
  assert.equal(loaded.status, 200, loaded.text);
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
