// Builds rows of the market's document for the whole market, batches of types, and lists that a path names.
import { mapShape, type Shape } from '../../../market/types/shape.ts';
import { pascal, type FindShape } from '../../../market/types/shapes.ts';
import { MARKET_LIST_VARIANTS } from '../../../reads/market/marketLists.ts';
import { CRYPTO_SHAPES } from '../../../reads/market/money/crypto.ts';
import { LIST_SHAPES } from '../../../reads/market/reference/lists.ts';
import { EVENTS, EVENTS_SHAPE } from '../../../reads/stock/events.ts';
import { CHANNEL_SHAPES } from '../../../reads/streams/liveShapes.ts';
import type { TypeRow } from './typeRow.ts';
import type { DocumentedType } from './typeRows.ts';

export const otherRows = (
  types: readonly DocumentedType[],
  called: FindShape,
): readonly TypeRow[] => [
  ...batchRows(types),
  ...MARKET_LIST_VARIANTS.map(({ name, parts, shape, weight }): TypeRow => ({
    ...row('getStock', `/stock/market/${name}`, `${name} of the whole market.`, shape(called)),
    ...(parts === undefined ? {} : { path: `/stock/market/${name}/:${name}` }),
    ...(parts === undefined ? {} : { segments: { [name]: parts } }),
    weight: `${weight} for each`,
    parameters: PARAMETERS[name] ?? [],
  })),
  {
    ...row(
      'getStock',
      `/stock/:symbol/${EVENTS}`,
      'Upcoming events of several kinds.',
      EVENTS_SHAPE,
    ),
    parameters: ['exactDate', 'symbols', 'asOf', 'maxMessages'],
  },
  ...[...LIST_SHAPES].map(([name, shape]) => {
    const endpointId = name.endsWith('/symbols') ? 'getSymbolsOfKind' : 'getReferenceList';
    return row(endpointId, `/ref-data/${name}`, `Reference data: ${name}.`, shape);
  }),
  ...[...CRYPTO_SHAPES].map(([name, shape]) =>
    row('getCrypto', `/crypto/:symbol/${name}`, `${name} of a crypto currency.`, shape),
  ),
  ...[...CHANNEL_SHAPES].map(([name, shape]) =>
    row('getDeepPart', `/deep/${name}`, `Channel ${name} of deep.`, shape),
  ),
];

/** Parameters of types of the whole market. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  list: ['listLimit', 'displayPercent'],
  collection: ['collectionName', 'listLimit', 'displayPercent'],
};

const row = (id: string, path: string, summary: string, shape: Shape): TypeRow => ({
  endpointId: id,
  operationName: buildOperationNameOfPath(path),
  path,
  summary,
  shape,
});

/** `/ref-data/iex/symbols` as `RefDataIexSymbols`. */
const buildOperationNameOfPath = (path: string): string =>
  pascal(
    path
      .split('/')
      .filter((part) => part !== '' && !part.startsWith(':'))
      .join('-'),
  );

/** An object by the names of the requested types; with several symbols, by symbol first. */
function batchRows(types: readonly DocumentedType[]): readonly TypeRow[] {
  const properties = Object.fromEntries(types.map(({ name, whole }) => [name, whole]));
  const shape: Shape = { $id: 'StockTypes', type: 'object', properties };
  return [
    row('getStockBatch', '/stock/:symbol/batch', 'Several types of a symbol.', shape),
    row(
      ...(['getStockBatch', '/stock/market/batch', 'Several types of several symbols.'] as const),
      mapShape(shape),
    ),
  ];
}
