// docs/reference/recipes.md: generated from the files of recipes/.
import { listFills, type Recipe, readRecipe, recipeNames } from '../../cli/pipeline/recipeFile.ts';

const INTRODUCTION = `# Recipes

Generated from the files of \`recipes/\` by \`npm run docs\`; do not edit.

\`\`\`sh
npx tapedeck recipe list
npx tapedeck recipe add fred-series --set series=DGS10
\`\`\`

A recipe is a public source that is ready to use. \`recipe add\` creates its dataset, its source and its
schedule. The schedule runs immediately and then by its cron expression in UTC. A recipe with several
datasets creates a schedule for each. If a step fails, nothing is created.

| option | effect |
| --- | --- |
| \`--dry-run\` | shows what would be created |
| \`--dataset\`, \`--name\`, \`--workspace\` | other names, another workspace |
| \`--base https://mirror.example.com\` | fetches the same path from another origin |

The result is an ordinary [source](../guides/sources.md) with a [schedule](../guides/schedules.md).
\`tapedeck schedule remove\` and \`tapedeck source remove\` remove it; the records stay.

The terms are the publisher's and may change: read them before you redistribute the data.
`;

/** The page of all recipes. */
export async function recipesPage(): Promise<string> {
  const recipes = await Promise.all((await recipeNames()).map(readRecipe));
  return [INTRODUCTION, ...recipes.map(sectionOf)].join('\n');
}

function sectionOf(recipe: Recipe): string {
  const { about, input, name, parameters, source, title } = recipe;
  const parameterRows = parameters.map(
    ({ about: meaning, default: usual, name: own, pattern }) =>
      `| \`${own}\` | ${meaning} | ${usual === undefined ? 'required' : `\`${usual}\``} ` +
      `| \`${pattern.replaceAll('|', '\\|')}\` |`,
  );
  const table = [
    '| parameter | meaning | default | pattern |',
    '| --- | --- | --- | --- |',
    ...parameterRows,
    '',
  ];
  return [
    `## ${name}`,
    '',
    `${title}. ${about.what}`,
    '',
    `${about.record} ${about.changes}`,
    '',
    about.terms,
    '',
    ...(parameterRows.length === 0 ? [] : table),
    `- source: \`${source.url}\``,
    ...(source.jsonPath === undefined ? [] : [`- records: \`${source.jsonPath}\``]),
    ...listFills(recipe).flatMap((fill) => fillLines(fill, input === undefined ? '' : 'CORE.')),
    '',
  ].join('\n');
}

function fillLines(
  { dataset, schedule }: Pick<Recipe, 'dataset' | 'schedule'>,
  workspace: string,
): readonly string[] {
  const index = Object.entries(dataset.columnMapping).map(([part, own]) => `${part} \`${own}\``);
  const columns = Object.keys(dataset.schema.properties).map((own) => `\`${own}\``);
  const stored =
    schedule.overwrite === true
      ? 'each run replaces all records'
      : 'a record replaces the stored one of its index value';
  return [
    `- dataset: \`${workspace}${dataset.name}\`, index: ${index.join(', ')}`,
    `- columns: ${columns.join(', ')}`,
    `- schedule: \`${schedule.cron}\`; ${stored}`,
  ];
}
