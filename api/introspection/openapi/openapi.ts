// Builds an OpenAPI 3.1 document from the endpoint table.
import type { TSchema } from 'typebox';
import type { AnyEndpoint } from '../../request/endpoint.ts';
import { PRICE } from '../../../reads/answer/metering.ts';
import type { Parameter } from '../../../reads/request/parameters.ts';
import { VERSION } from '../../../store/base/version.ts';
import { FAILURE_SCHEMAS, failureResponses, failureReferences } from './openapiFailures.ts';
import {
  capitalize,
  extractComponents,
  Components,
  countOccurrences,
} from './openapiComponents.ts';

const MEDIA_TYPES = {
  json: 'application/json',
  script: 'text/javascript',
  events: 'text/event-stream',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv',
  psv: 'text/plain',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
  svg: 'image/svg+xml',
  png: 'image/png',
  'vega-lite': 'application/vnd.vegalite.v5+json',
} as const;

/** Formats that are binary, or a program. */
const BYTES: ReadonlySet<string> = new Set(['arrow', 'parquet', 'png', 'script']);

type Json = Readonly<Record<string, unknown>>;

/** Components that operations share. */
interface Parts {
  readonly parameters: Components;
  readonly schemas: Components;
  readonly answers: Components;
  /** How often each answer occurs in the document, by its JSON text. */
  readonly okCounts: Map<string, number>;
  readonly times: ReadonlyMap<string, number>;
  readonly brand: string;
  readonly isPlain: boolean;
}

/** The members of an endpoint that the document describes. */
export type DescribedEndpoint = Pick<
  AnyEndpoint,
  'id' | 'method' | 'path' | 'token' | 'summary' | 'weight' | 'parameters' | 'answer'
> &
  Pick<AnyEndpoint, 'body' | 'events' | 'formats' | 'once'> & {
    /** The choices of a path segment, where they are limited. */
    readonly segments?: Readonly<Record<string, readonly string[]>> | undefined;
  };

export function buildOpenApi(
  table: readonly DescribedEndpoint[],
  brand: string,
  about: About = WHOLE,
): Json {
  const isPlain = about.isPlain === true;
  const parts: Parts = {
    parameters: new Components('parameters'),
    schemas: new Components('schemas'),
    answers: new Components('responses'),
    okCounts: new Map(),
    times: countOccurrences(table.flatMap((endpoint) => jsonSchemas(endpoint, isPlain))),
    brand,
    isPlain,
  };
  const { okCounts } = parts;
  for (const endpoint of table) {
    const text = JSON.stringify(buildOkResponse(endpoint, parts));
    okCounts.set(text, (okCounts.get(text) ?? 0) + expandPath(endpoint.path).length);
  }
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of table) {
    for (const route of expandPath(endpoint.path)) {
      const path = (paths[openPath(route)] ??= {});
      path[endpoint.method.toLowerCase()] = buildOperation(endpoint, route, parts);
    }
  }
  const tags = [...new Set(table.map(tagOf))].toSorted();
  return {
    openapi: '3.1.0',
    info: {
      title: about.title,
      version: VERSION,
      description: about.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v1', description: 'v1; stable and latest are its aliases' }],
    security: [{ publishable: [] }],
    externalDocs: about.externalDocs,
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: SECURITY,
      parameters: parts.parameters.all(),
      headers: { MessagesUsed: MESSAGES_USED },
      responses: { ...failureResponses(table), ...parts.answers.all() },
      schemas: { ...FAILURE_SCHEMAS, ...parts.schemas.all() },
    },
  };
}

/** Title and description of a document, and a link to the other one. */
interface About {
  readonly title: string;
  readonly description: string;
  readonly externalDocs: { readonly url: string; readonly description: string };
  /** Describes answers without `filter` and `estimate`. */
  readonly isPlain?: true;
}

const WHOLE: About = {
  title: 'Tapedeck',
  description: 'Metered financial data: datasets, time series, jobs, usage.',
  externalDocs: {
    url: '/v1/openapi-doc?part=market',
    description: 'All that is in the answers of each market type, as a document like this one.',
  },
};

/** The document from which typed clients are generated: calls name the properties that every answer has. */
export const CLIENT_DOCUMENT: About = { ...WHOLE, isPlain: true };

const MESSAGES_USED = { description: 'Messages used by the call.', schema: { type: 'integer' } };

/** The first word of the path is the tag. */
const tagOf = ({ events, path }: DescribedEndpoint): string =>
  events === undefined ? (path.split('/')[1] ?? '') : 'streams';

