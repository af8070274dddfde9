// `npm run docs`: what the code says of itself, as files. A test compares them with the code.
import { readFile, writeFile } from 'node:fs/promises';
import type { Endpoint } from '../api/request/endpoint.ts';
import { ENDPOINTS } from '../api/endpoints/index.ts';
import { FAILURES } from '../api/request/failures.ts';
import { marketDocument } from '../api/market/document/marketDocument.ts';
import { CLIENT, openApi } from '../api/about/openapi/openapi.ts';
import type { Parameter } from '../api/request/parameters.ts';
import { clientTypes, type Document } from './pages/clientTypes.ts';
import { commandsPage } from './pages/commandsPage.ts';
import { coveragePage } from './pages/coverage.ts';
import { SETTINGS } from '../store/base/settings/settingsTable.ts';
import { marketPage } from './pages/marketPage.ts';
import { recipesPage } from './pages/recipesPage.ts';
import { sqlPage } from './pages/sqlPage.ts';

const HERE = new URL('./', import.meta.url);
const SETTINGS_BEGIN = '<!-- settings: generated -->';
const SETTINGS_END = '<!-- settings: end -->';

/** Path below the project's root to the text that belongs there. */
export async function generate(): Promise<ReadonlyMap<string, string>> {
  const operating = await readFile(new URL('guides/operating.md', HERE), 'utf8');
  const document = openApi(ENDPOINTS, 'svc');
  const plain = openApi(ENDPOINTS, 'svc', CLIENT);
  const market = await marketDocument(ENDPOINTS, 'svc');
  return new Map([
    ['docs/reference/openapi.json', `${JSON.stringify(document, null, 2)}\n`],
    ['docs/reference/openapi-market.json', `${JSON.stringify(market, null, 2)}\n`],
    ['client/operations.ts', clientTypes([plain, market] as unknown as readonly Document[])],
    ['docs/reference/api.md', reference()],
    ['docs/reference/commands.md', commandsPage()],
    ['docs/reference/coverage.md', coveragePage()],
    ['docs/reference/sql.md', sqlPage()],
    ['docs/reference/market.md', marketPage()],
    ['docs/reference/recipes.md', await recipesPage()],
    ['docs/guides/operating.md', withSettings(operating)],
  ]);
}

function withSettings(text: string): string {
  const rows = SETTINGS.map(
    ({ name, fallback, unit, help }) => `| \`${name}\` | ${fallback} | ${unit} | ${help} |`,
  );
  const table = ['| variable | default | unit | what |', '|---|---|---|---|', ...rows].join('\n');
  const [before = ''] = text.split(SETTINGS_BEGIN);
  const [, after = ''] = text.split(SETTINGS_END);
  return `${before}${SETTINGS_BEGIN}\n${table}\n${SETTINGS_END}${after}`;
}

function reference(): string {
  const failures = Object.entries(FAILURES).map(
    ([type, { status, text }]) => `| ${status} | ${type} | ${text} |`,
  );
  return [
    '# Reference',
    '',
    'Generated from the table of endpoints by `npm run docs`; do not edit.',
    '',
    'Every path stands below a version: `/v1`, or its aliases `stable`, `latest`, `beta`. The token',
    'goes in the query (`token=`), in an `Authorization: Bearer` header or in a JSON body.',
    '',
    ...ENDPOINTS.flatMap(endpointLines),
    '## Failures',
    '',
    'Data routes answer a wrong query parameter as `{"error": …}`, other failures as the sentence',
    'below. Workspace routes answer `{"success": false, "message": …}`. With `Accept:',
    'application/problem+json` every failure is an RFC 9457 problem.',
    '',
    '| HTTP | type | sentence |',
    '|---|---|---|',
    ...failures,
    '',
  ].join('\n');
}

function endpointLines(endpoint: Endpoint): readonly string[] {
  const rows = endpoint.parameters.map(
    (parameter) => `| \`${parameter.name}\` | ${kindOf(parameter)} | ${parameter.help} |`,
  );
  const table =
    rows.length === 0 ? [] : ['| parameter | value | what |', '|---|---|---|', ...rows, ''];
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
  'Header `Idempotency-Key`: the same request with the same key is done once ' +
  '([send a write again](../guides/guides.md#send-a-write-again)).';

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
}
