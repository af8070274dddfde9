// The endpoint table as an OpenAPI 3.1 document.
import type { TSchema } from 'typebox';
import type { Endpoint } from '../request/endpoint.ts';
import type { Parameter } from '../request/parameters.ts';
import { VERSION } from '../../store/base/version.ts';

const MEDIA_TYPES = {
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv',
  psv: 'text/plain',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const;

type Json = Readonly<Record<string, unknown>>;

export function openApi(table: readonly Endpoint[], brand: string): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of table) {
    for (const route of expandPath(endpoint.path)) {
      const path = (paths[openPath(route)] ??= {});
      path[endpoint.method.toLowerCase()] = operationOf(endpoint, route, brand);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tapedeck',
      version: VERSION,
      description: 'Metered financial data: datasets, time series, jobs, usage.',
    },
    servers: [{ url: '/v1', description: 'v1; stable and latest are its aliases' }],
    paths,
    components: { securitySchemes: SECURITY },
  };
}

const SECURITY = {
  publishable: { type: 'apiKey', in: 'query', name: 'token', description: 'pk_ or sk_ token' },
  granted: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'sk_ token, or a pk_ token with the right to change the dataset',
  },
  secret: { type: 'apiKey', in: 'query', name: 'token', description: 'sk_ token' },
  admin: { type: 'http', scheme: 'bearer', description: "the operator's own token" },
};

/** `/a/:b/:c?` -> `/a/:b`, `/a/:b/:c`: a router and OpenAPI know no optional segments. */
export function expandPath(path: string): readonly string[] {
  const segments = path.split('/').slice(1);
  const required = segments.filter((segment) => !segment.endsWith('?')).length;
  const counts = Array.from({ length: segments.length - required + 1 }, (_, at) => required + at);
  return counts.map((length) => `/${segments.slice(0, length).join('/').replaceAll('?', '')}`);
}

const openPath = (route: string): string => route.replaceAll(/:(\w+)/g, '{$1}');

function operationOf(endpoint: Endpoint, route: string, brand: string): Json {
  const names = [...route.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  const shorter = expandPath(endpoint.path).indexOf(route);
  const longest = expandPath(endpoint.path).length - 1;
  const suffix = shorter === longest ? '' : `By${capital(names.at(-1) ?? '')}`;
  return {
    operationId: `${endpoint.id}${suffix}`,
    summary: endpoint.summary,
    description: `Weight: ${endpoint.weight}.`,
    security: endpoint.token === 'none' ? [] : [{ [endpoint.token]: [] }],
    parameters: [
      ...names.map(pathParameter),
      ...(endpoint.body?.kind === 'form' ? [] : endpoint.parameters).map(queryParameter),
    ],
    ...bodyOf(endpoint),
    responses: { '200': okOf(endpoint, brand), default: { description: 'A refusal, in words.' } },
  };
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const pathParameter = (name: string): Json => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
});

const queryParameter = (parameter: Parameter): Json => ({
  name: parameter.name,
  in: 'query',
  required: false,
  description: parameter.help,
  schema: schemaOf(parameter),
  ...(parameter.kind === 'list' ? { style: 'form', explode: false } : {}),
});

function schemaOf(parameter: Parameter): Json {
  if (parameter.kind === 'integer') {
    return { type: 'integer', minimum: parameter.least, maximum: parameter.most };
  }
  if (parameter.kind === 'boolean') return { type: 'boolean' };
  if (parameter.kind === 'list') return { type: 'array', items: { type: 'string' } };
  if (parameter.kind === 'choice') return { type: 'string', enum: parameter.choices };
  if (parameter.kind === 'day') return { type: 'string', format: 'date' };
  const pattern = parameter.pattern?.source;
  return pattern === undefined ? { type: 'string' } : { type: 'string', pattern };
}

function bodyOf({ body, parameters }: Endpoint): Json {
  if (body === undefined) return {};
  if (body.kind === 'form') return formBody(parameters);
  const file = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } };
  const content =
    body.kind === 'json'
      ? { 'application/json': { schema: plain(body.schema) } }
      : { 'text/csv': file, 'application/octet-stream': file };
  return { requestBody: { required: true, content } };
}

/** The same members may stand in the query instead. */
function formBody(parameters: readonly Parameter[]): Json {
  const members = parameters.map((parameter) => [
    parameter.name,
    { ...schemaOf(parameter), description: parameter.help },
  ]);
  const schema = { type: 'object', properties: Object.fromEntries(members) as Json };
  return { requestBody: { required: false, content: { 'application/json': { schema } } } };
}

function okOf(endpoint: Endpoint, brand: string): Json {
  const content = Object.fromEntries(
    (['json', ...(endpoint.formats ?? [])] as const).map((format) => [
      MEDIA_TYPES[format],
      schemaOfBody(format, endpoint),
    ]),
  );
  const header = { description: 'Messages used by the call.', schema: { type: 'integer' } };
  const headers = endpoint.token === 'none' ? {} : { [`${brand}cloud-messages-used`]: header };
  return { description: 'Success.', content, headers };
}

/** OpenAPI 3.1 says of bytes only what they are. */
function schemaOfBody(format: keyof typeof MEDIA_TYPES, { answer }: Endpoint): Json {
  if (format === 'arrow' || format === 'parquet') return {};
  return { schema: format === 'json' ? plain(answer) : { type: 'string' } };
}

/** Without TypeBox's own marks: what is left is plain JSON schema. */
const plain = (schema: TSchema): unknown => JSON.parse(JSON.stringify(schema));
