// Published queries: SELECTs with typed parameters, each with its own endpoint.
import { SQL_BODY_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import type { ParameterValue, ParameterValues } from '../../../query/sql/text/spelling.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { PublishedQuery, QueryParameter } from '../../../store/lake/datasets/views.ts';
import { findManagedWorkspace } from '../../../reads/rights/access.ts';
import type { Call, Endpoint } from '../../request/endpoint.ts';
import { parseDay } from '../../../query/time/dates.ts';
import { buildQueriesDocument } from '../../../reads/sql/queriesDocument.ts';
import { parseBoolean, refuse, textOf } from '../../../reads/request/parameters.ts';
import { ENDPOINT_BODY, endpointBody } from '../../../reads/sql/queryBody.ts';
import { answerSql } from '../../../reads/sql/sql.ts';
import { findPublishedQuery } from '../../../reads/rights/viewAccess.ts';
import { SQL_PARAMETERS, RESERVED_NAMES } from '../../../reads/sql/sqlParameters.ts';
import { NUMBER_RULE, WHOLE_NUMBER_RULE } from '../../../store/base/valueRules.ts';
import { workspaceMaximum } from '../../../store/publications/fileTypes.ts';

const ANY = Type.Object({}, { additionalProperties: true });
const CHANGED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  endpointId: Type.String(),
});
const ROW = {
  token: 'secret',
  weight: 'free',
  parameters: [],
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

export const publishQuery: Endpoint = {
  ...ROW,
  id: 'publishQuery',
  method: 'POST',
  path: '/endpoints/:workspace/:id?',
  summary: 'Publishes a SELECT with parameters as an endpoint, or changes the one of that name.',
  body: { kind: 'json', schema: ENDPOINT_BODY, bytesMax: SQL_BODY_BYTES_MAX },
  answer: CHANGED,
  handle: async (call, services) => {
    const { lake, queries } = services;
    const { workspace } = findManagedWorkspace(call.caller, call.path['workspace'] ?? '', lake);
    const bodyName = (call.json as { endpoint: { name?: string } }).endpoint.name;
    const name = call.path['id'] ?? bodyName;
    if (name === undefined) throw new Failure('InvalidBody', 'endpoint.name is required');
    const isNew = queries.endpoint(workspace, name) === undefined;
    if (isNew && queries.endpoints(workspace).length >= ENDPOINTS_MAX) {
      throw new Failure('InvalidBody', workspaceMaximum(`${ENDPOINTS_MAX} endpoints`));
    }
    const saved = await queries.save(
      workspace,
      name,
      await endpointBody(call, services, workspace),
    );
    const message = isNew ? 'Endpoint has been created' : 'Endpoint has been updated';
    const value = { success: true, message, endpointId: saved.name };
    return { kind: 'json', value, metering: 'free' };
  },
};

const ENDPOINTS_MAX = 1_000;

export const listPublished: Endpoint = {
  ...ROW,
  id: 'listPublished',
  method: 'GET',
  path: '/endpoints/:workspace',
  summary: 'The published queries of a workspace.',
  answer: Type.Array(ANY),
  handle: async (call, { lake, queries }) => {
    const { workspace } = findManagedWorkspace(call.caller, call.path['workspace'] ?? '', lake);
    return { kind: 'json', value: queries.endpoints(workspace).map(toView), metering: 'free' };
  },
};

function toView(published: PublishedQuery): object {
  const { createdMs, description, name, parameters, query, tier, title, updatedMs, weight } =
    published;
  return {
    endpointId: name,
    title,
    description,
    parameters,
    ...(weight === undefined ? {} : { weight }),
    ...(tier === undefined ? {} : { tier }),
    query,
    date: createdMs,
    updated: updatedMs,
  };
}

export const callPublished: Endpoint = {
  ...ROW,
  id: 'callPublished',
  method: 'GET',
  path: '/endpoints/:workspace/:id',
  token: 'publishable',
  inTest: true,
  summary: 'The rows of a published query; its own parameters are in the query string.',
  weight:
    'the weight of the endpoint, else as of a query: by the answer, over data of others by records',
  parameters: SQL_PARAMETERS,
  openParameters: true,
  answer: Type.Array(ANY),
  formats: ['jsonl', 'csv', 'psv', 'arrow', 'parquet', 'svg', 'png', 'vega-lite'],
  failures: 'data',
  handle: async (call, services) => {
    const { id = '', workspace = '' } = call.path;
    const query = findPublishedQuery(call.caller, workspace, id, services);
    const usageKey = `${query.workspace}.${query.name}`;
    return answerSql(call, services, {
      workspace: query.workspace,
      text: query.query,
      parameters: readValues(query, call),
      stored: { tables: query.tables, weight: query.weight, usageKey },
    });
  },
};

export const deletePublished: Endpoint = {
  ...ROW,
  id: 'deletePublished',
  method: 'DELETE',
  path: '/endpoints/:workspace/:id',
  summary: 'Deletes a published query.',
  answer: CHANGED,
  handle: async (call, { lake, queries }) => {
    const { workspace } = findManagedWorkspace(call.caller, call.path['workspace'] ?? '', lake);
    const query = queries.endpoint(workspace, call.path['id'] ?? '');
    if (query === undefined) throw new Failure('NotFound');
    await queries.remove(query);
    const value = { success: true, message: 'Endpoint has been deleted', endpointId: query.name };
    return { kind: 'json', value, metering: 'free' };
  },
};

/** The OpenAPI document of a workspace's views and published queries. */
export const workspaceOpenApi: Endpoint = {
  ...ROW,
  id: 'getWorkspaceOpenApi',
  method: 'GET',
  path: '/openapi-doc/:workspace',
  summary: 'The views and published queries of a workspace as an OpenAPI 3.1 document.',
  answer: ANY,
  handle: async (call, { lake, queries }) => {
    const { workspace } = findManagedWorkspace(call.caller, call.path['workspace'] ?? '', lake);
    const value = buildQueriesDocument(
      workspace,
      queries.views(workspace),
      queries.endpoints(workspace),
    );
    return { kind: 'json', value, metering: 'free' };
  },
};

/** @throws Failure InvalidParameter naming a parameter and its type, or an unknown one. */
function readValues({ parameters }: PublishedQuery, { query }: Call): ParameterValues {
  const names = new Set(parameters.map(({ name }) => name));
  for (const name of Object.keys(query)) {
    if (!names.has(name) && !RESERVED_NAMES.has(name)) refuse(name, 'is not allowed');
  }
  return Object.fromEntries(parameters.map((item) => [item.name, readValue(item, query)]));
}

function readValue(parameter: QueryParameter, query: Call['query']): ParameterValue {
  const { name, type } = parameter;
  const text = textOf(query, name);
  if (text === undefined) {
    return parameter.default === undefined ? refuse(name, 'is required') : parameter.default;
  }
  if (type === 'string') return text;
  if (type === 'date') return parseDay(name, text);
  if (type === 'boolean') return parseBoolean(name, text);
  const value = Number(text);
  const isWhole = type === 'number' || /^-?\d{1,15}$/.test(text);
  if (text.trim() !== '' && Number.isFinite(value) && isWhole) return value;
  return refuse(name, type === 'number' ? NUMBER_RULE : WHOLE_NUMBER_RULE);
}
