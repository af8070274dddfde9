// Adds `callback`, `filter` and `format` to every row that answers a GET with JSON (SPEC.md "Common response
// conventions"). A handler returns the value; its form is decided here, for all rows.
import { filtered } from '../request/rendering.ts';
import { formatOf, refuseBeside } from '../read/series.ts';
import { SERIES_PARAMETERS } from '../read/seriesParameters.ts';
import type { Answer, Call, Endpoint } from '../request/endpoint.ts';
import { listOf, type Parameter, textOf } from '../request/parameters.ts';

type JsonAnswer = Extract<Answer, { kind: 'json' }>;

const ADDED: readonly Parameter[] = [
  ...SERIES_PARAMETERS.filter(({ name }) => name === 'filter' || name === 'callback'),
  {
    kind: 'choice',
    name: 'format',
    choices: ['json', 'jsonl', 'csv', 'psv', 'text'],
    help: 'Format of the answer; json by default. text is csv to read in a browser.',
  },
];

export function withAnswerForms(endpoint: Endpoint): Endpoint {
  const { handle, method, parameters } = endpoint;
  if (method !== 'GET' || !isJson(endpoint)) return endpoint;
  // Rows that declare `callback` filter and format their records themselves.
  const isOwn = parameters.some(({ name }) => name === 'callback');
  return {
    ...endpoint,
    ...(isOwn ? {} : { parameters: [...parameters, ...ADDED], formats: ['jsonl', 'csv', 'psv'] }),
    handle: async (call, services) => {
      const answer = await handle(call, services);
      if (answer.kind !== 'json') return answer;
      if (isOwn) return { ...answer, callback: textOf(call.query, 'callback') };
      return formed(answer, call, isKeyed(endpoint.answer));
    },
  };
}

const isJson = ({ answer, events }: Endpoint): boolean =>
  events !== 'only' && !('not' in answer) && !('type' in answer && answer.type === 'string');

/** An answer whose members are named by days or symbols: `filter` applies to the objects within. */
function isKeyed(schema: object): boolean {
  if ('patternProperties' in schema) return true;
  const { anyOf } = schema as { readonly anyOf?: readonly object[] };
  return anyOf?.some(isKeyed) ?? false;
}

/** @throws Failure InvalidParameter for a callback beside a format other than JSON. */
function formed(answer: JsonAnswer, call: Call, isOfKeys: boolean): JsonAnswer {
  const names = listOf(call.query, 'filter');
  const { value } = answer;
  const isMap = isOfKeys && typeof value === 'object' && value !== null && !Array.isArray(value);
  const left = isMap
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filtered(one, names)]))
    : filtered(value, names);
  const requested = formatOf(call);
  // Files of records are not a form of these answers: a client that prefers them accepts JSON.
  const format = requested === 'arrow' || requested === 'parquet' ? 'json' : requested;
  if (format !== 'json') refuseBeside(call, format);
  return {
    ...answer,
    value: left,
    format,
    plain: textOf(call.query, 'format') === 'text',
    callback: textOf(call.query, 'callback'),
  };
}
