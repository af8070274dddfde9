// Builds what a recipe creates from its parameters: the bodies of a dataset, a source, a schedule.
import { Failure } from '../../store/base/failure.ts';
import {
  listFills,
  fits,
  PLACEHOLDERS,
  type Recipe,
  type RecipeParameter,
  VALUE_MAX,
} from './recipeFile.ts';

/** Values of parameters by name. */
type Values = ReadonlyMap<string, string>;

/** A dataset, and the schedule that fills it. */
export interface RecipeFill {
  readonly datasetId: string;
  readonly dataset: Omit<Recipe['dataset'], 'name'> & {
    readonly description: string;
    readonly license: string;
  };
  readonly schedule: Recipe['schedule'] & { readonly name: string; readonly datasetId: string };
}

/** The bodies to create. */
export interface RecipeOrder {
  readonly source: Recipe['source'] & { readonly name: string };
  readonly fills: readonly RecipeFill[];
}

interface OrderOptions {
  /** `name=value` of each parameter that is set. */
  readonly set?: readonly string[];
  /** The recipe's dataset by default. */
  readonly dataset?: string;
  /** Name of source and schedule; that of the dataset by default. */
  readonly name?: string;
  /** `https://host:port` that replaces the publisher's: a mirror, or a test. */
  readonly base?: string;
}

/** @throws Failure InvalidParameter naming the parameter, or option, and its rule. */
export function buildRecipeOrder(recipe: Recipe, options: OrderOptions): RecipeOrder {
  const values = resolveValues(recipe, options.set ?? []);
  const fills = listFills(recipe);
  if (fills.length > 1 && options.dataset !== undefined) {
    const names = fills.map(({ dataset }) => dataset.name).join(', ');
    refuse(`--dataset: ${recipe.name} fills several (${names}), each by its own name`);
  }
  const source = fillTexts(recipe.source, values);
  const name =
    options.name ?? source.name ?? options.dataset ?? fillText(recipe.dataset.name, values);
  const url = replaceOrigin(fillUrl(recipe.source.url, values), options.base);
  const orderFills = fills.map((fill): RecipeFill => {
    const { name: usual, ...dataset } = fillTexts(fill.dataset, values);
    const datasetId = options.dataset ?? usual;
    const { about } = recipe;
    const description = `${about.what} ${about.record}`;
    const scheduleName = fills.length > 1 ? `${name} ${datasetId}` : name;
    return {
      datasetId,
      dataset: { ...dataset, description, license: about.terms },
      schedule: { ...fillTexts(fill.schedule, values), name: scheduleName, datasetId },
    };
  });
  return { source: { ...source, url, name }, fills: orderFills };
}

function resolveValues({ name: recipe, parameters }: Recipe, set: readonly string[]): Values {
  const setValues = new Map<string, string>();
  for (const pair of set) {
    const at = pair.indexOf('=');
    if (at <= 0) refuse('--set must be written as name=value');
    const name = pair.slice(0, at);
    if (setValues.has(name)) refuse(`parameter ${name} is set twice`);
    if (!parameters.some((parameter) => parameter.name === name)) {
      const parameterNames = parameters.map((parameter) => parameter.name).join(', ');
      refuse(
        `${recipe} has no parameter ${name}: it has ${parameterNames === '' ? 'none' : parameterNames}`,
      );
    }
    setValues.set(name, pair.slice(at + 1));
  }
  return new Map(parameters.map((one) => [one.name, resolveValue(one, setValues.get(one.name))]));
}

function resolveValue(parameter: RecipeParameter, setValue: string | undefined): string {
  const { about, name, padded = 0, pattern } = parameter;
  const value = setValue ?? parameter.default;
  if (value === undefined) refuse(`parameter ${name} must be set (--set ${name}=…): ${about}`);
  if (!fits(parameter, value)) {
    refuse(`parameter ${name} must be at most ${VALUE_MAX} characters that fit ${pattern}`);
  }
  return value.padStart(padded, '0');
}

const fillText = (text: string, values: Values): string =>
  text.replaceAll(PLACEHOLDERS, (_, name: string) => values.get(name) ?? '');

/** Replaces placeholders in every text, also in member names: a parameter may name a column. */
function fillTexts<T>(part: T, values: Values): T {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return fillText(value, values);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, member]) => [
      fillText(name, values),
      fill(member),
    ]);
    return Object.fromEntries(members) as unknown;
  };
  return fill(part) as T;
}

/** Encodes values, so that each remains one segment, or one value, of the URL. */
function fillUrl(url: string, values: Values): string {
  const encoded = [...values].map(([name, value]) => {
    if (/^\.{1,2}$/.test(value) && url.includes(`\${${name}}`)) {
      refuse(`parameter ${name} must not be ${value}`);
    }
    return [name, encodeURIComponent(value).replaceAll(DAY_PARTS, '{$1}')] as const;
  });
  return fillText(url, new Map(encoded));
}

/** Parts of the day, which are replaced when the URL is fetched. */
const DAY_PARTS = /%7B(yyyy|mm|dd)%7D/g;

function replaceOrigin(url: string, base: string | undefined): string {
  if (base === undefined) return url;
  const parsedBase = /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(base) ? URL.parse(base) : null;
  if (parsedBase === null) refuse('--base must be the origin of a URL: http://host:port');
  // Replace the text: `URL` would encode the braces of the day.
  return url.replace(/^https:\/\/[^/]+/, () => parsedBase.origin);
}

function refuse(rule: string): never {
  throw new Failure('InvalidParameter', rule);
}
