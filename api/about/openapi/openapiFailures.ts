// What is refused, by status, as responses of an OpenAPI document: each tells its sentences, which clients
// compare, and the forms they come in.
import type { FailureType } from '../../../store/base/failure.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { FAILURES } from '../../request/failures.ts';

type Json = Readonly<Record<string, unknown>>;

const PROBLEM = {
  type: 'object',
  description: 'RFC 9457, for who accepts it.',
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
  description: 'Routes of workspaces, jobs and accounts tell `message`, data routes `error`.',
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

/** Those that an operation names of its own, as what it does can end so. */
const NAMED: ReadonlySet<number> = new Set([402, 404, 409, 410]);

/** One for each of these that is named, and `default` for all, by their statuses. */
export function failureResponses(rows: readonly Failing[]): Json {
  const all = Object.values(FAILURES).toSorted((one, other) => one.status - other.status);
  const names = new Set(rows.flatMap((row) => Object.keys(failuresOf(row))));
  const told = [...NAMED].filter((status) => names.has(String(status)));
  const named = told.map((status) => {
    const sentences = all.filter((one) => one.status === status).map(({ text }) => text);
    return [String(status), sentences] as const;
  });
  const every = ['default', all.map(({ status, text }) => `${status} ${text}`)] as const;
  const responses = [...named, every].map(([name, sentences]) => [
    name,
    { description: [...new Set(sentences)].join(' · '), content: CONTENT },
  ]);
  return Object.fromEntries(responses) as Json;
}

type Failing = Pick<Endpoint, 'method' | 'parameters' | 'path' | 'weight'>;

/** Those that an endpoint may answer. */
export function failuresOf({ method, parameters, path, weight }: Failing): Json {
  const own: readonly (readonly [FailureType, boolean])[] = [
    ['OverLimit', weight !== 'free'],
    ['NotFound', path.includes(':')],
    ['Conflict', method !== 'GET'],
    ['Gone', parameters.some(({ name }) => name === 'asOf')],
  ];
  const names = own.filter(([, is]) => is).map(([type]) => String(FAILURES[type].status));
  const responses = [...names, 'default'].map((name) => [
    name,
    { $ref: `#/components/responses/${name}` },
  ]);
  return Object.fromEntries(responses) as Json;
}
