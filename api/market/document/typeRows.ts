// The types of a symbol as rows of the market's document: one for each path whose answer, or whose
// parameters, are its own.
import { INDICATORS } from '../../../market/indicators/indicators.ts';
import type { Form } from '../../../market/types/forms.ts';
import { MARKET_TYPES, type MarketType } from '../../../market/types/marketTypes.ts';
import {
  attributeShape,
  eitherOf,
  orNothing,
  orNull,
  type Shape,
  united,
} from '../../../market/types/shape.ts';
import {
  type FormShape,
  pascal,
  recordShape,
  type TypeShapes,
} from '../../../market/types/shapes.ts';
import { type LoadedForm, loadedForms } from '../../stock/loadedShapes.ts';
import { takenBy } from '../../stock/stockParameters.ts';
import { STOCK_TYPES, type StockType } from '../../stock/stockTypes.ts';
import { ATTRIBUTE, calledBy, type TypeRow } from './typeRow.ts';

/** A type with its rows, and all that a batch may answer of it. */
export interface ToldType {
  readonly name: string;
  readonly whole: Shape;
  readonly rows: readonly TypeRow[];
}

const STOCK = 'getStock';

/** What all take, and what does not change the shape of an answer. */
const OF_ALL = ['asOf', 'maxMessages'];

export function toldTypes(shapes: TypeShapes): readonly ToldType[] {
  const computed = MARKET_TYPES.map((type) => toldComputed(type, shapes.get(type.name) ?? []));
  const names = new Set(computed.map(({ name }) => name));
  return [...computed, ...STOCK_TYPES.filter(({ name }) => !names.has(name)).map(toldLoaded)];
}

function toldComputed(type: MarketType, own: readonly FormShape[]): ToldType {
  const { name, part } = type;
  const forms = own.map((form) => ({ ...form, shape: asServed(type, form.shape) }));
  const rows = pathsOf(type).map((path) => computedRow(type, path, forms));
  const first = own[0]?.shape ?? {};
  const attribute = part === 'attribute' ? [attributeRow(name, withRecord(name, first))] : [];
  const inBatch = forms.filter(({ asked }) =>
    Object.keys(asked).every((option) => type.options.some((one) => one === option)),
  );
  const whole = eitherOf(inBatch.map(({ shape }) => shape));
  return { name, whole, rows: [...rows, ...attribute] };
}

/** Of a type that is told as another one is, the first one is told. */
function pathsOf(type: MarketType): readonly string[] {
  const paths = [...new Set(type.forms.flatMap((form) => form.paths))];
  const isFirst = MARKET_TYPES.find(({ forms }) => forms === type.forms) === type;
  return isFirst ? paths : paths.slice(0, 1);
}

function computedRow(type: MarketType, path: string, forms: readonly FormShape[]): TypeRow {
  const { charge, name, options, summary } = type;
  const here = forms.filter((form) => form.paths.includes(path));
  const taken = options.filter((one) => !leadingOf(forms).has(one) && !path.includes(one));
  return {
    of: STOCK,
    called: calledBy(name, path),
    path: pathOf(name, path),
    summary,
    weight: charge.kind === 'answer' ? String(charge.weight) : "its input's, for each row",
    parameters: [...taken, ...OF_ALL],
    ...(path === INDICATOR ? { segments: SEGMENTS } : {}),
    shape: eitherOf(here.map(({ shape }) => shape)),
  };
}

/** Parameters that lead to another form. */
const leadingOf = (forms: readonly Form[]): ReadonlySet<string> =>
  new Set(forms.flatMap(({ asked }) => Object.keys(asked)));

const INDICATOR = ':indicator';
const SEGMENTS = { indicator: INDICATORS.map(({ name }) => name) };

/** Of a symbol of which nothing is known it is empty. */
function asServed({ name, shape: kind }: MarketType, shape: Shape): Shape {
  if (kind === 'value') return orNull(shape);
  return kind === 'list' ? shape : orNothing(withRecord(name, shape));
}

/** Of a type that stands beside records of its input, both. */
function withRecord(name: string, shape: Shape): Shape {
  const isBeside = MARKET_TYPES.some((type) => type.name === name && type.besides === true);
  const dataset = STOCK_TYPES.find((one) => one.name === name)?.dataset;
  return isBeside && dataset !== undefined ? united([shape, recordShape(dataset)]) : shape;
}

function attributeRow(name: string, shape: Shape): TypeRow {
  return {
    of: STOCK,
    called: calledBy(name, ATTRIBUTE),
    path: pathOf(name, ATTRIBUTE),
    weight: '1',
    summary: `One attribute of ${name}.`,
    parameters: OF_ALL,
    segments: { attribute: Object.keys(shape.properties ?? {}) },
    shape: attributeShape(shape),
  };
}

function toldLoaded(type: StockType): ToldType {
  const forms = loadedForms(type);
  const rows = forms.map((form) => loadedRow(type, form));
  return { name: type.name, whole: forms[0]?.shape ?? {}, rows };
}

function loadedRow(type: StockType, { ofMarket, path, shape, takes }: LoadedForm): TypeRow {
  const { dataset, name } = type;
  const taken = takes === 'nothing' ? [] : [...takenBy(type, true)];
  return {
    of: STOCK,
    called: ofMarket === true ? `StockMarket${pascal(name)}` : calledBy(name, path),
    path: ofMarket === true ? `/stock/market/${name}` : pathOf(name, path),
    summary: `Records of ${dataset}, as they are loaded.`,
    parameters: [...taken, ...OF_ALL],
    shape,
  };
}

const pathOf = (name: string, path: string): string =>
  `/stock/:symbol/${name}${path === '' ? '' : `/${path}`}`;
