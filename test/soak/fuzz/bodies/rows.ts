// The routes that accept JSON, read from the table of endpoints, so that new ones are covered.
import { TOOLS } from '../../../../api/agents/tools.ts';
import { ENDPOINTS } from '../../../../api/endpoints/index.ts';
import type { AnyEndpoint } from '../../../../api/request/endpoint.ts';
import {
  jsonBytesMax,
  MCP_BYTES_MAX,
  PUSH_BYTES_MAX,
} from '../../../../reads/request/bodyLimits.ts';
import type { Schema } from './schemas.ts';

/** A route that accepts JSON. */
export interface BodyRow {
  readonly id: string;
  readonly method: string;
  /** With the name of a new resource, and of an existing one. */
  readonly targets: readonly [string, string];
  readonly isAdmin: boolean;
  readonly schema: Schema;
  /** Length of the longest body that is parsed. */
  readonly bytesMax: number;
  /** A longer body is treated as data, not as JSON. */
  readonly isData: boolean;
}

const EXISTING: Readonly<Record<string, string>> = { workspace: 'FUZZ', id: 'PRICES', key: 'A' };

/** Placeholder for the name of a new resource. */
export const NEW_NAME = 'NEW_NAME';

/** A path of the endpoint with existing names for its parameters. */
export const targetOf = ({ path }: Pick<AnyEndpoint, 'path'>, pathNames = EXISTING): string =>
  `/v1${path.replaceAll(/:(\w+)\??/g, (_, name: string) => pathNames[name] ?? 'ingest')}`;

const RECORDS: Schema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['symbol', 'date', 'v'],
    properties: {
      symbol: { type: 'string' },
      date: { const: '2024-01-02' },
      v: { type: 'number' },
    },
  },
};

function schemaOf({ body, parameters }: AnyEndpoint): Schema {
  if (body?.kind === 'json') return body.schema;
  if (body?.kind === 'file') return RECORDS;
  const members = parameters.map(({ kind, name }) => [
    name,
    { type: kind === 'integer' ? 'integer' : kind === 'boolean' ? 'boolean' : 'string' },
  ]);
  const properties = Object.fromEntries(members) as Record<string, Schema>;
  if (body?.kind === 'form') return { type: 'object', properties };
  const values = { type: 'object', patternProperties: { '': {} } };
  return {
    type: 'object',
    required: ['sqlQuery'],
    properties: { ...properties, sqlQuery: { type: 'string' }, parameters: values },
  };
}

const endpointRows: readonly BodyRow[] = ENDPOINTS.filter(({ body }) => body !== undefined).map(
  (endpoint) => ({
    id: endpoint.id,
    method: endpoint.method,
    targets: [targetOf(endpoint, { ...EXISTING, id: NEW_NAME }), targetOf(endpoint)],
    isAdmin: endpoint.token === 'admin',
    schema: schemaOf(endpoint),
    bytesMax: jsonBytesMax(endpoint.body) ?? PUSH_BYTES_MAX,
    isData: endpoint.body?.kind === 'file',
  }),
);

const messageOf = (params: Schema): Schema => ({
  type: 'object',
  required: ['jsonrpc', 'id', 'method', 'params'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { const: 1 },
    method: { const: 'tools/call' },
    params: { type: 'object', required: ['name', 'arguments'], ...params },
  },
});

const agentRow = (id: string, schema: Schema): BodyRow => ({
  id,
  method: 'POST',
  targets: ['/mcp', '/mcp'],
  isAdmin: false,
  schema,
  bytesMax: MCP_BYTES_MAX,
  isData: false,
});

const agentRows: readonly BodyRow[] = TOOLS.map(({ input, name }) =>
  agentRow(`mcp ${name}`, messageOf({ properties: { name: { const: name }, arguments: input } })),
);

const batch: BodyRow = agentRow('mcp batch', {
  type: 'array',
  items: messageOf({ properties: { name: { const: 'none' }, arguments: { type: 'object' } } }),
});

export const BODY_ROWS: readonly [BodyRow, ...BodyRow[]] = [batch, ...endpointRows, ...agentRows];
