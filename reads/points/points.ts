// Derives data points from the tables of stock types: each attribute of a type is one, so that a new type
// adds its own (INTERFACE.md 1 "data-points list").
import { inputOf } from '../../market/inputs/inputs.ts';
import { listMembers } from '../../market/types/example.ts';
import { MARKET_TYPES, type MarketType } from '../../market/types/marketTypes.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Lake } from '../../store/lake/lake.ts';
import { ATTRIBUTE_WEIGHT } from '../market/attributes.ts';
import { findComputedType } from '../market/market.ts';
import { STOCK_TYPES, type StockType } from '../stock/stockTypes.ts';

/** A type whose attributes are data points, with its datasets. */
type PointSource =
  | { readonly kind: 'computed'; readonly type: MarketType; readonly datasets: readonly Dataset[] }
  | { readonly kind: 'loaded'; readonly type: StockType; readonly datasets: readonly [Dataset] };

export interface Point {
  readonly key: string;
  readonly source: PointSource;
  readonly description: string;
  /** Messages charged for its value. */
  readonly weight: number;
  /** An attribute of the type, the write time of its latest record, or the latest value of one property. */
  readonly value:
    | { readonly kind: 'attribute'; readonly name: string }
    | { readonly kind: 'written' }
    | { readonly kind: 'newest'; readonly name: string };
}

/** Types whose points are named by the attribute alone. */
const UNPREFIXED_TYPES: ReadonlySet<string> = new Set([
  'stats',
  'advanced-stats',
  'financials',
  'income',
  'balance-sheet',
  'cash-flow',
]);

/** Prefixes of points of other types that differ from the name of the type. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['dividends', 'LAST-DIVIDEND'],
  ['splits', 'LAST-SPLIT'],
]);

/** Names that clients of the original use, by type and attribute. */
const ORIGINAL_KEYS: ReadonlyMap<string, string> = new Map([
  ['price-target priceTargetAverage', 'PRICE-TARGET'],
  ['price-target priceTargetHigh', 'PRICE-TARGET-HIGH'],
  ['price-target priceTargetLow', 'PRICE-TARGET-LOW'],
  ['dividends exDate', 'LAST-DIVIDEND-DATE'],
  ['splits exDate', 'LAST-SPLIT-DATE'],
]);

/** Types whose latest date is a free point. */
const LATEST_DATE_KEYS: ReadonlyMap<string, string> = new Map([
  ['news', 'LATEST-NEWS'],
  ['financials', 'LATEST-FINANCIAL-REPORT-DATE'],
  ['income', 'LATEST-INCOME-REPORT-DATE'],
  ['balance-sheet', 'LATEST-BALANCE-SHEET-REPORT-DATE'],
  ['cash-flow', 'LATEST-CASH-FLOW-REPORT-DATE'],
]);

/** Whether the attributes of the latest record of a type are meaningful as single points. */
const hasAttributes = (type: StockType): boolean =>
  type.shape === 'record' ||
  type.shape === 'day' ||
  (type.shape === 'days' && type.next === true) ||
  (type.shape === 'newest' && type.periods === true);

/** All points of a directory of datasets, by key. */
const pointCache = new WeakMap<Lake['directory'], ReadonlyMap<string, Point>>();

/** The points of this server by key; a symbol may have only some of them. */
export function findPoints(lake: Lake): ReadonlyMap<string, Point> {
  const { directory } = lake;
  const points = pointCache.get(directory) ?? collectPoints(listSources(lake));
  pointCache.set(directory, points);
  return points;
}

/** Lists the types that this server answers, with their datasets of CORE. */
function listSources(lake: Lake): readonly PointSource[] {
  const datasetOf = (id: string): readonly Dataset[] => {
    const dataset = lake.directory.dataset(CORE, id);
    return dataset?.mapping.key === undefined ? [] : [dataset];
  };
  const computed = MARKET_TYPES.filter(({ part }) => part === 'attribute').flatMap(
    ({ name }): readonly PointSource[] => {
      const type = findComputedType(name, lake);
      if (type === undefined) return [];
      return [{ kind: 'computed', type, datasets: type.of.flatMap(datasetOf) }];
    },
  );
  const computedNames = new Set(computed.map(({ type }) => type.name));
  const loaded = STOCK_TYPES.filter(({ name }) => !computedNames.has(name)).flatMap((type) =>
    datasetOf(type.dataset).map((dataset): PointSource => ({
      kind: 'loaded',
      type,
      datasets: [dataset],
    })),
  );
  return [...computed, ...loaded];
}

/** Collects the points of all sources with unique keys: later duplicates get the prefix of their type. */
function collectPoints(sources: readonly PointSource[]): ReadonlyMap<string, Point> {
  const points = new Map<string, Point>();
  const datasets = new Set<string>();
  for (const source of sources) {
    const ids = source.datasets.map(({ tableId }) => tableId).join();
    // A dataset that several types share has one point for its write time.
    const isRepeated = datasets.has(ids);
    datasets.add(ids);
    for (const point of buildPoints(source)) {
      if (isRepeated && point.value.kind === 'written' && source.kind === 'loaded') continue;
      const prefixedKey = `${prefixOf(source.type.name)}-${point.key}`;
      const key = [point.key, prefixedKey].find((one) => !points.has(one));
      if (key !== undefined) points.set(key, { ...point, key });
    }
  }
  return points;
}

const prefixOf = (name: string): string => PREFIXES.get(name) ?? name.toUpperCase();

function buildPoints(source: PointSource): readonly Point[] {
  const { name } = source.type;
  const attributes = listAttributes(source).map((attribute): Point => ({
    key: buildKey(name, attribute),
    source,
    description: describeAttribute(source, attribute),
    weight: source.kind === 'computed' ? ATTRIBUTE_WEIGHT : source.datasets[0].weight,
    value: { kind: 'attribute', name: attribute },
  }));
  const newest = LATEST_DATE_KEYS.get(name);
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

const buildKey = (type: string, attribute: string): string =>
  ORIGINAL_KEYS.get(`${type} ${attribute}`) ??
  (UNPREFIXED_TYPES.has(type) ? '' : `${prefixOf(type)}-`) + attribute.toUpperCase();

function listAttributes(source: PointSource): readonly string[] {
  if (source.kind === 'computed') return listMembers(source.type);
  const [{ mapping, schema }] = source.datasets;
  if (!hasAttributes(source.type)) return [];
  const names = Object.keys(schema.properties);
  return names.filter((name) => name !== mapping.key && name !== mapping.subkey);
}

/** Describes an attribute by its input's documentation, or by its type. */
function describeAttribute(source: PointSource, attribute: string): string {
  const { name } = source.type;
  const id = source.kind === 'loaded' ? source.type.dataset : undefined;
  const help = id === undefined ? undefined : findHelp(id, attribute);
  return help ?? `${attribute} of ${name}`;
}

const findHelp = (id: string, attribute: string): string | undefined =>
  inputOf(id)?.properties.find(({ name }) => name === attribute)?.help;
