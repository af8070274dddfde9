// Endpoints of currencies and crypto currencies.
import { answerCrypto } from '../../../reads/market/money/crypto.ts';
import {
  answerConvert,
  answerHistorical,
  answerLatest,
  answerRate,
  CONVERTED_SHAPE,
  HISTORICAL_SHAPE,
  LATEST_SHAPE,
  RATE_SHAPE,
} from '../../../reads/market/money/fx.ts';
import { FIXED_FORMATS, FIXED_PARAMETERS } from '../../../reads/market/reference/fixedPrice.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { ANY, shapedAnswer } from '../../request/rows.ts';
import type { Parameter } from '../../../reads/request/parameters.ts';

const ROW = {
  method: 'GET',
  token: 'publishable',
  failures: 'data',
  inTest: true,
  formats: FIXED_FORMATS,
} as const satisfies Partial<Endpoint>;

const SYMBOLS: Parameter = {
  kind: 'list',
  name: 'symbols',
  mayBeEmpty: true,
  help: 'Pairs of currencies, such as USDCAD; at most 100.',
};
const AS_OF: Parameter = { kind: 'text', name: 'asOf', help: 'As it was known at that moment.' };
const AMOUNT: Parameter = {
  kind: 'list',
  name: 'amount',
  mayBeEmpty: true,
  help: 'Of the first currency.',
};
const countParameter = (name: string, help: string): Parameter => ({
  kind: 'integer',
  name,
  least: 1,
  most: 1e4,
  help,
});

export const MONEY_ENDPOINTS: readonly Endpoint[] = [
  {
    ...ROW,
    id: 'getFxLatest',
    path: '/fx/latest',
    weight: '1 a pair',
    summary:
      'The latest rate of pairs of currencies: stored, inverted, or derived through a third one.',
    parameters: [SYMBOLS, AS_OF, ...FIXED_PARAMETERS],
    ...shapedAnswer(LATEST_SHAPE),
    handle: answerLatest,
  },
  {
    ...ROW,
    id: 'convertFx',
    path: '/fx/convert',
    weight: '1 a pair',
    summary: 'An amount in other currencies, at the newest rate.',
    parameters: [SYMBOLS, AMOUNT, AS_OF, ...FIXED_PARAMETERS],
    ...shapedAnswer(CONVERTED_SHAPE),
    handle: answerConvert,
  },
  {
    ...ROW,
    id: 'getFxHistorical',
    path: '/fx/historical',
    weight: '1 a pair',
    summary: 'Rates of past days, an array for each pair, newest first.',
    parameters: [
      SYMBOLS,
      AS_OF,
      {
        kind: 'day',
        name: 'from',
        help: 'First day.',
      },
      {
        kind: 'day',
        name: 'to',
        help: 'Last day.',
      },
      {
        kind: 'day',
        name: 'on',
        help: 'One day.',
      },
      countParameter('first', 'The first days of these.'),
      countParameter('last', 'The last days of these.'),
      ...FIXED_PARAMETERS,
    ],
    ...shapedAnswer(HISTORICAL_SHAPE),
    handle: answerHistorical,
  },
  {
    ...ROW,
    id: 'getFxRate',
    path: '/fx/rate/:from/:to',
    weight: '1 a call',
    summary: 'The newest rate of one pair.',
    parameters: FIXED_PARAMETERS,
    ...shapedAnswer(RATE_SHAPE),
    handle: answerRate,
  },
  {
    ...ROW,
    id: 'getCrypto',
    path: '/crypto/:symbol/:part',
    weight: '1 a call',
    summary: 'Quote, price or book of a crypto currency: part is quote, price or book.',
    parameters: FIXED_PARAMETERS,
    answer: ANY,
    handle: answerCrypto,
  },
];