/** The JSON schemas of an endpoint's body and answer, for each of its paths. */
function jsonSchemas(endpoint: DescribedEndpoint, isPlain: boolean): readonly unknown[] {
  const { body, path } = endpoint;
  const own = [
    answerSchema(endpoint, isPlain),
    ...(body?.kind === 'json' ? [toPlainSchema(body.schema)] : []),
  ];
  return expandPath(path).flatMap(() => own);
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

/** `/a/:b/:c?` -> `/a/:b`, `/a/:b/:c`: routers and OpenAPI have no optional segments. */
export function expandPath(path: string): readonly string[] {
  const segments = path.split('/').slice(1);
  const required = segments.filter((segment) => !segment.endsWith('?')).length;
  const counts = Array.from({ length: segments.length - required + 1 }, (_, at) => required + at);
  return counts.map((length) => `/${segments.slice(0, length).join('/').replaceAll('?', '')}`);
}

const openPath = (route: string): string => route.replaceAll(/:(\w+)/g, '{$1}');

function buildOperation(endpoint: DescribedEndpoint, route: string, parts: Parts): Json {
  const names = [...route.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  const routeIndex = expandPath(endpoint.path).indexOf(route);
  const lastIndex = expandPath(endpoint.path).length - 1;
  const suffix = routeIndex === lastIndex ? '' : `By${capitalize(names.at(-1) ?? '')}`;
  const parameters = [
    ...names.map((name) => pathParameter(name, endpoint.segments?.[name])),
    ...(endpoint.body?.kind === 'form' ? [] : endpoint.parameters).map(queryParameter),
    ...(endpoint.once === true ? [KEY_HEADER] : []),
  ];
  return {
    operationId: `${endpoint.id}${suffix}`,
    tags: [tagOf(endpoint)],
    summary: endpoint.summary,
    ...(endpoint.weight === 'free' ? {} : { description: `Weight: ${endpoint.weight}.` }),
    ...buildSecurity(endpoint),
    ...(parameters.length === 0
      ? {}
      : {
          parameters: parameters.map((one) =>
            parts.parameters.refer(one, one.name.replace('-', '')),
          ),
        }),
    ...buildRequestBody(endpoint, parts),
    responses: { '200': referOkResponse(endpoint, parts), ...failureReferences(endpoint) },
  };
}

/** Empty for the document's default. */
function buildSecurity({ token }: DescribedEndpoint): Json {
  if (token === 'publishable') return {};
  return { security: token === 'none' ? [] : [{ [token]: [] }] };
}

/** An example of each path segment. */
const EXAMPLES: Readonly<Record<string, string>> = {
  symbol: 'AAPL',
  workspace: 'DEMO',
  id: 'STOCKS',
  key: 'AAPL',
  type: 'quote',
  date: '2010-03-01',
  jobId: '0f8e2d7c9b6a5f4e3d2c1b0a99887766',
};

interface NamedParameter extends Json {
  readonly name: string;
}

const pathParameter = (name: string, choices?: readonly string[]): NamedParameter => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', ...(choices === undefined ? {} : { enum: choices }) },
  ...(EXAMPLES[name] === undefined ? {} : { example: EXAMPLES[name] }),
});

/** Header of writes with idempotency keys. */
const KEY_HEADER: NamedParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Key of the request: sent again within a day, it is done once.',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
};

const queryParameter = (parameter: Parameter): NamedParameter => ({
  name: parameter.name,
  in: 'query',
  description: parameter.help,
  schema: parameterSchema(parameter),
  ...(parameter.kind === 'list' ? { style: 'form', explode: false } : {}),
});

function parameterSchema(parameter: Parameter): Json {
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

function buildRequestBody({ body, id, parameters }: DescribedEndpoint, parts: Parts): Json {
  if (body === undefined) return {};
  if (body.kind === 'form') return formBody(id, parameters, parts);
  const schema =
    body.kind === 'json'
      ? nameSchema(toPlainSchema(body.schema), `${capitalize(id)}Body`, parts)
      : RECORDS;
  const isJson = body.kind === 'json' || (body.kind === 'file' && body.json === true);
  const file = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } };
  const content = isJson
    ? { 'application/json': { schema } }
    : { 'text/csv': file, 'application/octet-stream': file };
  return { requestBody: { required: true, content } };
}

/** One record or several. */
const RECORDS = {
  anyOf: [
    { type: 'object', additionalProperties: true },
    { type: 'array', items: { type: 'object', additionalProperties: true } },
  ],
};

const nameSchema = (schema: unknown, preferredName: string, { schemas, times }: Parts): unknown =>
  extractComponents(schema, preferredName, { shared: schemas, times });

