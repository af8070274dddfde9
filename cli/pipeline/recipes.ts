// `tapedeck recipe`: public sources that need no definition of one's own.
import { isDeepStrictEqual } from 'node:util';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { STAND_IN_SOURCE } from '../../store/lake/datasets/standIns.ts';
import { tableAnswer } from '../print/answerLists.ts';
import { fillsOf, type Recipe, readRecipe, recipeNames } from './recipeFile.ts';
import { type RecipeFill, recipeOrderOf, type RecipeOrder } from './recipeOrder.ts';
import type { PlaceOptions } from './sources.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';
import { type AskValue, withWorkspace } from '../reach/workspaceApi.ts';

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
  sayTo(terminal)(options.json === true ? JSON.stringify(recipe) : recipeLines(recipe).join('\n'));
}

function recipeLines(recipe: Recipe): readonly string[] {
  const { about, name, parameters, source, title } = recipe;
  const asked = parameters.map(({ about: what, default: usual, name: own }) => {
    const fallback = usual === undefined ? 'must be set' : `${usual} by default`;
    return `  --set ${own}=…  ${what} (${fallback})`;
  });
  const made = fillsOf(recipe).flatMap(({ dataset, schedule }) => {
    const parts = Object.entries(dataset.columnMapping).map(([part, own]) => `${part} ${own}`);
    return [
      `  dataset ${dataset.name}: ${parts.join(', ')}`,
      `  schedule ${schedule.cron} in UTC, ${storing(schedule)}`,
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
    ...(asked.length === 0 ? ['It has no parameters.'] : ['Parameters:', ...asked]),
    '',
    'It makes:',
    ...made,
    `  source ${source.url}`,
  ];
}

function storing({ duplicateKeyHandling, overwrite }: Recipe['schedule']): string {
  if (overwrite === true) return 'each run replaces all records';
  return duplicateKeyHandling === 'replace'
    ? 'what is corrected takes the place of what was'
    : 'what is stored stays';
}

export async function addRecipe(
  name: string,
  options: AddRecipeOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const say = sayTo(terminal);
  const recipe = await readRecipe(name);
  const order = recipeOrderOf(recipe, options);
  const workspace = options.workspace ?? (recipe.input === undefined ? undefined : CORE);
  await withWorkspace(settings, workspace, terminal, async (ask) => {
    const known = await knownDatasets(ask, order);
    const isThere = ({ datasetId }: RecipeFill): boolean => known.has(datasetId);
    if (options.dryRun === true) {
      tell(order, options, { isThere, isDry: true, ids: undefined }, say);
      return;
    }
    for (const fill of order.fills) {
      const isStandIn = workspace === CORE && known.get(fill.datasetId)?.source === STAND_IN_SOURCE;
      if (isStandIn) await takeOver(ask, fill);
    }
    const ids = await make(ask, order, isThere);
    tell(order, options, { isThere, isDry: false, ids }, say);
  });
}

/** What is invented gives way: its source and license are those of what comes. */
async function takeOver(ask: AskValue, { dataset, datasetId }: RecipeFill): Promise<void> {
  const { license, source } = dataset;
  await ask('PATCH', `/datasets/${datasetId}`, { dataset: { source, license } });
}

interface Known {
  readonly datasetId: string;
  readonly source?: string;
  readonly columnMapping?: Readonly<Record<string, string>>;
}

/**
 * The datasets that are there already, by the ids of the order.
 * @throws Failure Conflict for one of another index, or a source of the name.
 */
async function knownDatasets(
  ask: AskValue,
  { fills, source }: RecipeOrder,
): Promise<ReadonlyMap<string, Known>> {
  const sources = (await ask('GET', '/data-sources')) as readonly { readonly name: string }[];
  if (sources.some((one) => one.name === source.name)) {
    const told = `there is a source of the name ${source.name}: --name says another`;
    throw new Failure('Conflict', told);
  }
  const datasets = (await ask('GET', '/datasets')) as readonly Known[];
  const found = new Map<string, Known>();
  for (const { dataset, datasetId } of fills) {
    const known = datasets.find((one) => one.datasetId.toLowerCase() === datasetId.toLowerCase());
    if (known === undefined) continue;
    if (!isDeepStrictEqual({ ...known.columnMapping }, { ...dataset.columnMapping })) {
      const rest = fills.length > 1 ? '' : ': --dataset says another';
      throw new Failure('Conflict', `dataset ${datasetId} is there and has another index${rest}`);
    }
    found.set(datasetId, known);
  }
  return found;
}

interface Ids {
  readonly dataSourceId: string;
  /** Of the schedules, in the order of their datasets. */
  readonly ingestionScheduleIds: readonly string[];
}

/** Makes all of it, or nothing: what was made before a step that fails is undone. */
async function make(
  ask: AskValue,
  { fills, source }: RecipeOrder,
  isThere: Done['isThere'],
): Promise<Ids> {
  const undo: (readonly [what: string, path: string])[] = [];
  try {
    for (const fill of fills) {
      const { dataset, datasetId } = fill;
      if (isThere(fill)) continue;
      await ask('POST', '/datasets', { dataset: { ...dataset, datasetId } });
      undo.unshift([`dataset ${datasetId}`, `/datasets/${datasetId}`]);
    }
    const made = (await ask('POST', '/data-sources', source)) as Pick<Ids, 'dataSourceId'>;
    const { dataSourceId } = made;
    undo.unshift([`source ${source.name}`, `/data-sources/${dataSourceId}`]);
    const ingestionScheduleIds: string[] = [];
    for (const { schedule } of fills) {
      const { ingestionScheduleId } = (await ask('POST', '/ingestion-schedules', {
        ...schedule,
        dataSourceId,
      })) as { readonly ingestionScheduleId: string };
      ingestionScheduleIds.push(ingestionScheduleId);
      undo.unshift([`schedule ${schedule.name}`, `/ingestion-schedules/${ingestionScheduleId}`]);
    }
    return { dataSourceId, ingestionScheduleIds };
  } catch (error) {
    const told: string[] = [];
    for (const [what, path] of undo) {
      const left = await ask('DELETE', path).then(() => undefined, reasonOf);
      told.push(left === undefined ? `${what} was removed` : `${what} is left: ${left}`);
    }
    const rest = told.length === 0 ? 'nothing was made' : told.join(', ');
    throw new Failure('InvalidParameter', `${reasonOf(error)} (${rest})`);
  }
}

interface Done {
  readonly isThere: (fill: RecipeFill) => boolean;
  readonly isDry: boolean;
  readonly ids: Ids | undefined;
}

function tell(
  order: RecipeOrder,
  { json }: PlaceOptions,
  { ids, isDry, isThere }: Done,
  say: (line: string) => void,
): void {
  const { fills, source } = order;
  if (json === true) {
    say(JSON.stringify(toldJson(order, ids, isThere)));
    return;
  }
  const verb = isDry ? 'would be made' : 'is made';
  const lines = [
    ...fills.map((fill) => {
      const properties = Object.keys(fill.dataset.schema.properties).length;
      const rest = isThere(fill) ? 'is there already' : `${verb}: ${properties} properties`;
      return `dataset ${fill.datasetId} ${rest}`;
    }),
    `source ${source.name} ${verb}: ${source.url}`,
    ...fills.map(
      ({ schedule }) =>
        `schedule ${schedule.name} ${verb}: at once, then ${schedule.cron} in UTC; ${storing(schedule)}`,
    ),
  ];
  say(lines.join('\n'));
}

/** Of one dataset flat; of several a list of them beside the source. */
function toldJson(order: RecipeOrder, ids: Ids | undefined, isThere: Done['isThere']): object {
  const { fills, source } = order;
  const from = ids === undefined ? { source } : { dataSourceId: ids.dataSourceId };
  const told = fills.map((fill, at) => {
    const { dataset, datasetId, schedule } = fill;
    const made = ids?.ingestionScheduleIds[at];
    return {
      head: ids === undefined ? { datasetId, dataset } : { datasetId },
      tail: ids === undefined ? { schedule } : { ingestionScheduleId: made },
      isNewDataset: !isThere(fill),
    };
  });
  const [only] = told;
  if (only !== undefined && told.length === 1) {
    return { ...only.head, ...from, ...only.tail, isNewDataset: only.isNewDataset };
  }
  const datasets = told.map(({ head, isNewDataset, tail }) => ({ ...head, ...tail, isNewDataset }));
  return { ...from, datasets };
}
