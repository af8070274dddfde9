// A symbol of the synthetic exchange has one latest price: in streams, in rules and in REST answers.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { read } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';
import { openStream, until } from '../../api/streams/listening.ts';

const EXCHANGE = { symbols: 3, years: 1, minuteDays: 1 } as const;
/** In New York: a Friday evening, a Saturday, the hour before an opening, and noon of a session. */
const MOMENTS = [
  '2026-01-30T23:00:00Z',
  '2026-01-31T17:00:00Z',
  '2026-02-02T13:00:00Z',
  '2026-02-02T17:00:00Z',
];

for (const moment of MOMENTS) {
  test(`streams and quotes agree at ${moment}`, async () => {
    const clock = (): number => Date.parse(moment);
    await using server = await startServer({ seams: { clock, exchange: EXCHANGE } });
    await server.tapedeck.exchange?.filled();
    const symbols = JSON.parse(await read(server, '/ref-data/symbols')) as readonly {
      readonly symbol: string;
    }[];
    assert.ok(symbols.length > 0);
    for (const { symbol } of symbols) {
      const stream = await openStream(server, `/last?symbols=${symbol}`);
      await until(() => stream.messages().length > 0);
      const quote = JSON.parse(await read(server, `/stock/${symbol}/quote`)) as {
        readonly latestPrice: number;
      };
      assert.equal(stream.messages().at(-1)?.['price'], quote.latestPrice, symbol);
      await stream.close();
    }
  });
}
