// Formats offerings of shares as the original did beside their records: texts for a table. Recorded answers
// of `upcoming-ipos` have them, and typed clients decode nothing else.
import { numberIn, type Row, textIn } from '../../market/derive/values.ts';
import type { Shape } from '../../market/types/shape.ts';

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

const formatCount = (row: Row, name: string): string | undefined => {
  const value = numberIn(row, name);
  return value === null ? undefined : WHOLE.format(value);
};

/** Formats `$14.00 - 16.00`, or the only known price. */
function formatPrice(row: Row): string | undefined {
  const prices = [numberIn(row, 'priceLow'), numberIn(row, 'priceHigh')].filter(
    (one) => one !== null,
  );
  const words = [...new Set(prices.map((price) => price.toFixed(2)))];
  return words.length === 0 ? undefined : `$${words.join(' - ')}`;
}

const formatText =
  (...names: readonly string[]) =>
  (row: Row): string | undefined =>
    names.map((name) => textIn(row, name)).find((text) => text !== null) ?? undefined;

const MEMBERS: readonly (readonly [name: string, of: (row: Row) => string | undefined])[] = [
  ['Company', formatText('companyName')],
  ['Symbol', formatText('symbol')],
  ['Price', formatPrice],
  ['Shares', (row) => formatCount(row, 'sharesOffered')],
  ['Amount', (row) => formatCount(row, 'offerAmount')],
  ['Float', (row) => formatCount(row, 'sharesOutstanding')],
  ['Percent', formatText('percentOffered')],
  ['Market', formatText('market')],
  ['Expected', formatText('expectedDate', 'offeringDate')],
];

/** Formats an offering; members that the record does not have are left out. */
export const formatOffering = (row: Row): Row =>
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
