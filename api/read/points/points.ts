// Which data points there are: each attribute of a type of the stock door is one, so that a new type brings
// its own (INTERFACE.md 1 "data-points list").
import { inputOf } from '../../../market/inputs/inputs.ts';
import { membersOf } from '../../../market/types/example.ts';
import { MARKET_TYPES, type MarketType } from '../../../market/types/marketTypes.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import type { Lake } from '../../../store/lake/lake.ts';
import { ATTRIBUTE_WEIGHT, computedType } from '../../market/market.ts';
import { STOCK_TYPES, type StockType } from '../../stock/stockTypes.ts';

/** What the points of a type are derived from. */
type PointSource =
  | { readonly kind: 'computed'; readonly type: MarketType; readonly datasets: readonly Dataset[] }
  | { readonly kind: 'loaded'; readonly type: StockType; readonly datasets: readonly [Dataset] };

export interface Point {
  readonly key: string;
  readonly source: PointSource;
  readonly description: string;
  /** Messages of its value. */
  readonly weight: number;
  /** An attribute of the type; or when its newest record was written, or the newest value of it. */
  readonly value:
    | { readonly kind: 'attribute'; readonly name: string }
    | { readonly kind: 'written' }
    | { readonly kind: 'newest'; readonly name: string };
}

/** Types whose attributes have names that say enough. */
const BARE: ReadonlySet<string> = new Set([
  'stats',
  'advanced-stats',
  'financials',
  'income',
  'balance-sheet',
  'cash-flow',
]);

/** How points of other types begin, where not by the type's own name. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['dividends', 'LAST-DIVIDEND'],
  ['splits', 'LAST-SPLIT'],
]);

/** Names that clients of the original know, by type and attribute. */
const KNOWN: ReadonlyMap<string, string> = new Map([
  ['price-target priceTargetAverage', 'PRICE-TARGET'],
  ['price-target priceTargetHigh', 'PRICE-TARGET-HIGH'],
  ['price-target priceTargetLow', 'PRICE-TARGET-LOW'],
  ['dividends exDate', 'LAST-DIVIDEND-DATE'],
  ['splits exDate', 'LAST-SPLIT-DATE'],
]);

/** Types whose newest date is a point of its own that costs nothing. */
const NEWEST: ReadonlyMap<string, string> = new Map([
  ['news', 'LATEST-NEWS'],
  ['financials', 'LATEST-FINANCIAL-REPORT-DATE'],
  ['income', 'LATEST-INCOME-REPORT-DATE'],
  ['balance-sheet', 'LATEST-BALANCE-SHEET-REPORT-DATE'],
  ['cash-flow', 'LATEST-CASH-FLOW-REPORT-DATE'],
]);

/** Whether the newest record of a type says enough by itself to be taken apart. */
const hasAttributes = (type: StockType): boolean =>
  type.shape === 'record' ||
  type.shape === 'day' ||
  (type.shape === 'days' && type.next === true) ||
  (type.shape === 'newest' && type.periods === true);

/** All points of a directory of datasets, by their keys. */
const known = new WeakMap<Lake['directory'], ReadonlyMap<string, Point>>();

/** The points that this server has, by their keys; which of them a symbol has is another question. */
export function pointsIn(lake: Lake): ReadonlyMap<string, Point> {
  const { directory } = lake;
  const points = known.get(directory) ?? pointsOf(sourcesOf(lake));
  known.set(directory, points);
  return points;
}

/** The types that this server answers, and from which datasets of CORE. */
function sourcesOf(lake: Lake): readonly PointSource[] {
  const datasetOf = (id: string): readonly Dataset[] => {
    const dataset = lake.directory.dataset(CORE, id);
    return dataset?.mapping.key === undefined ? [] : [dataset];
  };
  const computed = MARKET_TYPES.filter(({ part }) => part === 'attribute').flatMap(
    ({ name }): readonly PointSource[] => {
      const type = computedType(name, lake);
      if (type === undefined) return [];
      return [{ kind: 'computed', type, datasets: type.of.flatMap(datasetOf) }];
    },
  );
  const answered = new Set(computed.map(({ type }) => type.name));
  const loaded = STOCK_TYPES.filter(({ name }) => !answered.has(name)).flatMap((type) =>
    datasetOf(type.dataset).map((dataset): PointSource => ({
      kind: 'loaded',
      type,
      datasets: [dataset],
    })),
  );
  return [...computed, ...loaded];
}

/** Points of the sources, each key once: the first type that has an attribute of a name has it bare. */
function pointsOf(sources: readonly PointSource[]): ReadonlyMap<string, Point> {
  const points = new Map<string, Point>();
  const datasets = new Set<string>();
  for (const source of sources) {
    const ids = source.datasets.map(({ tableId }) => tableId).join();
    // One that several types are made of tells once when it was written.
    const told = datasets.has(ids);
    datasets.add(ids);
    for (const point of made(source)) {
      if (told && point.value.kind === 'written' && source.kind === 'loaded') continue;
      const whole = `${prefixOf(source.type.name)}-${point.key}`;
      const key = [point.key, whole].find((one) => !points.has(one));
      if (key !== undefined) points.set(key, { ...point, key });
    }
  }
  return points;
}

const prefixOf = (name: string): string => PREFIXES.get(name) ?? name.toUpperCase();

function made(source: PointSource): readonly Point[] {
  const { name } = source.type;
  const attributes = attributesOf(source).map((attribute): Point => ({
    key: keyOf(name, attribute),
    source,
    description: descriptionOf(source, attribute),
    weight: source.kind === 'computed' ? ATTRIBUTE_WEIGHT : source.datasets[0].weight,
    value: { kind: 'attribute', name: attribute },
  }));
  const newest = NEWEST.get(name);
  const date = source.datasets[0]?.mapping.date;
  const free = { source, weight: 0 };
  const written: Point = {
    ...free,
    key: `${name.toUpperCase()}-LAST-UPDATED`,
    description: `When the newest record of ${name} was written`,
    value: { kind: 'written' },
  };
  if (newest === undefined || date === undefined) return [...attributes, written];
  const description = `The newest ${date} of ${name}`;
  return [
    ...attributes,
    { ...free, key: newest, description, value: { kind: 'newest', name: date } },
    written,
  ];
}

const keyOf = (type: string, attribute: string): string =>
  KNOWN.get(`${type} ${attribute}`) ??
  (BARE.has(type) ? '' : `${prefixOf(type)}-`) + attribute.toUpperCase();

function attributesOf(source: PointSource): readonly string[] {
  if (source.kind === 'computed') return membersOf(source.type);
  const [{ mapping, schema }] = source.datasets;
  if (!hasAttributes(source.type)) return [];
  const names = Object.keys(schema.properties);
  return names.filter((name) => name !== mapping.key && name !== mapping.subkey);
}

/** What an input's documentation says of the attribute, or where it is from. */
function descriptionOf(source: PointSource, attribute: string): string {
  const { name } = source.type;
  const id = source.kind === 'loaded' ? source.type.dataset : undefined;
  const help = id === undefined ? undefined : helpOf(id, attribute);
  return help ?? `${attribute} of ${name}`;
}

const helpOf = (id: string, attribute: string): string | undefined =>
  inputOf(id)?.properties.find(({ name }) => name === attribute)?.help;
