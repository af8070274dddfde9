// Reference data: trading days, symbols, exchanges, sectors, identifiers and search (INTERFACE.md 1).
import { Type } from '../../../reads/request/schema.ts';
import { FIXED_FORMATS, FIXED_PARAMETERS } from '../../../reads/market/reference/fixedPrice.ts';
import {
  answerIdentifiers,
  IDENTIFIERS_SHAPE,
} from '../../../reads/market/reference/identifiers.ts';
import {
  answerList,
  answerSymbolsBy,
  SECURITY_SHAPE,
  VENUE_SHAPE,
} from '../../../reads/market/reference/lists.ts';
import { answerSearch, SEARCH_RESULT_SHAPE } from '../../../reads/market/reference/search.ts';
import { answerDates } from '../../../reads/market/reference/tradingDates.ts';
import { listShape } from '../../../market/types/shape.ts';
import { shapedAnswer } from '../../request/rows.ts';
import type { Endpoint } from '../../request/endpoint.ts';

const ROW = {
  method: 'GET',
  token: 'publishable',
  failures: 'data',
  inTest: true,
  parameters: FIXED_PARAMETERS,
  formats: FIXED_FORMATS,
} as const satisfies Partial<Endpoint>;

const OBJECTS = Type.Array(Type.Object({}, { additionalProperties: true }));

export const tradingDays: Endpoint = {
  ...ROW,
  id: 'getTradingDates',
  path: '/ref-data/us/dates/:type/:direction/:last?/:startDate?',
  weight: '1 a call',
  summary:
    'Trading days or holidays of the US exchanges, 1990 to 2030: type trade or holiday, direction next ' +
    'or last, the next or last n of them from a day (YYYYMMDD) on, today by default.',
  answer: Type.Array(Type.Object({ date: Type.String(), settlementDate: Type.String() })),
  handle: answerDates,
};

export const referenceList: Endpoint = {
  ...ROW,
  id: 'getReferenceList',
  path: '/ref-data/:list',
  weight: '100 a call for symbols, otherwise 1',
  summary: 'All symbols, exchanges, sectors or tags in CORE.',
  answer: OBJECTS,
  handle: (call, services) => answerList(call.path['list'] ?? '', call, services),
};

export const symbolsOfKind: Endpoint = {
  ...ROW,
  id: 'getSymbolsOfKind',
  path: '/ref-data/:kind/symbols',
  weight: '100 a call; fx and crypto 1; iex costs nothing',
  summary: 'Symbols of a kind: iex (all of them), otc, mutual-funds, fx or crypto.',
  answer: OBJECTS,
  handle: (call, services) => answerList(`${call.path['kind'] ?? ''}/symbols`, call, services),
};

export const symbolsOf: Endpoint = {
  ...ROW,
  id: 'getSymbolsOf',
  path: '/ref-data/:by/:name/symbols',
  weight: '100 a call',
  summary: 'Symbols of a region or an exchange, by its code: by is region or exchange.',
  ...shapedAnswer(listShape(SECURITY_SHAPE)),
  handle: answerSymbolsBy,
};

export const venues: Endpoint = {
  ...ROW,
  id: 'getVenues',
  path: '/ref-data/market/us/exchanges',
  weight: '1 a call',
  summary: 'Venues of the US market, those of input VENUES.',
  ...shapedAnswer(listShape(VENUE_SHAPE)),
  handle: (call, services) => answerList('market/us/exchanges', call, services),
};

const identifierEndpoint = (kind: string): Endpoint => ({
  ...ROW,
  id: `getSymbolsBy${kind[0]?.toUpperCase() ?? ''}${kind.slice(1)}`,
  path: `/ref-data/${kind}`,
  weight: '100 a call',
  summary: `Securities of identifiers of kind ${kind}, from CORE's SYMBOLS today.`,
  parameters: [
    { kind: 'list', name: kind, help: 'Comma list of at most 1,000.', mayBeEmpty: true },
    { kind: 'boolean', name: 'mapped', help: 'By identifier, null where one is not known.' },
    ...FIXED_PARAMETERS,
  ],
  ...shapedAnswer(IDENTIFIERS_SHAPE),
  handle: (call, services) =>
    answerIdentifiers({ ...call, path: { ...call.path, kind } }, services),
});

export const identifierLists: readonly Endpoint[] = ['isin', 'figi', 'ric'].map(identifierEndpoint);

export const search: Endpoint = {
  ...ROW,
  id: 'searchSymbols',
  path: '/search/:fragment?',
  weight: '1 a call',
  summary: 'At most 50 securities by a fragment of symbol or name, the nearest first.',
  ...shapedAnswer(listShape(SEARCH_RESULT_SHAPE)),
  handle: answerSearch,
};
