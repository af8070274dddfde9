// Statistics of the exchange, option contracts and futures.
import {
  answerDaily,
  answerHistorical,
  answerIntraday,
  answerRecent,
  answerRecords,
  DAILY_SHAPE,
  INTRADAY_SHAPE,
  MONTH_SHAPE,
  RECENT_SHAPE,
  RECORDS_SHAPE,
} from '../../../reads/market/reference/exchangeStats.ts';
import { FIXED_FORMATS, FIXED_PARAMETERS } from '../../../reads/market/reference/fixedPrice.ts';
import { answerFutures, FUTURE_SHAPE } from '../../../reads/market/reference/futures.ts';
import {
  answerOptionMonths,
  answerOptionSymbols,
  OPTION_SYMBOL_SHAPE,
} from '../../../reads/market/reference/optionSymbols.ts';
import { listShape, mapShape } from '../../../market/types/shape.ts';
import { shapedAnswer } from '../../request/rows.ts';
import type { Call, Endpoint } from '../../request/endpoint.ts';
import type { Parameter } from '../../../reads/request/parameters.ts';
import { Failure } from '../../../store/base/failure.ts';
import { CORE } from '../../../store/lake/datasets/datasets.ts';
import { timeSeries } from './read.ts';
import { DAY_OR_MONTH_RULE } from '../../../reads/market/options.ts';

const STATS = {
  method: 'GET',
  token: 'publishable',
  failures: 'data',
  weight: 'free',
  inTest: true,
  parameters: FIXED_PARAMETERS,
  formats: FIXED_FORMATS,
} as const satisfies Partial<Endpoint>;

const DATE_PATTERN = /^(\d{4}(0[1-9]|1[0-2])|\d{8}|\d{4}-\d{2}-\d{2})$/;
const dateParameter = (help: string): Parameter => ({
  kind: 'text',
  name: 'date',
  pattern: DATE_PATTERN,
  help,
  rule: DAY_OR_MONTH_RULE,
});

const LAST: Parameter = {
  kind: 'integer',
  name: 'last',
  least: 1,
  most: 90,
  help: 'The last n days; not with date.',
};

const WITH_EXPIRED: Parameter = {
  kind: 'boolean',
  name: 'includeExpired',
  help: 'true: includes expired ones.',
};

export const EXCHANGE_ENDPOINTS: readonly Endpoint[] = [
  {
    ...STATS,
    id: 'getIntradayStats',
    path: '/stats/intraday',
    summary: 'Volume, symbols and value of the trades of the newest day.',
    ...shapedAnswer(INTRADAY_SHAPE),
    handle: answerIntraday,
  },
  {
    ...STATS,
    id: 'getRecentStats',
    path: '/stats/recent',
    summary: 'The days of this month, five at least, newest first: those of input EXCHANGE_STATS.',
    ...shapedAnswer(RECENT_SHAPE),
    handle: answerRecent,
  },
  {
    ...STATS,
    id: 'getRecordStats',
    path: '/stats/records',
    summary: 'The record days, the last one, and the average of thirty.',
    ...shapedAnswer(RECORDS_SHAPE),
    handle: answerRecords,
  },
  {
    ...STATS,
    id: 'getHistoricalStats',
    path: '/stats/historical',
    summary: 'A month in averages, the last one that is over by default.',
    parameters: [dateParameter('The month, YYYYMM, or a day of it.'), ...FIXED_PARAMETERS],
    ...shapedAnswer(MONTH_SHAPE),
    handle: answerHistorical,
  },
  {
    ...STATS,
    id: 'getDailyStats',
    path: '/stats/historical/daily',
    summary: 'Days as stats/recent: the newest, the last n, one, or those of a month.',
    parameters: [dateParameter('A day, YYYYMMDD, or a month, YYYYMM.'), LAST, ...FIXED_PARAMETERS],
    ...shapedAnswer(DAILY_SHAPE),
    handle: answerDaily,
  },
  {
    ...STATS,
    id: 'getOptionMonths',
    path: '/ref-data/options/symbols',
    weight: '100 a call',
    summary: 'Months in which options of each symbol expire, YYYYMM.',
    ...shapedAnswer(mapShape(listShape({ type: 'string' }))),
    handle: answerOptionMonths,
  },
  {
    ...STATS,
    id: 'getOptionSymbols',
    path: '/ref-data/options/symbols/:symbol/:expiration?',
    weight: '100 a call',
    summary: 'Contracts of a symbol: of all expirations, or of a day or a month.',
    parameters: [WITH_EXPIRED, ...FIXED_PARAMETERS],
    ...shapedAnswer(listShape(OPTION_SYMBOL_SHAPE)),
    handle: answerOptionSymbols,
  },
  {
    ...timeSeries,
    id: 'getOptionChart',
    path: '/options/:contract/chart',
    summary: 'The days of one contract: the time series OPTIONS of it.',
    handle: (call, services) => {
      const isLoaded = services.lake.directory.dataset(CORE, OPTIONS) !== undefined;
      if (!isLoaded) throw new Failure('NotFound');
      return timeSeries.handle(withContract(call), services);
    },
  },
  {
    ...STATS,
    id: 'getFutures',
    path: '/ref-data/futures/symbols/:underlying?',
    weight: '100 a call',
    summary: 'Contracts of futures, of one underlying or of all.',
    parameters: [WITH_EXPIRED, ...FIXED_PARAMETERS],
    ...shapedAnswer(listShape(FUTURE_SHAPE)),
    handle: answerFutures,
  },
  {
    ...timeSeries,
    id: 'getFuturesChart',
    path: '/futures/:contract/chart',
    summary: 'The days of one contract of futures: the time series FUTURES_PRICES of it.',
    handle: (call, services) => {
      const isLoaded = services.lake.directory.dataset(CORE, FUTURES_PRICES) !== undefined;
      if (!isLoaded) throw new Failure('NotFound');
      const key = (call.path['contract'] ?? '').toUpperCase();
      const path = {
        ...call.path,
        id: `${CORE}.${FUTURES_PRICES}`,
        key,
      };
      return timeSeries.handle(
        {
          ...call,
          path,
        },
        services,
      );
    },
  },
];

const FUTURES_PRICES = 'FUTURES_PRICES';

const OPTIONS = 'OPTIONS';

/** Name of a contract: symbol, day, C or P, and the strike in thousandths. */
const CONTRACT = /^([^\d]{1,20})\d{6,8}[CP]\d{8}$/i;

/** @throws Failure NotFound for an invalid contract name. */
function withContract(call: Call): Call {
  const contract = (call.path['contract'] ?? '').toUpperCase();
  const key = CONTRACT.exec(contract)?.[1];
  if (key === undefined) throw new Failure('NotFound');
  return { ...call, path: { ...call.path, id: `${CORE}.${OPTIONS}`, key, subkey: contract } };
}
