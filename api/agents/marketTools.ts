// Market tools: symbols, quotes, charts, live streams, and backtests of rules.
import { matching, Type } from '../../reads/request/schema.ts';
import {
  CHARACTERS_DEFAULT,
  CHARACTERS_MAX,
  truncateRows,
  parseJson,
  toResult,
  type Tool,
} from './tool.ts';

const SYMBOL = Type.String({ minLength: 1, maxLength: 40, description: 'A symbol, such as AAPL' });
const SYMBOLS = Type.Array(SYMBOL, { minItems: 1, maxItems: 50 });
const QUOTE = [
  'symbol',
  'companyName',
  'latestPrice',
  'change',
  'changePercent',
  'previousClose',
  'latestVolume',
  'latestUpdate',
  'week52High',
  'week52Low',
  'peRatio',
  'marketCap',
].join(',');
const BAR = 'date,minute,open,high,low,close,volume';
const LISTEN_SECONDS_MAX = 30;
const CHART_ROWS_MAX = 400;

export const searchSymbols: Tool = {
  name: 'search_symbols',
  title: 'Search symbols',
  description: 'Symbols and securities by a part of their symbol or name.',
  input: Type.Object(
    { text: Type.String({ minLength: 1, maxLength: 100 }) },
    { additionalProperties: false },
  ),
  run: async ({ text }, { send }) => {
    const path = `/search/${encodeURIComponent(String(text))}`;
    const query = { format: 'csv', filter: 'symbol,securityName,securityType,exchange,sector' };
    return toResult(await send({ method: 'GET', path, query }), (csv) =>
      truncateRows(csv, CHARACTERS_DEFAULT, 50),
    );
  },
};

export const getQuotes: Tool = {
  name: 'get_quotes',
  title: 'Quotes',
  description:
    'The newest price of up to 50 symbols, its change, and the range of a year. Costs 1 for each.',
  input: Type.Object({ symbols: SYMBOLS }, { additionalProperties: false }),
  run: async ({ symbols }, { send }) => {
    const query = {
      symbols: (symbols as readonly string[]).join(','),
      types: 'quote',
      filter: QUOTE,
    };
    return toResult(await send({ method: 'GET', path: '/stock/market/batch', query }), (text) => {
      const quotes = (parseJson(text) ?? {}) as Readonly<Record<string, { quote?: object }>>;
      const unknown = (symbols as readonly string[]).filter(
        (symbol) => !Object.hasOwn(quotes, symbol.trim().toUpperCase()),
      );
      const lines = Object.values(quotes).map(({ quote }) => JSON.stringify(quote));
      const rest = unknown.length === 0 ? [] : [`unknown symbols: ${unknown.join(', ')}`];
      return [...lines, ...rest].join('\n');
    });
  },
};

export const getChart: Tool = {
  name: 'get_chart',
  title: 'Chart',
  description:
    'Bars of a symbol as csv, oldest first: days for 5d, 1m, 3m, 6m, ytd, 1y, 2y, 5y and ' +
    'max, minutes for 1d. Costs by the bar; ' +
    'every: only each nth bar.',
  input: Type.Object(
    {
      symbol: SYMBOL,
      range: Type.Union(
        ['1d', '5d', '1m', '3m', '6m', 'ytd', '1y', '2y', '5y', 'max'].map((one) =>
          Type.Literal(one),
        ),
      ),
      every: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
      characters: Type.Optional(Type.Integer({ minimum: 200, maximum: CHARACTERS_MAX })),
    },
    { additionalProperties: false },
  ),
  run: async ({ characters = CHARACTERS_DEFAULT, every, range, symbol }, { send }) => {
    const path = `/stock/${encodeURIComponent(String(symbol))}/chart/${String(range)}`;
    const chartInterval = every === undefined ? undefined : Number(every);
    const query = { format: 'csv', filter: BAR, chartInterval };
    const response = await send({ method: 'GET', path, query });
    return toResult(response, (text) => truncateRows(text, Number(characters), CHART_ROWS_MAX));
  },
};

export const listenOnce: Tool = {
  name: 'listen_once',
  title: 'What happens next',
  description:
    `Listens to a stream for up to ${LISTEN_SECONDS_MAX} s, and answers the first messages: ` +
    `stocksUS, last, tops, news-stream, forex and others. ` +
    'Costs each message; streams are for paid tiers.',
  input: Type.Object(
    {
      stream: Type.String({
        minLength: 1,
        maxLength: 60,
        ...matching(/^[A-Za-z0-9-]+$/u, 'the name of a stream, such as tops'),
      }),
      symbols: SYMBOLS,
      messages: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
      seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: LISTEN_SECONDS_MAX })),
    },
    { additionalProperties: false },
  ),
  run: async ({ messages = 1, seconds = 10, stream, symbols }, { readStream }) => {
    const messageCount = Number(messages);
    const splitFrames = (text: string): readonly string[] =>
      text.split('\r\n\r\n').filter((frame) => frame.startsWith('data: '));
    const query = new URLSearchParams({ symbols: (symbols as readonly string[]).join(',') });
    const response = await readStream(
      `/${String(stream)}?${query}`,
      (text) => splitFrames(text).length >= messageCount,
      Number(seconds) * 1_000,
    );
    if (response.status >= 400) return toResult(response);
    const frames = splitFrames(response.text).slice(0, 100);
    const text = frames.map((frame) => frame.slice('data: '.length)).join('\n');
    // A stream is charged when it ends: each message that was sent costs one.
    return { text: text === '' ? 'nothing happened' : text, messages: frames.length, premium: 0 };
  },
};

export const testRule: Tool = {
  name: 'test_rule',
  title: 'Backtest a rule',
  description:
    'When conditions on a symbol would have fired, by past minutes or days, and what ' +
    'the alerts would have cost. ' +
    'Needs a secret token; costs the bars that it runs over. It creates no rule.',
  input: Type.Object(
    {
      symbol: SYMBOL,
      conditions: Type.Array(
        Type.Tuple([
          Type.String({ maxLength: 100 }),
          Type.String({ maxLength: 20 }),
          Type.Union([Type.Number(), Type.String({ maxLength: 200 }), Type.Boolean()]),
        ]),
        { minItems: 1, maxItems: 20, description: 'Such as [["changePercent", "<", -2]]' },
      ),
      match: Type.Optional(Type.Union([Type.Literal('all'), Type.Literal('any')])),
      step: Type.Optional(Type.Union([Type.Literal('minute'), Type.Literal('day')])),
      from: Type.Optional(Type.String({ maxLength: 10, description: 'YYYY-MM-DD' })),
      to: Type.Optional(Type.String({ maxLength: 10, description: 'YYYY-MM-DD' })),
      maxMessages: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
    },
    { additionalProperties: false },
  ),
  run: async (
    { conditions, from, match = 'all', maxMessages = 1_000, step, symbol, to },
    { send },
  ) => {
    const rule = { ruleSet: symbol, type: match, ruleName: 'test', conditions };
    const period = Object.fromEntries(
      Object.entries({ from, to, step }).filter(([, value]) => value !== undefined),
    );
    const response = await send({
      method: 'POST',
      path: '/rules/backtest',
      body: JSON.stringify({
        ...rule,
        ...period,
      }),
      query: { maxMessages: Number(maxMessages) },
    });
    return toResult(response, (text) => text.slice(0, CHARACTERS_DEFAULT));
  },
};
