// The market's volume by venue covers the whole latest day, with any number of trades.
import assert from 'node:assert/strict';
import { expect } from 'vitest';
import { get } from '../base/client.ts';
import { test } from '../base/fixtures.ts';
import { startServer, type TestServer } from '../base/server.ts';

/** Thursday, 29 February 2024, 14:00 in New York. */
const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const TRADES = 250_000;

async function load(server: TestServer, dataset: string, lines: readonly string[]): Promise<void> {
  const url = `${server.base}/v1/data/CORE/${dataset}?wait=true&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: lines.join('\n') });
  assert.equal(answer.status, 200, await answer.text());
}

const volumes = async (server: TestServer, query = ''): Promise<readonly object[]> => {
  const answer = await get(server, `/stock/market/volume${query}`);
  assert.equal(answer.status, 200);
  return (await answer.json()) as readonly object[];
};

test('it counts more trades than one read returns', async () => {
  await using server = await startServer({ seams: { clock: () => NOW_MS } });
  const opened = Date.parse('2024-02-29T05:00:00Z');
  const timeOf = (ms: number): string => new Date(opened + ms).toISOString();
  await load(server, 'TRADES', [
    'symbol,time,tradeId,price,size,venue',
    // One day earlier, in the exchange's time zone.
    `AAA,${timeOf(-1)},before,1,1000000,XNYS`,
    ...Array.from({ length: TRADES }, (_, at) => {
      const venue = at % 5 === 0 ? 'XNAS' : 'XNYS';
      return `${at % 2 === 0 ? 'AAA' : 'BBB'},${timeOf(at * 100)},${at},10,${(at % 3) + 1},${venue}`;
    }),
  ]);
  await load(server, 'VENUES', ['mic,name,tapeId', 'XNAS,NASDAQ,Q']);
  const sizes = Array.from({ length: TRADES }, (_, at) => [at % 5 === 0, (at % 3) + 1] as const);
  const sum = (isFirst: boolean): number =>
    sizes.reduce((all, [is, size]) => all + (is === isFirst ? size : 0), 0);
  const [first, other] = [sum(true), sum(false)];
  const share = (volume: number): number => Number((volume / (first + other)).toFixed(5));
  expect(await volumes(server)).toMatchObject([
    { mic: 'XNYS', venueName: 'XNYS', volume: other, marketPercent: share(other), tapeId: null },
    { mic: 'XNAS', venueName: 'NASDAQ', volume: first, marketPercent: share(first), tapeId: 'Q' },
  ]);
  const [newest] = await volumes(server);
  expect(newest).toMatchObject({ lastUpdated: opened + (TRADES - 1) * 100 });
});

test('it counts trades without a venue, and answers asOf', async () => {
  await using server = await startServer({ seams: { clock: () => NOW_MS } });
  await load(server, 'TRADES', [
    'symbol,time,tradeId,price,size',
    'AAA,2024-02-29T18:00:00Z,1,9,5',
  ]);
  const one = [{ mic: '', volume: 5, marketPercent: 1 }];
  expect(await volumes(server)).toMatchObject(one);
  const { snapshot } = server.tapedeck.services.lake;
  await load(server, 'TRADES', [
    'symbol,time,tradeId,price,size',
    'AAA,2024-02-29T18:01:00Z,2,9,7',
  ]);
  expect(await volumes(server)).toMatchObject([{ volume: 12 }]);
  expect(await volumes(server, `?asOf=${snapshot}`)).toMatchObject(one);
});
