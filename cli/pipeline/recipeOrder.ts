// What a recipe makes, once its parameters are known: the bodies of a dataset, a source, a schedule.
import { Failure } from '../../store/base/failure.ts';
import {
  fillsOf,
  fits,
  HOLES,
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

/** What is made: the source last. */
export interface RecipeOrder {
  readonly source: Recipe['source'] & { readonly name: string };
  readonly fills: readonly RecipeFill[];
}

interface OrderOptions {
  /** `name=value` of each parameter that is given. */
  readonly set?: readonly string[];
  /** The recipe's own by default. */
  readonly dataset?: string;
  /** Of source and schedule; the dataset's by default. */
  readonly name?: string;
  /** `https://host:port` that stands for the publisher's: a mirror, or a test. */
  readonly base?: string;
}

/** @throws Failure InvalidParameter naming the parameter, or option, and its rule. */
export function recipeOrderOf(recipe: Recipe, options: OrderOptions): RecipeOrder {
  const values = valuesOf(recipe, options.set ?? []);
  const fills = fillsOf(recipe);
  if (fills.length > 1 && options.dataset !== undefined) {
    const names = fills.map(({ dataset }) => dataset.name).join(', ');
    refuse(`--dataset: ${recipe.name} fills several (${names}), each by its own name`);
  }
  const source = filled(recipe.source, values);
  const name = options.name ?? source.name ?? options.dataset ?? put(recipe.dataset.name, values);
  const url = basedOn(filledUrl(recipe.source.url, values), options.base);
  const made = fills.map((fill): RecipeFill => {
    const { name: usual, ...dataset } = filled(fill.dataset, values);
    const datasetId = options.dataset ?? usual;
    const { about } = recipe;
    const description = `${about.what} ${about.record}`;
    const scheduleName = fills.length > 1 ? `${name} ${datasetId}` : name;
    return {
      datasetId,
      dataset: { ...dataset, description, license: about.terms },
      schedule: { ...filled(fill.schedule, values), name: scheduleName, datasetId },
    };
  });
  return { source: { ...source, url, name }, fills: made };
}

function valuesOf({ name: recipe, parameters }: Recipe, set: readonly string[]): Values {
  const given = new Map<string, string>();
  for (const pair of set) {
    const at = pair.indexOf('=');
    if (at <= 0) refuse('--set must be written as name=value');
    const name = pair.slice(0, at);
    if (given.has(name)) refuse(`parameter ${name} is set twice`);
    if (!parameters.some((parameter) => parameter.name === name)) {
      const known = parameters.map((parameter) => parameter.name).join(', ');
      refuse(`${recipe} has no parameter ${name}: it has ${known === '' ? 'none' : known}`);
    }
    given.set(name, pair.slice(at + 1));
  }
  return new Map(parameters.map((one) => [one.name, valueOf(one, given.get(one.name))]));
}

function valueOf(parameter: RecipeParameter, given: string | undefined): string {
  const { about, name, padded = 0, pattern } = parameter;
  const value = given ?? parameter.default;
  if (value === undefined) refuse(`parameter ${name} must be set (--set ${name}=…): ${about}`);
  if (!fits(parameter, value)) {
    refuse(`parameter ${name} must be at most ${VALUE_MAX} characters that fit ${pattern}`);
  }
  return value.padStart(padded, '0');
}

const put = (text: string, values: Values): string =>
  text.replaceAll(HOLES, (_, name: string) => values.get(name) ?? '');

/** Every text of it, names of members too: a column may be named by a parameter. */
function filled<T>(part: T, values: Values): T {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return put(value, values);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, member]) => [
      put(name, values),
      fill(member),
    ]);
    return Object.fromEntries(members) as unknown;
  };
  return fill(part) as T;
}

/** A value stays one segment, or one value, of the URL, whatever it holds. */
function filledUrl(url: string, values: Values): string {
  const encoded = [...values].map(([name, value]) => {
    if (/^\.{1,2}$/.test(value) && url.includes(`\${${name}}`)) {
      refuse(`parameter ${name} must not be ${value}`);
    }
    return [name, encodeURIComponent(value).replaceAll(DAY_PARTS, '{$1}')] as const;
  });
  return put(url, new Map(encoded));
}

/** They become digits when the URL is fetched. */
const DAY_PARTS = /%7B(yyyy|mm|dd)%7D/g;

function basedOn(url: string, base: string | undefined): string {
  if (base === undefined) return url;
  const found = /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(base) ? URL.parse(base) : null;
  if (found === null) refuse('--base must be the origin of a URL: http://host:port');
  // Not by `URL`, which would encode the braces of the day.
  return url.replace(/^https:\/\/[^/]+/, () => found.origin);
}

function refuse(rule: string): never {
  throw new Failure('InvalidParameter', rule);
}
