// A developer whose app lost its API: she changes the base URL, and the values that her code reads are equal.
import { expect, test } from 'vitest';
import { openStream, until } from '../../api/streams/listening.ts';
import { Walk } from './walk.ts';

type Row = Readonly<Record<string, unknown>>;

const NUMBER: unknown = expect.any(Number);

test('the paths, sentences and streams that her app uses', async () => {
  await using walk = await Walk.open({
    TAPEDECK_DEMO: 'on',
    TAPEDECK_DEMO_SYMBOLS: '5',
    TAPEDECK_DEMO_CLOCK: 'always',
  });
  await walk.serve();
  const publishable = await walk.token('publishable');
  const symbol = await firstSymbol(walk, publishable);
  await prices(walk, symbol, publishable);
  await sentences(walk, symbol, publishable);
  await money(walk, symbol, publishable);
  await streams(walk, symbol, publishable);
});

const withToken = (path: string, token: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}token=${token}`;

/** Waits until the exchange, which fills itself, has bars. */
async function firstSymbol(walk: Walk, token: string): Promise<string> {
  let symbol = '';
  await until(async () => {
    const { text } = await walk.ask(withToken('/v1/ref-data/symbols', token));
    if (!text.startsWith('[{')) return false;
    symbol = String((JSON.parse(text) as readonly Row[])[0]?.['symbol']);
    return (await walk.ask(withToken(`/v1/stock/${symbol}/chart/1m`, token))).text.length > 100;
  }, 60_000);
  return symbol;
}

async function prices(walk: Walk, symbol: string, token: string): Promise<void> {
  const json = async (path: string): Promise<unknown> => {
    const { status, text } = await walk.ask(withToken(path, token));
    expect([path, status]).toEqual([path, 200]);
    return JSON.parse(text);
  };
  const quote = (await json(`/stable/stock/${symbol}/quote`)) as Row;
  expect(quote).toMatchObject({ symbol, latestPrice: NUMBER });
  const chart = (await json(`/v1/stock/${symbol}/chart/1m`)) as readonly Row[];
  const date: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  expect(chart.at(-1)).toMatchObject({ date, close: NUMBER });
  const types = `/v1/stock/market/batch?symbols=${symbol}&types=quote,company`;
  expect(Object.keys((await json(types)) as Row)).toEqual([symbol]);
  expect(await json(`/v1/stock/${symbol}/price`)).toEqual(NUMBER);
  expect(await json(`/v1/stock/${symbol.toLowerCase()}/quote/latestPrice`)).toEqual(NUMBER);
}

async function sentences(walk: Walk, symbol: string, token: string): Promise<void> {
  const readAnswer = async (path: string): Promise<readonly [number, string]> => {
    const { status, text } = await walk.ask(path);
    return [status, text];
  };
  const quote = `/v1/stock/${symbol}/quote`;
  const missing = 'An API key is required to access this data and no key was provided';
  const secret = 'The secret key is required to access this endpoint';
  const wrong = 'The API key provided is not valid.';
  const unknown = withToken('/v1/stock/NOSUCH/quote', token);
  expect(await readAnswer(unknown)).toEqual([404, 'Unknown symbol']);
  expect(await readAnswer(withToken(quote, 'pk_wrong'))).toEqual([403, wrong]);
  expect(await readAnswer(quote)).toEqual([401, missing]);
  expect(await readAnswer(withToken('/v1/account/metadata', token))).toEqual([401, secret]);
}

/** Checks that the account is charged what the header reports. */
async function money(walk: Walk, symbol: string, token: string): Promise<void> {
  const secret = await walk.token('secret');
  const used = async (): Promise<number> => {
    const { text } = await walk.ask(withToken('/v1/account/metadata', secret));
    return Number((JSON.parse(text) as Row)['messagesUsed']);
  };
  const before = await used();
  const { headers } = await walk.ask(withToken(`/v1/stock/${symbol}/quote`, token));
  expect((await used()) - before).toBe(Number(headers.get('svccloud-messages-used')));
}

async function streams(walk: Walk, symbol: string, publishable: string): Promise<void> {
  const door = { base: walk.base, publishable };
  const quotes = await openStream(door, `/stocksUS1Second?symbols=${symbol}`);
  await until(() => quotes.messages().length > 0, 20_000);
  expect(quotes.text()).toMatch(/^data: \[\{[^\r\n]+\}\]\r\n\r\n/);
  expect(quotes.messages()[0]).toMatchObject({ symbol, latestPrice: NUMBER });
  // Ticks begin once the history is filled, which takes processor time: a loaded machine needs a minute.
  const tops = await openStream(door, '/tops?nosnapshot=true');
  await until(() => tops.messages().length > 1, 120_000);
  expect(tops.messages().at(-1)).toMatchObject({ bidPrice: NUMBER });
  for (const stream of [quotes, tops]) await stream.close();
}
