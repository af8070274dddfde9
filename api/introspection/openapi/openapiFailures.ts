// Failures by status as responses of an OpenAPI document: each lists its messages, which clients compare, and
// their formats.
import type { FailureType } from '../../../store/base/failure.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { FAILURES } from '../../../reads/request/failures.ts';

type Json = Readonly<Record<string, unknown>>;

const PROBLEM = {
  type: 'object',
  description: 'RFC 9457, for clients that accept it.',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', examples: ['urn:tapedeck:failure:InvalidParameter'] },
    title: { type: 'string', description: 'The sentence of the status.' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'Which parameter, and the rule.' },
    instance: { type: 'string', description: 'Id of the request.' },
  },
};

const REFUSAL = {
  type: 'object',
  description: 'Routes of workspaces, jobs and accounts return `message`, data routes `error`.',
  properties: {
    success: { type: 'boolean', const: false },
    message: { type: 'string' },
    error: { type: 'string' },
  },
};

export const FAILURE_SCHEMAS: Json = { Problem: PROBLEM, Refusal: REFUSAL };

const CONTENT = {
  'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
  'application/json': { schema: { $ref: '#/components/schemas/Refusal' } },
  'text/html': { schema: { type: 'string' } },
};

/** Statuses that an operation lists itself if it can return them. */
const NAMED_STATUSES: ReadonlySet<number> = new Set([402, 404, 409, 410]);

/** One response for each status that an endpoint lists, and `default` for all. */
export function failureResponses(rows: readonly Failing[]): Json {
  const all = Object.values(FAILURES).toSorted((one, other) => one.status - other.status);
  const names = new Set(rows.flatMap((row) => Object.keys(failureReferences(row))));
  const statuses = [...NAMED_STATUSES].filter((status) => names.has(String(status)));
  const namedResponses = statuses.map((status) => {
    const sentences = all.filter((one) => one.status === status).map(({ text }) => text);
    return [String(status), sentences] as const;
  });
  const defaultResponse = ['default', all.map(({ status, text }) => `${status} ${text}`)] as const;
  const responses = [...namedResponses, defaultResponse].map(([name, sentences]) => [
    name,
    { description: [...new Set(sentences)].join(' · '), content: CONTENT },
  ]);
  return Object.fromEntries(responses) as Json;
}

type Failing = Pick<Endpoint, 'method' | 'parameters' | 'path' | 'weight'>;

/** The failures that an endpoint may return. */
export function failureReferences({ method, parameters, path, weight }: Failing): Json {
  const own: readonly (readonly [FailureType, boolean])[] = [
    ['OverLimit', weight !== 'free'],
    ['NotFound', path.includes(':')],
    ['Conflict', method !== 'GET'],
    ['Gone', parameters.some(({ name }) => name === 'asOf')],
  ];
  const names = own
    .filter(([, isPossible]) => isPossible)
    .map(([type]) => String(FAILURES[type].status));
  const responses = [...names, 'default'].map((name) => [
    name,
    { $ref: `#/components/responses/${name}` },
  ]);
  return Object.fromEntries(responses) as Json;
}
