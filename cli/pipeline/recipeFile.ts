// Reads recipe files: definitions of public sources. Each is validated completely before anything is created.
import { readdir, readFile } from 'node:fs/promises';
import { type Static, type TSchema, Type } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { Failure } from '../../store/base/failure.ts';

// The relative path is the same in a clone and in the package.
const RECIPES = new URL('../../recipes/', import.meta.url);

const NAME = '^[a-z][a-z0-9-]{0,63}$';
const TEXT_MAX = 2_000;
const PARAMETERS_MAX = 20;
const PATTERN_MAX = 200;
/** Datasets of one recipe besides its first. */
const ALSO_MAX = 9;
/** Characters of a parameter's value. */
export const VALUE_MAX = 200;

const closed = { additionalProperties: false };
const text = (maxLength = TEXT_MAX): TSchema => Type.String({ minLength: 1, maxLength });
const texts = Type.Record(Type.String({ maxLength: 256 }), Type.String({ maxLength: TEXT_MAX }));
// The server validates it as a request body.
const checkedByServer = Type.Record(Type.String(), Type.Unknown());

const PARAMETER = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-zA-Z0-9]{0,31}$' }),
    about: Type.String({ minLength: 1, maxLength: TEXT_MAX }),
    /** Without a default the parameter must be set. */
    default: Type.Optional(Type.String({ maxLength: VALUE_MAX })),
    /** Pattern of the whole value. */
    pattern: Type.String({ minLength: 1, maxLength: PATTERN_MAX }),
    /** Length to which the value is padded with leading zeros. */
    padded: Type.Optional(Type.Integer({ minimum: 1, maximum: VALUE_MAX })),
  },
  closed,
);

const DATASET = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    title: text(),
    source: text(),
    schema: Type.Object(
      { properties: Type.Record(Type.String(), checkedByServer, { minProperties: 1 }) },
      closed,
    ),
    columnMapping: Type.Object(
      {
        key: Type.Optional(Type.String()),
        subkey: Type.Optional(Type.String()),
        date: Type.Optional(Type.String()),
      },
      closed,
    ),
    schemaContract: Type.Optional(texts),
    expectations: Type.Optional(Type.Array(checkedByServer, { maxItems: 100 })),
  },
  closed,
);

const SCHEDULE = Type.Object(
  {
    cron: Type.String({ minLength: 9, maxLength: 200 }),
    missedRuns: Type.Enum(['once', 'skip', 'all']),
    overwrite: Type.Optional(Type.Boolean()),
    duplicateKeyHandling: Type.Optional(Type.Enum(['ignore', 'replace'])),
    maximumValidationErrors: Type.Optional(Type.Integer({ minimum: 0 })),
    dateOrder: Type.Optional(Type.Enum(['MDY', 'DMY'])),
    reading: Type.Optional(checkedByServer),
  },
  closed,
);

const RECIPE = Type.Object(
  {
    name: Type.String({ pattern: NAME }),
    title: Type.String({ minLength: 1, maxLength: 200 }),
    about: Type.Object(
      {
        what: Type.String({ minLength: 1, maxLength: TEXT_MAX }),
        record: Type.String({ minLength: 1, maxLength: TEXT_MAX }),
        changes: Type.String({ minLength: 1, maxLength: TEXT_MAX }),
        terms: Type.String({ minLength: 1, maxLength: TEXT_MAX }),
      },
      closed,
    ),
    parameters: Type.Array(PARAMETER, { maxItems: PARAMETERS_MAX }),
    /** The input of CORE that it fills, instead of a dataset of its own. */
    input: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    source: Type.Object(
      {
        type: Type.Literal('HTTP'),
        /** The name of its dataset by default. */
        name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
        url: Type.String({ pattern: '^https://[a-z0-9.-]+/', maxLength: TEXT_MAX }),
        headers: Type.Optional(texts),
        jsonPath: Type.Optional(text()),
      },
      closed,
    ),
    dataset: DATASET,
    schedule: SCHEDULE,
    /** Further datasets that the same source fills, each with a schedule of its own. */
    also: Type.Optional(
      Type.Array(Type.Object({ dataset: DATASET, schedule: SCHEDULE }, closed), {
        minItems: 1,
        maxItems: ALSO_MAX,
      }),
    ),
  },
  closed,
);

/** A public source, the dataset it fills, and when. Its texts may hold `${parameter}`. */
export type Recipe = Static<typeof RECIPE>;
export type RecipeParameter = Static<typeof PARAMETER>;

