// `npm run docs`: writes the pages that are generated from the code, which a test compares with it, and the
// types of the client.
import { writeFile } from 'node:fs/promises';
import type { AnyEndpoint } from '../api/request/endpoint.ts';
import { ENDPOINTS } from '../api/endpoints/index.ts';
import { marketDocument } from '../api/market/document/marketDocument.ts';
import { buildOpenApi } from '../api/introspection/openapi/openapi.ts';
import type { Parameter } from '../reads/request/parameters.ts';
import { writeClient } from './generateClient.ts';
import { commandsPage } from './pages/commandsPage.ts';
import { coveragePage } from './pages/coverage.ts';
import { errorsPage } from './pages/errorsPage.ts';
import { marketPage } from './pages/marketPage.ts';
import { recipesPage } from './pages/recipesPage.ts';
import { settingsPage } from './pages/settingsPage.ts';
import { sqlPage } from './pages/sqlPage.ts';

/** Path below the project's root to the text that belongs there. */
export async function generate(): Promise<ReadonlyMap<string, string>> {
  const document = buildOpenApi(ENDPOINTS, 'svc');
  const market = await marketDocument(ENDPOINTS, 'svc');
  return new Map([
    ['docs/reference/openapi.json', `${JSON.stringify(document, null, 2)}\n`],
    ['docs/reference/openapi-market.json', `${JSON.stringify(market, null, 2)}\n`],
    ['docs/reference/api.md', reference()],
    ['docs/reference/commands.md', commandsPage()],
    ['docs/reference/coverage.md', coveragePage()],
    ['docs/reference/sql.md', sqlPage()],
    ['docs/reference/market.md', marketPage()],
    ['docs/reference/recipes.md', await recipesPage()],
    ['docs/reference/settings.md', settingsPage()],
    ['docs/reference/errors.md', errorsPage()],
  ]);
}

function reference(): string {
  return [
    '# API',
    '',
    'Generated from the table of endpoints by `npm run docs`; do not edit.',
    '',
    'A path begins with a version: `/v1`, or its aliases `stable`, `latest`, `beta`. Send the token in the',
    'query (`token=`), in an `Authorization: Bearer` header or in a JSON body. [Errors](errors.md) lists',
    'every failure.',
    '',
    ...ENDPOINTS.flatMap(endpointLines),
  ].join('\n');
}

function endpointLines(endpoint: AnyEndpoint): readonly string[] {
  const rows = endpoint.parameters.map(
    (parameter) => `| \`${parameter.name}\` | ${kindOf(parameter)} | ${parameter.help} |`,
  );
  const table =
    rows.length === 0
      ? []
      : ['| parameter | value | meaning |', '| --- | --- | --- |', ...rows, ''];
  const formats = ['json', ...(endpoint.formats ?? [])].join(', ');
  return [
    `## ${endpoint.method} ${endpoint.path}`,
    '',
    endpoint.summary,
    '',
    `Token: ${endpoint.token}. Weight: ${endpoint.weight}. Formats: ${formats}.`,
    ...(endpoint.aliases ?? []).map((alias) => `Also: ${alias}.`),
    ...(endpoint.once === true ? [KEY_LINE] : []),
    '',
    ...table,
  ];
}

const KEY_LINE =
  'Header `Idempotency-Key`: a request that is repeated with the same key runs once ' +
  '([retry a write](../guides/retries.md)).';

function kindOf(parameter: Parameter): string {
  if (parameter.kind === 'choice') return parameter.choices.join(', ');
  if (parameter.kind === 'integer') return `whole number, ${parameter.least} to ${parameter.most}`;
  if (parameter.kind === 'day') return 'date, YYYY-MM-DD or YYYYMMDD';
  return parameter.kind === 'list' ? 'comma list' : parameter.kind;
}

if (import.meta.main) {
  for (const [path, text] of await generate()) {
    await writeFile(new URL(`../${path}`, import.meta.url), text);
  }
  await writeClient();
}
