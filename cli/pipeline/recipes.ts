// `tapedeck recipe`: lists, shows and adds predefined public sources.
import { isDeepStrictEqual } from 'node:util';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { PLACEHOLDER_SOURCE } from '../../store/lake/datasets/placeholders.ts';
import { tableAnswer } from '../print/answerLists.ts';
import { listFills, type Recipe, readRecipe, recipeNames } from './recipeFile.ts';
import { type RecipeFill, buildRecipeOrder, type RecipeOrder } from './recipeOrder.ts';
import type { PlaceOptions } from './sources.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { type CallJson, withWorkspace } from '../connect/workspaceApi.ts';

export interface AddRecipeOptions extends PlaceOptions {
  readonly dataset?: string;
  readonly name?: string;
  readonly set?: readonly string[];
  readonly base?: string;
  readonly dryRun?: boolean;
}

export async function listRecipes(
  options: { readonly json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const recipes = await Promise.all((await recipeNames()).map(readRecipe));
  const rows = recipes.map(({ name, parameters, title }) => ({
    name,
    title,
    parameters: parameters.map(({ name: own }) => own).join(', '),
  }));
  tableAnswer(rows, ['name', 'title', 'parameters'], options, terminal);
}

export async function showRecipe(
  name: string,
  options: { readonly json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const recipe = await readRecipe(name);
  printTo(terminal)(
    options.json === true ? JSON.stringify(recipe) : recipeLines(recipe).join('\n'),
  );
}

function recipeLines(recipe: Recipe): readonly string[] {
  const { about, name, parameters, source, title } = recipe;
  const parameterLines = parameters.map(({ about: what, default: usual, name: own }) => {
    const fallback = usual === undefined ? 'must be set' : `${usual} by default`;
    return `  --set ${own}=…  ${what} (${fallback})`;
  });
  const created = listFills(recipe).flatMap(({ dataset, schedule }) => {
    const parts = Object.entries(dataset.columnMapping).map(([part, own]) => `${part} ${own}`);
    return [
      `  dataset ${dataset.name}: ${parts.join(', ')}`,
      `  schedule ${schedule.cron} in UTC, ${describeStoring(schedule)}`,
    ];
  });
  return [
    `${name}: ${title}`,
    '',
    about.what,
    about.record,
    about.changes,
    about.terms,
    '',
    ...(parameterLines.length === 0
      ? ['It has no parameters.']
      : ['Parameters:', ...parameterLines]),
    '',
    'It creates:',
    ...created,
    `  source ${source.url}`,
  ];
}

function describeStoring({ duplicateKeyHandling, overwrite }: Recipe['schedule']): string {
  if (overwrite === true) return 'each run replaces all records';
  return duplicateKeyHandling === 'replace'
    ? 'corrected records replace stored ones'
    : 'stored records are kept';
}

export async function addRecipe(
  name: string,
  options: AddRecipeOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const print = printTo(terminal);
  const recipe = await readRecipe(name);
  const order = buildRecipeOrder(recipe, options);
  const workspace = options.workspace ?? (recipe.input === undefined ? undefined : CORE);
  await withWorkspace(settings, workspace, terminal, async (call) => {
    const existing = await findExisting(call, order);
    const isThere = ({ datasetId }: RecipeFill): boolean => existing.has(datasetId);
    if (options.dryRun === true) {
      printOrder(order, options, { isThere, isDry: true, ids: undefined }, print);
      return;
    }
    for (const fill of order.fills) {
      const isStandIn =
        workspace === CORE && existing.get(fill.datasetId)?.source === PLACEHOLDER_SOURCE;
      if (isStandIn) await takeOver(call, fill);
    }
    const ids = await createAll(call, order, isThere);
    printOrder(order, options, { isThere, isDry: false, ids }, print);
  });
}

/** Takes over a placeholder dataset: sets the source and the license of the recipe. */
async function takeOver(call: CallJson, { dataset, datasetId }: RecipeFill): Promise<void> {
  const { license, source } = dataset;
  await call('PATCH', `/datasets/${datasetId}`, { dataset: { source, license } });
}

interface ExistingDataset {
  readonly datasetId: string;
  readonly source?: string;
  readonly columnMapping?: Readonly<Record<string, string>>;
}

/**
 * Finds the datasets that exist already, by the ids of the order.
 * @throws Failure Conflict for one with another index, or a source of the same name
 */
async function findExisting(
  call: CallJson,
  { fills, source }: RecipeOrder,
): Promise<ReadonlyMap<string, ExistingDataset>> {
  const sources = (await call('GET', '/data-sources')) as readonly { readonly name: string }[];
  if (sources.some((one) => one.name === source.name)) {
    const message = `there is a source of the name ${source.name}: set another one with --name`;
    throw new Failure('Conflict', message);
  }
  const datasets = (await call('GET', '/datasets')) as readonly ExistingDataset[];
  const matches = new Map<string, ExistingDataset>();
  for (const { dataset, datasetId } of fills) {
    const existing = datasets.find(
      (one) => one.datasetId.toLowerCase() === datasetId.toLowerCase(),
    );
    if (existing === undefined) continue;
    if (!isDeepStrictEqual({ ...existing.columnMapping }, { ...dataset.columnMapping })) {
      const rest = fills.length > 1 ? '' : ': set another one with --dataset';
      throw new Failure('Conflict', `dataset ${datasetId} exists and has another index${rest}`);
    }
    matches.set(datasetId, existing);
  }
  return matches;
}

interface Ids {
  readonly dataSourceId: string;
  /** Ids of the schedules, in the order of their datasets. */
  readonly ingestionScheduleIds: readonly string[];
}

/** Creates everything or nothing: if a step fails, the previous steps are undone. */
async function createAll(
  call: CallJson,
  { fills, source }: RecipeOrder,
  isThere: OrderResult['isThere'],
): Promise<Ids> {
  const undo: (readonly [what: string, path: string])[] = [];
  try {
    for (const fill of fills) {
      const { dataset, datasetId } = fill;
      if (isThere(fill)) continue;
      await call('POST', '/datasets', { dataset: { ...dataset, datasetId } });
      undo.unshift([`dataset ${datasetId}`, `/datasets/${datasetId}`]);
    }
    const created = (await call('POST', '/data-sources', source)) as Pick<Ids, 'dataSourceId'>;
    const { dataSourceId } = created;
    undo.unshift([`source ${source.name}`, `/data-sources/${dataSourceId}`]);
    const ingestionScheduleIds: string[] = [];
    for (const { schedule } of fills) {
      const { ingestionScheduleId } = (await call('POST', '/ingestion-schedules', {
        ...schedule,
        dataSourceId,
      })) as { readonly ingestionScheduleId: string };
      ingestionScheduleIds.push(ingestionScheduleId);
      undo.unshift([`schedule ${schedule.name}`, `/ingestion-schedules/${ingestionScheduleId}`]);
    }
    return { dataSourceId, ingestionScheduleIds };
  } catch (error) {
    const results: string[] = [];
    for (const [what, path] of undo) {
      const left = await call('DELETE', path).then(() => undefined, reasonOf);
      results.push(left === undefined ? `${what} was removed` : `${what} is left: ${left}`);
    }
    const rest = results.length === 0 ? 'nothing was created' : results.join(', ');
    throw new Failure('InvalidParameter', `${reasonOf(error)} (${rest})`);
  }
}

interface OrderResult {
  readonly isThere: (fill: RecipeFill) => boolean;
  readonly isDry: boolean;
  readonly ids: Ids | undefined;
}

function printOrder(
  order: RecipeOrder,
  { json }: PlaceOptions,
  { ids, isDry, isThere }: OrderResult,
  print: (line: string) => void,
): void {
  const { fills, source } = order;
  if (json === true) {
    print(JSON.stringify(orderJson(order, ids, isThere)));
    return;
  }
  const verb = isDry ? 'would be created' : 'is created';
  const lines = [
    ...fills.map((fill) => {
      const properties = Object.keys(fill.dataset.schema.properties).length;
      const rest = isThere(fill) ? 'exists already' : `${verb}: ${properties} properties`;
      return `dataset ${fill.datasetId} ${rest}`;
    }),
    `source ${source.name} ${verb}: ${source.url}`,
    ...fills.map(
      ({ schedule }) =>
        `schedule ${schedule.name} ${verb}: now, then ${schedule.cron} in UTC; ${describeStoring(schedule)}`,
    ),
  ];
  print(lines.join('\n'));
}

/** Returns a flat object for one dataset, and a list of datasets for several. */
function orderJson(
  order: RecipeOrder,
  ids: Ids | undefined,
  isThere: OrderResult['isThere'],
): object {
  const { fills, source } = order;
  const from = ids === undefined ? { source } : { dataSourceId: ids.dataSourceId };
  const results = fills.map((fill, at) => {
    const { dataset, datasetId, schedule } = fill;
    const created = ids?.ingestionScheduleIds[at];
    return {
      head: ids === undefined ? { datasetId, dataset } : { datasetId },
      tail: ids === undefined ? { schedule } : { ingestionScheduleId: created },
      isNewDataset: !isThere(fill),
    };
  });
  const [only] = results;
  if (only !== undefined && results.length === 1) {
    return { ...only.head, ...from, ...only.tail, isNewDataset: only.isNewDataset };
  }
  const datasets = results.map(({ head, isNewDataset, tail }) => ({
    ...head,
    ...tail,
    isNewDataset,
  }));
  return { ...from, datasets };
}
