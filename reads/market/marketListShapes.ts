// Defines shapes of answers of the whole market that no type of a symbol has.
import { buildBoard, sectorsOf, volumesOf } from '../../market/board/board.ts';
import type { Row } from '../../market/derive/values.ts';
import { EXAMPLE_DAY, EXAMPLE_SYMBOL, observeRow } from '../../market/types/observed.ts';
import {
  listShape,
  objectShape,
  orNull,
  type Shape,
  withNullTypes,
} from '../../market/types/shape.ts';
import { recordShape, type FindShape } from '../../market/types/shapes.ts';

export const sectorShape = (): Shape =>
  listShape(
    observeRow('SectorPerformance', (rows) => {
      const companies = new Map<string, Row>(rows('COMPANY').map((row) => [EXAMPLE_SYMBOL, row]));
      const board = buildBoard(rows('HISTORICAL_PRICES'), rows('SPLITS'), EXAMPLE_DAY);
      return sectorsOf(board, companies, EXAMPLE_DAY);
    }),
  );

/** Members that only a feed with separate tapes can fill. */
const TAPE_MEMBERS = ['tapeA', 'tapeB', 'tapeC'];

export const volumeShape = (): Shape =>
  withNullTypes(
    listShape(
      observeRow('MarketVolume', (rows) =>
        [0, 100].flatMap((volume) =>
          volumesOf([{ mic: 'XNYS', volume, lastUpdated: 0 }], rows('VENUES')),
        ),
      ),
    ),
    TAPE_MEMBERS,
  );

/** Earnings records, each with a quote. */
export function todayShape(called: FindShape): Shape {
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