/** The same members are also accepted in the query. */
function formBody(id: string, parameters: readonly Parameter[], parts: Parts): Json {
  const members = parameters.map((parameter) => [
    parameter.name,
    { ...parameterSchema(parameter), description: parameter.help },
  ]);
  const schema = { type: 'object', properties: Object.fromEntries(members) as Json };
  const content = {
    'application/json': { schema: nameSchema(schema, `${capitalize(id)}Body`, parts) },
  };
  return { requestBody: { required: false, content } };
}

/** Refers to a component if several paths or endpoints have the same answer. */
function referOkResponse(endpoint: DescribedEndpoint, parts: Parts): Json {
  const ok = buildOkResponse(endpoint, parts);
  const isShared = (parts.okCounts.get(JSON.stringify(ok)) ?? 0) > 1;
  return isShared ? parts.answers.refer(ok, capitalize(endpoint.id)) : ok;
}

function buildOkResponse(endpoint: DescribedEndpoint, parts: Parts): Json {
  const { events, formats = [] } = endpoint;
  const mediaFormats = [
    ...(events === 'only' ? [] : (['json'] as const)),
    ...formats,
    ...(events === undefined ? [] : (['events'] as const)),
    ...(hasParameter(endpoint, 'callback') ? (['script'] as const) : []),
  ];
  const content = Object.fromEntries(
    mediaFormats.map((format) => [MEDIA_TYPES[format], buildMediaSchema(format, endpoint, parts)]),
  );
  const used = { $ref: '#/components/headers/MessagesUsed' };
  const headers =
    endpoint.path === '/status' ? {} : { [`${parts.brand}cloud-messages-used`]: used };
  const isEmpty = Object.keys(headers).length === 0;
  return { description: 'Success.', content, ...(isEmpty ? {} : { headers }) };
}

/** OpenAPI 3.1 gives binary content no schema. */
function buildMediaSchema(
  format: keyof typeof MEDIA_TYPES,
  endpoint: DescribedEndpoint,
  parts: Parts,
): Json {
  if (BYTES.has(format)) return {};
  if (format === 'vega-lite') return { schema: { type: 'object', additionalProperties: true } };
  if (format !== 'json') return { schema: { type: 'string' } };
  const answer = nameSchema(
    answerSchema(endpoint, parts.isPlain),
    `${capitalize(endpoint.id)}Answer`,
    parts,
  );
  if (parts.isPlain || !isPriced(endpoint)) return { schema: answer };
  return { schema: { anyOf: [answer, parts.schemas.refer(toPlainSchema(PRICE), 'Price')] } };
}

const hasParameter = ({ parameters }: DescribedEndpoint, name: string): boolean =>
  parameters.some((one) => one.name === name);

/** The answer, without the members that `filter` may leave out. */
function answerSchema(endpoint: DescribedEndpoint, isPlain: boolean): unknown {
  const answer = toPlainSchema(endpoint.answer);
  return !isPlain && hasParameter(endpoint, 'filter') ? withoutRequired(answer) : answer;
}

/** `estimate` returns a price instead of the answer; an answer with any members already includes one. */
const isPriced = (endpoint: DescribedEndpoint): boolean =>
  hasParameter(endpoint, 'estimate') && !isAnyObject(toPlainSchema(endpoint.answer));

/** Makes all properties of a record, or of the records of a list, optional. */
function withoutRequired(schema: unknown): unknown {
  const { anyOf, items, required: _, ...rest } = schema as Json;
  return {
    ...rest,
    ...(items === undefined ? {} : { items: withoutRequired(items) }),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map(withoutRequired) } : {}),
  };
}

function isAnyObject(schema: unknown): boolean {
  const { anyOf, properties, type } = schema as Json;
  if (Array.isArray(anyOf)) return anyOf.some(isAnyObject);
  return type === 'object' && properties === undefined;
}

/** Removes TypeBox's own marks, which leaves a plain and short JSON schema. */
const toPlainSchema = (schema: TSchema): unknown =>
  JSON.parse(JSON.stringify(schema), (_, value: unknown) => simplifySchema(value));

/** Shortens unions of bare types, and objects with any members. */
function simplifySchema(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { anyOf, properties, ...rest } = value as Json;
  if (Array.isArray(anyOf) && anyOf.every(isBareType) && Object.keys(rest).length === 0) {
    return { type: anyOf.map(({ type }) => type) };
  }
  const isOpenObject =
    rest['additionalProperties'] === true && Object.keys(properties ?? {}).length === 0;
  return isOpenObject ? rest : value;
}

const isBareType = (value: Json): boolean =>
  typeof value['type'] === 'string' && Object.keys(value).length === 1;
