// Data points: the list of a symbol, and one of them as plain text (SPEC.md "Data points").
import { Type } from '../../../reads/request/schema.ts';
import {
  answerMarketPoint,
  isMarketPoint,
  listMarketPoints,
} from '../../../reads/points/marketPoints.ts';
import { listPoints } from '../../../reads/points/pointList.ts';
import { answerPoint } from '../../../reads/points/pointValue.ts';
import { SERIES_PARAMETERS } from '../../../reads/series/queryParameters.ts';
import type { Endpoint } from '../../request/endpoint.ts';

const VALUE_PARAMETERS = new Set(['cache', 'cacheTTL', 'estimate', 'maxMessages', 'asOf']);

export const dataPoints: Endpoint = {
  id: 'listDataPoints',
  method: 'GET',
  path: '/data-points/:symbol',
  token: 'publishable',
  weight: 'free',
  failures: 'data',
  inTest: true,
  summary:
    'The data points of a symbol, or of `market`: key, messages, description and last update.',
  parameters: [],
  answer: Type.Array(
    Type.Object({
      key: Type.String(),
      weight: Type.Number(),
      description: Type.String(),
      lastUpdated: Type.String(),
    }),
  ),
  handle: (call, services) =>
    isMarketPoint(call) ? listMarketPoints(call, services) : listPoints(call, services),
};

export const dataPoint: Endpoint = {
  id: 'getDataPoint',
  method: 'GET',
  path: '/data-points/:symbol/:key',
  token: 'publishable',
  weight: 'the weight in the list',
  failures: 'data',
  inTest: true,
  summary: 'One data point as plain text, such as QUOTE-LATESTPRICE; empty where it has no value.',
  parameters: SERIES_PARAMETERS.filter(({ name }) => VALUE_PARAMETERS.has(name)),
  answer: Type.String(),
  handle: (call, services) =>
    isMarketPoint(call) ? answerMarketPoint(call, services) : answerPoint(call, services),
};
