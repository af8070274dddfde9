// docs/reference/recipes.md: what the files of recipes/ say of themselves.
import { fillsOf, type Recipe, readRecipe, recipeNames } from '../../cli/pipeline/recipeFile.ts';

const INTRODUCTION = `# Recipes

Generated from the files of \`recipes/\` by \`npm run docs\`; do not edit.

A recipe is a public source that is defined already. \`tapedeck recipe list\` lists all of them,
\`tapedeck recipe show NAME\` describes one, and

\`\`\`sh
npx tapedeck recipe add fred-series --set series=DGS10
\`\`\`

creates its dataset, its source and its schedule, which runs immediately and then by its cron expression
(in UTC); a recipe that fills several datasets creates a schedule for each. If a step fails, nothing is
created. \`--dry-run\` shows what would be created, \`--dataset\` and \`--name\` set other names,
\`--workspace\` another workspace, and \`--base https://mirror.example.com\` fetches the same path from
another origin. The result is an ordinary [source with a schedule](../guides/sources.md):
\`tapedeck schedule list\` shows its runs, \`tapedeck schedule remove\` and \`tapedeck source remove\` remove
it; the records stay.

The terms are the publisher's and may change: read them before you redistribute the data.
`;

/** The page of all recipes. */
export async function recipesPage(): Promise<string> {
  const recipes = await Promise.all((await recipeNames()).map(readRecipe));
  return [INTRODUCTION, ...recipes.map(sectionOf)].join('\n');
}

function sectionOf(recipe: Recipe): string {
  const { about, input, name, parameters, source, title } = recipe;
  const asked = parameters.map(
    ({ about: what, default: usual, name: own, pattern }) =>
      `| \`${own}\` | ${what} | ${usual === undefined ? 'must be set' : `\`${usual}\``} ` +
      `| \`${pattern.replaceAll('|', '\\|')}\` |`,
  );
  const table = ['| parameter | what | default | pattern |', '|---|---|---|---|', ...asked, ''];
  return [
    `## ${name}`,
    '',
    `${title}. ${about.what}`,
    '',
    `${about.record} ${about.changes}`,
    '',
    about.terms,
    '',
    ...(asked.length === 0 ? [] : table),
    `- source: \`${source.url}\``,
    ...(source.jsonPath === undefined ? [] : [`- records: \`${source.jsonPath}\``]),
    ...fillsOf(recipe).flatMap((fill) => fillLines(fill, input === undefined ? '' : 'CORE.')),
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