/** Placeholders of parameters in the texts of a recipe. */
export const PLACEHOLDERS = /\$\{([^{}]*)\}/g;

/** @throws Failure InvalidBody naming the member and its rule. */
export function checkRecipe(name: string, value: unknown): Recipe {
  if (!Check(RECIPE, value)) throw broken(name, shapeFault(value));
  const recipe: Recipe = value;
  const fault = recipe.name === name ? placeholderFault(recipe) : 'name must be that of the file';
  if (fault !== undefined) throw broken(name, fault);
  for (const [at, parameter] of recipe.parameters.entries()) {
    const where = `parameters.${at}`;
    if (!isPattern(parameter.pattern)) throw broken(name, `${where}.pattern is no pattern`);
    if (parameter.default !== undefined && !fits(parameter, parameter.default)) {
      throw broken(name, `${where}.default must fit the pattern`);
    }
  }
  if (recipe.input !== undefined && recipe.input !== recipe.dataset.name) {
    throw broken(name, 'dataset.name must be that of its input');
  }
  for (const [at, { dataset }] of listFills(recipe).entries()) {
    const where = at === 0 ? 'dataset' : `also.${at - 1}.dataset`;
    for (const [part, property] of Object.entries(dataset.columnMapping)) {
      if (Object.hasOwn(dataset.schema.properties, property)) continue;
      throw broken(name, `${where}.columnMapping.${part} must be a property of dataset.schema`);
    }
  }
  const datasets = listFills(recipe).map(({ dataset }) => dataset.name);
  if (new Set(datasets).size < datasets.length) throw broken(name, 'also must not name one twice');
  return recipe;
}

/** Returns every dataset that a recipe fills, with its schedule. */
export const listFills = ({
  also = [],
  dataset,
  schedule,
}: Recipe): readonly Pick<Recipe, 'dataset' | 'schedule'>[] => [{ dataset, schedule }, ...also];

const broken = (name: string, fault: string): Failure =>
  new Failure('InvalidBody', `recipe ${name}: ${fault}`);

function shapeFault(value: unknown): string {
  const [, errors] = Errors(RECIPE, value);
  const [error] = errors.filter(({ keyword }) => keyword !== 'additionalProperties');
  if (error === undefined) return 'must be a recipe';
  const member = error.instancePath.slice(1).replaceAll('/', '.');
  const rule = error.keyword === 'boolean' ? 'is not known' : error.message;
  return `${member === '' ? 'it' : member} ${rule}`;
}

/** Checks that every placeholder names a parameter, and that every parameter is used. */
function placeholderFault(recipe: Recipe): string | undefined {
  const { also, dataset, parameters, schedule, source } = recipe;
  const named = new Set(parameters.map(({ name }) => name));
  if (named.size < parameters.length) return 'parameters must not name one twice';
  const usedNames = new Set<string>();
  for (const [member, part] of Object.entries({ source, dataset, schedule, also })) {
    for (const [, name = ''] of (JSON.stringify(part) ?? '').matchAll(PLACEHOLDERS)) {
      if (!named.has(name)) return `${member} uses ${name}, which is no parameter`;
      usedNames.add(name);
    }
  }
  const idle = parameters.findIndex(({ name }) => !usedNames.has(name));
  return idle < 0 ? undefined : `parameters.${idle}.name is not used in the recipe`;
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Whether a value, short and without control characters, matches the pattern as a whole. */
export const fits = ({ pattern }: RecipeParameter, value: string): boolean =>
  value.length <= VALUE_MAX &&
  !/\p{C}/u.test(value) &&
  new RegExp(`^(?:${pattern})$`, 'u').test(value);

/** Returns the names of all recipes, sorted. */
export async function recipeNames(): Promise<readonly string[]> {
  const files = await readdir(RECIPES);
  return files.flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : [])).sort();
}

/** @throws Failure NotFound for an unknown name, InvalidBody for an invalid file */
export async function readRecipe(name: string): Promise<Recipe> {
  if (!(await recipeNames()).includes(name)) {
    throw new Failure('NotFound', `there is no recipe ${name}: tapedeck recipe list shows them`);
  }
  const file = await readFile(new URL(`${name}.json`, RECIPES), 'utf8');
  return checkRecipe(name, parsed(file));
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(file);
  } catch {
    return undefined;
  }
}
