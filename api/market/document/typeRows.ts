// Builds rows of the market's document for the types of a symbol: one for each path with a distinct answer
// or distinct parameters.
import { INDICATORS } from '../../../market/indicators/indicators.ts';
import type { Variant } from '../../../market/types/variants.ts';
import { MARKET_TYPES, type MarketType } from '../../../market/types/marketTypes.ts';
import {
  attributeShape,
  eitherOf,
  orNothing,
  orNull,
  type Shape,
  mergeShapes,
} from '../../../market/types/shape.ts';
import {
  type VariantShape,
  pascal,
  recordShape,
  type TypeShapes,
} from '../../../market/types/shapes.ts';
import { type LoadedVariant, listLoadedVariants } from '../../../reads/stock/loadedShapes.ts';
import { listUsedParameters } from '../../../reads/stock/stockParameters.ts';
import { STOCK_TYPES, type StockType } from '../../../reads/stock/stockTypes.ts';
import { ATTRIBUTE, buildOperationName, type TypeRow } from './typeRow.ts';

/** A type with its rows, and the shape of all its answers in a batch. */
export interface DocumentedType {
  readonly name: string;
  readonly whole: Shape;
  readonly rows: readonly TypeRow[];
}

const STOCK = 'getStock';

/** Parameters that every type accepts and that do not change the shape of an answer. */
const COMMON_PARAMETERS = ['asOf', 'maxMessages'];

export function documentTypes(shapes: TypeShapes): readonly DocumentedType[] {
  const computed = MARKET_TYPES.map((type) => documentComputed(type, shapes.get(type.name) ?? []));
  const names = new Set(computed.map(({ name }) => name));
  return [...computed, ...STOCK_TYPES.filter(({ name }) => !names.has(name)).map(documentLoaded)];
}

function documentComputed(type: MarketType, own: readonly VariantShape[]): DocumentedType {
  const { name, part } = type;
  const forms = own.map((form) => ({ ...form, shape: toServedShape(type, form.shape) }));
  const rows = listDocumentedPaths(type).map((path) => computedRow(type, path, forms));
  const first = own[0]?.shape ?? {};
  const attribute = part === 'attribute' ? [attributeRow(name, withRecord(name, first))] : [];
  const inBatch = forms.filter(({ parameters }) =>
    Object.keys(parameters).every((option) => type.options.some((one) => one === option)),
  );
  const whole = eitherOf(inBatch.map(({ shape }) => shape));
  return { name, whole, rows: [...rows, ...attribute] };
}

/** The paths of a type; of types that share their variants, only the first lists all of them. */
function listDocumentedPaths(type: MarketType): readonly string[] {
  const paths = [...new Set(type.variants.flatMap((form) => form.paths))];
  const isFirst = MARKET_TYPES.find(({ variants }) => variants === type.variants) === type;
  return isFirst ? paths : paths.slice(0, 1);
}

function computedRow(type: MarketType, path: string, forms: readonly VariantShape[]): TypeRow {
  const { charge, name, options, summary } = type;
  const pathForms = forms.filter((form) => form.paths.includes(path));
  const ownParameters = options.filter(
    (one) => !listSelectingOptions(forms).has(one) && !path.includes(one),
  );
  return {
    endpointId: STOCK,
    operationName: buildOperationName(name, path),
    path: buildPath(name, path),
    summary,
    weight: charge.kind === 'answer' ? String(charge.weight) : "its input's, for each row",
    parameters: [...ownParameters, ...COMMON_PARAMETERS],
    ...(path === INDICATOR ? { segments: SEGMENTS } : {}),
    shape: eitherOf(pathForms.map(({ shape }) => shape)),
  };
}

/** Parameters that select another variant. */
const listSelectingOptions = (forms: readonly Variant[]): ReadonlySet<string> =>
  new Set(forms.flatMap(({ parameters }) => Object.keys(parameters)));

const INDICATOR = ':indicator';
const SEGMENTS = { indicator: INDICATORS.map(({ name }) => name) };

/** The shape as served: it may be empty for a symbol without data. */
function toServedShape({ name, shape: kind }: MarketType, shape: Shape): Shape {
  if (kind === 'value') return orNull(shape);
  return kind === 'list' ? shape : orNothing(withRecord(name, shape));
}

/** Adds the shape of the input's records to a type that is served beside them. */
function withRecord(name: string, shape: Shape): Shape {
  const isBeside = MARKET_TYPES.some((type) => type.name === name && type.besides === true);
  const dataset = STOCK_TYPES.find((one) => one.name === name)?.dataset;
  return isBeside && dataset !== undefined ? mergeShapes([shape, recordShape(dataset)]) : shape;
}

function attributeRow(name: string, shape: Shape): TypeRow {
  return {
    endpointId: STOCK,
    operationName: buildOperationName(name, ATTRIBUTE),
    path: buildPath(name, ATTRIBUTE),
    weight: '1',
    summary: `One attribute of ${name}.`,
    parameters: COMMON_PARAMETERS,
    segments: { attribute: Object.keys(shape.properties ?? {}) },
    shape: attributeShape(shape),
  };
}

function documentLoaded(type: StockType): DocumentedType {
  const forms = listLoadedVariants(type);
  const rows = forms.map((form) => loadedRow(type, form));
  return { name: type.name, whole: forms[0]?.shape ?? {}, rows };
}

function loadedRow(type: StockType, { ofMarket, path, shape, takes }: LoadedVariant): TypeRow {
  const { dataset, name } = type;
  const ownParameters = takes === 'nothing' ? [] : [...listUsedParameters(type, true)];
  return {
    endpointId: STOCK,
    operationName:
      ofMarket === true ? `StockMarket${pascal(name)}` : buildOperationName(name, path),
    path: ofMarket === true ? `/stock/market/${name}` : buildPath(name, path),
    summary: `Records of ${dataset}, as they are loaded.`,
    parameters: [...ownParameters, ...COMMON_PARAMETERS],
    shape,
  };
}

const buildPath = (name: string, path: string): string =>
  `/stock/:symbol/${name}${path === '' ? '' : `/${path}`}`;
