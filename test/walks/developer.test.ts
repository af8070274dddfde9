// A developer whose app lost its API: she changes the base URL, and what her code compares and parses is as it was.
import { expect, test } from 'vitest';
import { openStream, until } from '../api/streams/listening.ts';
import { Walk } from './walk.ts';

type Row = Readonly<Record<string, unknown>>;

test('the paths, sentences and streams that her app knows', async () => {
  const exchange = {
    TAPEDECK_DEMO: 'on',
    TAPEDECK_DEMO_SYMBOLS: '5',
    TAPEDECK_DEMO_CLOCK: 'always',
  };
  await using walk = await Walk.open(exchange);
  await walk.serve();
  const [publishable, secret] = [await walk.token('publishable'), await walk.token('secret')];
  const json = async (path: string): Promise<unknown> => {
    const { status, text } = await walk.ask(
      `${path}${path.includes('?') ? '&' : '?'}token=${publishable}`,
    );
    expect([path, status]).toEqual([path, 200]);
    return JSON.parse(text);
  };
  await until(async () => {
    const { text } = await walk.ask(`/v1/ref-data/symbols?token=${publishable}`);
    return text.startsWith('[{');
  }, 60_000);
  const symbols = (await json('/v1/ref-data/symbols')) as readonly Row[];
  const symbol = String(symbols[0]?.['symbol']);
  await until(
    async () =>
      (await walk.ask(`/v1/stock/${symbol}/chart/1m?token=${publishable}`)).text.length > 100,
    60_000,
  );

  const quote = (await json(`/stable/stock/${symbol}/quote`)) as Row;
  expect(quote).toMatchObject({ symbol, latestPrice: expect.any(Number) });
  expect(await json(`/v1/stock/${symbol.toLowerCase()}/quote/latestPrice`)).toBe(
    quote['latestPrice'],
  );
  const chart = (await json(`/v1/stock/${symbol}/chart/1m`)) as readonly Row[];
  expect(chart.at(-1)).toMatchObject({
    date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    close: expect.any(Number),
  });
  const batch = (await json(`/v1/stock/market/batch?symbols=${symbol}&types=quote,company`)) as Row;
  expect(Object.keys(batch)).toEqual([symbol]);
  expect(await json(`/v1/stock/${symbol}/price`)).toEqual(expect.any(Number));

  const told = async (path: string): Promise<readonly [number, string]> => {
    const { status, text } = await walk.ask(path);
    return [status, text];
  };
  expect(await told(`/v1/stock/NOSUCH/quote?token=${publishable}`)).toEqual([
    404,
    'Unknown symbol',
  ]);
  expect(await told(`/v1/stock/${symbol}/quote?token=pk_wrong`)).toEqual([
    403,
    'The API key provided is not valid.',
  ]);
  expect(await told(`/v1/stock/${symbol}/quote`)).toEqual([
    401,
    'An API key is required to access this data and no key was provided',
  ]);
  expect(await told(`/v1/account/metadata?token=${publishable}`)).toEqual([
    401,
    'The secret key is required to access this endpoint',
  ]);

  const before = await used(walk, secret);
  const one = await walk.ask(`/v1/stock/${symbol}/quote?token=${publishable}`);
  const cost = Number(one.headers.get('svccloud-messages-used'));
  expect((await used(walk, secret)) - before).toBe(cost);

  const door = { base: walk.base, publishable };
  const quotes = await openStream(door, `/stocksUS1Second?symbols=${symbol}`);
  await until(() => quotes.messages().length > 0, 20_000);
  expect(quotes.text()).toMatch(/^data: \[\{[^\r\n]+\}\]\r\n\r\n/);
  expect(quotes.messages()[0]).toMatchObject({ symbol, latestPrice: expect.any(Number) });
  // A symbol has a tick in some ten seconds; of all there is one in two.
  const tops = await openStream(door, '/tops?nosnapshot=true');
  await until(() => tops.messages().length > 1, 30_000);
  expect(tops.messages().at(-1)).toMatchObject({ bidPrice: expect.any(Number) });
  for (const stream of [quotes, tops]) await stream.close();
});

async function used(walk: Walk, secret: string): Promise<number> {
  const { text } = await walk.ask(`/v1/account/metadata?token=${secret}`);
  return Number((JSON.parse(text) as Row)['messagesUsed']);
}
