// docs/recipes.md: what the files of recipes/ say of themselves.
import { type Recipe, readRecipe, recipeNames } from '../cli/pipeline/recipeFile.ts';

const INTRODUCTION = `# Recipes

Generated from the files of \`recipes/\` by \`npm run docs\`; do not edit.

A recipe is a public source that needs no definition of one's own. \`tapedeck recipe list\` lists them,
\`recipe show NAME\` says what one is about, and

\`\`\`
npx tapedeck recipe add fred-series --set series=DGS10
\`\`\`

makes its dataset, its source and its schedule, which runs at once and then by its cron (in UTC); when one
of them can't be made, none is. \`--dry-run\` says what would be made, \`--dataset\` and \`--name\` say other
names, \`--workspace\` another place, and \`--base https://mirror.example.com\` asks another origin for the
same path. What is made is like any other [source and schedule](sources.md): \`tapedeck schedule list\`
shows how it goes, \`schedule remove\` and \`source remove\` end it; the records stay.

The terms are the publisher's, and may change: read them before you pass data on.
`;

/** The page of all recipes. */
export async function recipesPage(): Promise<string> {
  const recipes = await Promise.all((await recipeNames()).map(readRecipe));
  return [INTRODUCTION, ...recipes.map(sectionOf)].join('\n');
}

function sectionOf(recipe: Recipe): string {
  const { about, dataset, name, parameters, schedule, source, title } = recipe;
  const asked = parameters.map(
    ({ about: what, default: usual, name: own, pattern }) =>
      `| \`${own}\` | ${what} | ${usual === undefined ? 'must be set' : `\`${usual}\``} ` +
      `| \`${pattern.replaceAll('|', '\\|')}\` |`,
  );
  const table = ['| parameter | what | default | pattern |', '|---|---|---|---|', ...asked, ''];
  const index = Object.entries(dataset.columnMapping).map(([part, own]) => `${part} \`${own}\``);
  const stored =
    schedule.overwrite === true
      ? 'each run takes the place of all records'
      : 'a record whose index value is stored takes its place';
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
    `- dataset: \`${dataset.name}\`, index: ${index.join(', ')}`,
    `- columns: ${Object.keys(dataset.schema.properties)
      .map((own) => `\`${own}\``)
      .join(', ')}`,
    `- schedule: \`${schedule.cron}\`; ${stored}`,
    '',
  ].join('\n');
}
