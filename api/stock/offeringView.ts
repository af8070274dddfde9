// Offerings of shares as the original showed them beside their records: words for a table. Recorded answers
// of `upcoming-ipos` have them, and typed clients decode nothing else.
import { numberIn, type Row, textIn } from '../../market/derive/values.ts';
import type { Shape } from '../../market/types/shape.ts';

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

const countIn = (row: Row, name: string): string | undefined => {
  const value = numberIn(row, name);
  return value === null ? undefined : WHOLE.format(value);
};

/** `$14.00 - 16.00`, or the one that is known. */
function priceIn(row: Row): string | undefined {
  const prices = [numberIn(row, 'priceLow'), numberIn(row, 'priceHigh')].filter(
    (one) => one !== null,
  );
  const words = [...new Set(prices.map((price) => price.toFixed(2)))];
  return words.length === 0 ? undefined : `$${words.join(' - ')}`;
}

const wordIn =
  (...names: readonly string[]) =>
  (row: Row): string | undefined =>
    names.map((name) => textIn(row, name)).find((text) => text !== null) ?? undefined;

const MEMBERS: readonly (readonly [name: string, of: (row: Row) => string | undefined])[] = [
  ['Company', wordIn('companyName')],
  ['Symbol', wordIn('symbol')],
  ['Price', priceIn],
  ['Shares', (row) => countIn(row, 'sharesOffered')],
  ['Amount', (row) => countIn(row, 'offerAmount')],
  ['Float', (row) => countIn(row, 'sharesOutstanding')],
  ['Percent', wordIn('percentOffered')],
  ['Market', wordIn('market')],
  ['Expected', wordIn('expectedDate', 'offeringDate')],
];

/** Without what the record does not tell, or a filter left out. */
export const viewOf = (row: Row): Row =>
  Object.fromEntries(
    MEMBERS.flatMap(([name, of]) => {
      const word = of(row);
      return word === undefined ? [] : [[name, word] as const];
    }),
  );

export const VIEW_SHAPE: Shape = {
  $id: 'OfferingView',
  type: 'object',
  properties: Object.fromEntries(MEMBERS.map(([name]) => [name, { type: 'string' }])),
  required: [],
};
