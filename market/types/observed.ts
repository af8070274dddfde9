// Derives the shape of a type's answer from computed answers: of many and few rows, with all and with only
// required properties, at several times of the day. An attribute that is null in any of them is nullable.
import { addDays } from '../../query/time/days.ts';
import type { Row } from '../derive/values.ts';
import { dayAt } from '../derive/exchangeTime.ts';
import type { Input, InputId, InputProperty } from '../inputs/inputRow.ts';
import { inputOf } from '../inputs/inputs.ts';
import type { TypeRequest } from './typeRequest.ts';
import { exampleRow } from './example.ts';
import type { Variant } from './variants.ts';
import type { MarketType } from './marketTypes.ts';
import { type Shape, shapeOf, mergeShapes } from './shape.ts';

/** Rows of an input, oldest first. */
export type Rows = (id: InputId) => readonly Row[];

/** The day of the examples. */
export const EXAMPLE_DAY = '2026-01-30';
export const EXAMPLE_SYMBOL = 'MSFT';
/** A Saturday: some prices are of such days. */
const LAST_DAY = '2026-01-31';

/** Several rows of an input allow averages, four quarters and past events. */
const DAYS = 260;
/** The first bars, for changes over years. */
const LONG_AGO = ['2020-01-31', '2023-01-31', '2024-12-31'];
const MINUTES = 30;
const QUARTERS = 4;
const SEVERAL: Readonly<Partial<Record<InputId, (row: Row) => readonly Row[]>>> = {
  HISTORICAL_PRICES: (row) => [
    ...LONG_AGO.map((date) => ({ ...row, date })),
    ...Array.from({ length: DAYS }, (_, at) => ({
      ...row,
      date: addDays(LAST_DAY, at + 1 - DAYS),
      close: 100 + (at % 7),
    })),
  ],
  INTRADAY_PRICES: (row) =>
    Array.from({ length: MINUTES }, (_, at) => ({ ...row, minute: `10:${String(at + 10)}` })),
  DIVIDENDS: (row) => [{ ...row, exDate: '2025-11-06' }, row],
  TRADES: (row) => [
    { ...row, time: '2026-01-30T21:15:00Z', isOutsideRegularHours: true },
    // A feed whose trade ids are not numbers.
    { ...row, tradeId: 'A1', isOddLot: true },
    row,
  ],
  INCOME: (row) => Array.from({ length: QUARTERS }, () => row),
  BALANCE_SHEET: (row) => Array.from({ length: QUARTERS }, () => row),
  CASH_FLOW: (row) => Array.from({ length: QUARTERS }, () => row),
};

const many = (input: Input): readonly Row[] => {
  const { validTo: _, ...example } = exampleRow(input);
  const row = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, value === '' ? 'text' : value]),
  );
  return SEVERAL[input.id]?.(row) ?? [row];
};

/** Only required properties. */
const bare = ({ properties }: Input): readonly Row[] => [
  Object.fromEntries(
    properties.flatMap(({ example, name, required }) => (required ? [[name, example]] : [])),
  ),
];

/** Rows without some optional properties; those of the index are always included. */
const without =
  (isLeftOut: (property: InputProperty, at: number) => boolean) =>
  (input: Input): readonly Row[] => {
    const index: readonly unknown[] = Object.values(input.mapping);
    const others = input.properties.filter(({ name }) => !index.includes(name));
    const names = new Set(others.filter(isLeftOut).map(({ name }) => name));
    return many(input).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name))),
    );
  };

/** Zero values, by which nothing can be divided. */
const zero = (input: Input): readonly Row[] =>
  many(input).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? 0 : value]),
    ),
  );

const rowsBy = (rowsOf: (input: Input) => readonly Row[]): Rows => {
  const cache = new Map<InputId, readonly Row[]>();
  return (id) => {
    const input = inputOf(id);
    const rows = cache.get(id) ?? (input === undefined ? [] : rowsOf(input));
    cache.set(id, rows);
    return rows;
  };
};

const BARE = rowsBy(bare);
const ALL: readonly Rows[] = [
  ...[many, (input: Input) => many(input).slice(-1), zero, bare].map(rowsBy),
  ...[
    () => true,
    ({ type }: InputProperty) => type === 'number' || type === 'integer',
    ({ type }: InputProperty) => type === 'string',
  ].map((isLeftOut) => rowsBy(without(isLeftOut))),
];

/** Properties that are left out one at a time: prices, sizes and the like are among the first. */
const FIRST = 12;
const LACKING: readonly Rows[] = Array.from({ length: FIRST }, (_, left) =>
  rowsBy(without((_property, at) => at === left)),
);

/** Shape of an answer that is computed from rows alone. */
export const observeShape = (make: (rows: Rows) => unknown): Shape =>
  mergeShapes(ALL.map((rows) => shapeOf(make(rows))));

/** Shape of one row of such lists, with a name. */
export const observeRow = ($id: string, make: (rows: Rows) => readonly unknown[]): Shape => ({
  $id,
  ...observeShape(make).items,
});

interface Time {
  readonly nowMs: number;
  readonly delayMs: number;
}

const DELAY_MS = 15 * 60_000;
/** After the session, in the morning, and on a Sunday. */
const CLOSED = ['2026-01-30T21:30:00Z', '2026-01-30T12:00:00Z', '2026-02-01T15:00:00Z'].map(
  (time): Time => ({ nowMs: Date.parse(time), delayMs: 0 }),
);
/** During the session, for real-time and for delayed prices. */
const OPEN = [0, DELAY_MS].map((delayMs): Time => ({
  nowMs: Date.parse('2026-01-30T17:00:00Z'),
  delayMs,
}));

/** Shape of a variant of a type. */
export function observeType(type: MarketType, { parameters, during }: Variant): Shape {
  const only = type.of.map(
    (id): Rows =>
      (other) =>
        other === id ? BARE(id) : [],
  );
  const times = [...(during === 'open' ? [] : CLOSED), ...(during === 'closed' ? [] : OPEN)];
  const answers = times.flatMap(({ delayMs, nowMs }, at) => {
    const today = dayAt(nowMs);
    const ask: TypeRequest = {
      symbol: EXAMPLE_SYMBOL,
      nowMs,
      untilMs: nowMs - delayMs,
      today,
      options: parameters,
    };
    // Missing properties have the same effect at any time.
    const some = at === 0 ? LACKING : [];
    return [...ALL, ...only, ...some].flatMap((rows) => {
      const value = type.answer(ask, ({ input }) => rows(input));
      return value === undefined ? [] : [shapeOf(type.selectPart?.(ask, value) ?? value)];
    });
  });
  return mergeShapes(answers);
}
