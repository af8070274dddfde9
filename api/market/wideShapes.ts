// The shapes of what is told of the whole market and not by a type of a symbol.
import { boardOf, sectorsOf, volumesOf } from '../../market/board/board.ts';
import type { Row } from '../../market/derive/values.ts';
import { EXAMPLE_DAY, EXAMPLE_SYMBOL, observedRow } from '../../market/types/observed.ts';
import {
  listShape,
  objectShape,
  orNull,
  type Shape,
  withUntold,
} from '../../market/types/shape.ts';
import { recordShape, type ShapeCalled } from '../../market/types/shapes.ts';

export const sectorShape = (): Shape =>
  listShape(
    observedRow('SectorPerformance', (rows) => {
      const companies = new Map<string, Row>(rows('COMPANY').map((row) => [EXAMPLE_SYMBOL, row]));
      const board = boardOf(rows('HISTORICAL_PRICES'), rows('SPLITS'), EXAMPLE_DAY);
      return sectorsOf(board, companies, EXAMPLE_DAY);
    }),
  );

/** What a feed of its own tape told apart. */
const OF_TAPES = ['tapeA', 'tapeB', 'tapeC'];

export const volumeShape = (): Shape =>
  withUntold(
    listShape(
      observedRow('MarketVolume', (rows) =>
        [0, 100].flatMap((volume) =>
          volumesOf([{ mic: 'XNYS', volume, lastUpdated: 0 }], rows('VENUES')),
        ),
      ),
    ),
    OF_TAPES,
  );

/** Records of earnings, each with a quote. */
export function todayShape(called: ShapeCalled): Shape {
  const { properties, required = [], ...record } = recordShape('EARNINGS');
  const row: Shape = {
    ...record,
    $id: 'TodayEarnings',
    properties: {
      ...properties,
      quote: orNull(called('Quote')),
    },
    required: [...required, 'quote'],
  };
  return objectShape({ bto: listShape(row), amc: listShape(row), other: listShape(row) });
}
