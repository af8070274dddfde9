// The stock endpoints: one type of a symbol, or several types of one or many (SPEC.md "Batch").
import { Type } from '../../../reads/request/schema.ts';
import { volumeShape } from '../../../reads/market/marketListShapes.ts';
import { shapedAnswer } from '../../request/rows.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { answerStock } from '../../../reads/stock/stock.ts';
import { answerStockBatch } from '../../../reads/stock/stockBatch.ts';
import { STOCK_PARAMETERS } from '../../../reads/stock/stockParameters.ts';

const RECORD = Type.Object({}, { additionalProperties: true });

const ROW = {
  method: 'GET',
  token: 'publishable',
  weight: "the weight of each type's dataset for each record",
  failures: 'data',
} as const satisfies Partial<Endpoint>;

export const stockBatch: Endpoint = {
  ...ROW,
  id: 'getStockBatch',
  path: '/stock/:symbol/batch',
  // The path of a client library of the original (INTERFACE.md 6).
  aliases: ['/stock/:symbol/batch/batch'],
  inTest: true,
  summary:
    'Several types of a symbol; with the word market in its place, of all `symbols`, by symbol.',
  parameters: [
    { kind: 'list', name: 'types', help: 'Comma list of at most 10 types.', mayBeEmpty: true },
    ...STOCK_PARAMETERS,
  ],
  answer: RECORD,
  handle: answerStockBatch,
};

export const stock: Endpoint = {
  ...ROW,
  id: 'getStock',
  path: '/stock/:symbol/:type/:part?/:detail?',
  aliases: ['/stock/:symbol/:type/last/:part'],
  inTest: true,
  summary: 'One type of a symbol, such as quote, chart or earnings; `part` is its range or count.',
  parameters: STOCK_PARAMETERS,
  answer: Type.Union([RECORD, Type.Array(RECORD)]),
  formats: ['jsonl', 'csv', 'psv', 'arrow', 'parquet'],
  handle: answerStock,
};

export const marketVolume: Endpoint = {
  ...ROW,
  id: 'getMarketVolume',
  path: '/market',
  inTest: true,
  summary: 'Volume of the newest day of trades by venue, as /stock/market/volume.',
  parameters: STOCK_PARAMETERS,
  ...shapedAnswer(volumeShape()),
  formats: ['jsonl', 'csv', 'psv'],
  handle: (call, services) =>
    answerStock({ ...call, path: { ...call.path, symbol: 'market', type: 'volume' } }, services),
};
