// `tapedeck recipe`: public sources that need no definition of one's own.
import { isDeepStrictEqual } from 'node:util';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings.ts';
import { CORE } from '../../store/datasets/datasets.ts';
import { STAND_IN_SOURCE } from '../../store/datasets/standIns.ts';
import { tableAnswer } from '../print/answerLists.ts';
import { type Recipe, readRecipe, recipeNames } from './recipeFile.ts';
import { recipeOrderOf, type RecipeOrder } from './recipeOrder.ts';
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

function recipeLines({
  about,
  dataset,
  name,
  parameters,
  schedule,
  source,
  title,
}: Recipe): readonly string[] {
  const asked = parameters.map(({ about: what, default: usual, name: own }) => {
    const fallback = usual === undefined ? 'must be set' : `${usual} by default`;
    return `  --set ${own}=…  ${what} (${fallback})`;
  });
  const index = Object.entries(dataset.columnMapping).map(([part, column]) => `${part} ${column}`);
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
    `  dataset ${dataset.name}: ${index.join(', ')}`,
    `  source ${source.url}`,
    `  schedule ${schedule.cron} in UTC, ${storing(schedule)}`,
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
    const known = await knownDataset(ask, order);
    const isThere = known !== undefined;
    if (options.dryRun === true) {
      tell(order, options, { isThere, isDry: true, ids: {} }, say);
      return;
    }
    const isStandIn = workspace === CORE && known?.source === STAND_IN_SOURCE;
    if (isStandIn) await takeOver(ask, order);
    const ids = await make(ask, order, isThere);
    tell(order, options, { isThere, isDry: false, ids }, say);
  });
}

/** What is invented gives way: its source and license are those of what comes. */
async function takeOver(ask: AskValue, { dataset, datasetId }: RecipeOrder): Promise<void> {
  const { license, source } = dataset;
  await ask('PATCH', `/datasets/${datasetId}`, { dataset: { source, license } });
}

interface Known {
  readonly datasetId: string;
  readonly source?: string;
  readonly columnMapping?: Readonly<Record<string, string>>;
}

/**
 * The dataset, where it is there already.
 * @throws Failure Conflict for one of another index, or a source of the name.
 */
async function knownDataset(ask: AskValue, order: RecipeOrder): Promise<Known | undefined> {
  const { dataset, datasetId, source } = order;
  const sources = (await ask('GET', '/data-sources')) as readonly { readonly name: string }[];
  if (sources.some((one) => one.name === source.name)) {
    const told = `there is a source of the name ${source.name}: --name says another`;
    throw new Failure('Conflict', told);
  }
  const datasets = (await ask('GET', '/datasets')) as readonly Known[];
  const known = datasets.find((one) => one.datasetId.toLowerCase() === datasetId.toLowerCase());
  if (known === undefined) return undefined;
  if (isDeepStrictEqual({ ...known.columnMapping }, { ...dataset.columnMapping })) return known;
  const told = `dataset ${datasetId} is there and has another index: --dataset says another`;
  throw new Failure('Conflict', told);
}

interface Ids {
  readonly dataSourceId?: string;
  readonly ingestionScheduleId?: string;
}

/** Makes all of it, or nothing: what was made before a step that fails is undone. */
async function make(ask: AskValue, order: RecipeOrder, isThere: boolean): Promise<Ids> {
  const { dataset, datasetId, schedule, source } = order;
  const undo: (readonly [what: string, path: string])[] = [];
  try {
    if (!isThere) {
      await ask('POST', '/datasets', { dataset: { ...dataset, datasetId } });
      undo.unshift([`dataset ${datasetId}`, `/datasets/${datasetId}`]);
    }
    const made = (await ask('POST', '/data-sources', source)) as Required<Ids>;
    const { dataSourceId } = made;
    undo.unshift([`source ${source.name}`, `/data-sources/${dataSourceId}`]);
    const scheduled = await ask('POST', '/ingestion-schedules', { ...schedule, dataSourceId });
    return { dataSourceId, ingestionScheduleId: (scheduled as Required<Ids>).ingestionScheduleId };
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
  readonly isThere: boolean;
  readonly isDry: boolean;
  readonly ids: Ids;
}

function tell(
  order: RecipeOrder,
  { json }: PlaceOptions,
  { ids, isDry, isThere }: Done,
  say: (line: string) => void,
): void {
  const { dataset, datasetId, schedule, source } = order;
  if (json === true) {
    const shown = isDry ? order : { datasetId, ...ids };
    say(JSON.stringify({ ...shown, isNewDataset: !isThere }));
    return;
  }
  const verb = isDry ? 'would be made' : 'is made';
  const properties = Object.keys(dataset.schema.properties).length;
  const lines = [
    `dataset ${datasetId} ${isThere ? 'is there already' : `${verb}: ${properties} properties`}`,
    `source ${source.name} ${verb}: ${source.url}`,
    `schedule ${schedule.name} ${verb}: at once, then ${schedule.cron} in UTC; ${storing(schedule)}`,
  ];
  say(lines.join('\n'));
}
