// Adds `callback`, `filter` and `format` to every row that answers a GET with JSON (SPEC.md "Common response
// conventions"). A handler returns the value; this module applies the form for all rows.
import { filterAttributes } from '../../reads/request/rendering.ts';
import { selectFormat, refuseCallback } from '../../reads/answer/format.ts';
import { SERIES_PARAMETERS } from '../../reads/series/queryParameters.ts';
import {
  type AnyEndpoint,
  type Endpoint,
  type EndpointRow,
  isOpen,
  type OpenCall,
  type OpenEndpoint,
} from '../request/endpoint.ts';
import type { Answer } from '../../reads/request/answer.ts';
import { listOf, type Parameter, textOf } from '../../reads/request/parameters.ts';

type JsonAnswer = Extract<Answer, { kind: 'json' }>;

const FORM_PARAMETERS: readonly Parameter[] = [
  ...SERIES_PARAMETERS.filter(({ name }) => name === 'filter' || name === 'callback'),
  {
    kind: 'choice',
    name: 'format',
    choices: ['json', 'jsonl', 'csv', 'psv', 'text'],
    help: 'Format of the answer; json by default. text is csv to read in a browser.',
  },
];

export function withAnswerForms(endpoint: AnyEndpoint): AnyEndpoint {
  const { method, parameters } = endpoint;
  if (method !== 'GET' || !isJson(endpoint)) return endpoint;
  // Rows that declare `callback` filter and format their records themselves.
  const hasOwnForms = parameters.some(({ name }) => name === 'callback');
  const forms = hasOwnForms
    ? {}
    : ({
        parameters: [...parameters, ...FORM_PARAMETERS],
        formats: ['jsonl', 'csv', 'psv'],
      } as const);
  const format = (answer: Answer, call: OpenCall): Answer => {
    if (answer.kind !== 'json') return answer;
    if (hasOwnForms) return { ...answer, callback: textOf(call.query, 'callback') };
    return applyForm(answer, call, isKeyed(endpoint.answer));
  };
  if (isOpen(endpoint)) {
    const { handle } = endpoint;
    const formatted: OpenEndpoint['handle'] = async (call, services) =>
      format(await handle(call, services), call);
    return { ...endpoint, ...forms, handle: formatted };
  }
  const { handle } = endpoint;
  const formatted: Endpoint['handle'] = async (call, services) =>
    format(await handle(call, services), call);
  return { ...endpoint, ...forms, handle: formatted };
}

const isJson = ({ answer, events }: EndpointRow): boolean =>
  events !== 'only' && !('not' in answer) && !('type' in answer && answer.type === 'string');

/** Whether days or symbols name the answer's members: then `filter` applies to the objects within. */
function isKeyed(schema: object): boolean {
  if ('patternProperties' in schema) return true;
  const { anyOf } = schema as { readonly anyOf?: readonly object[] };
  return anyOf?.some(isKeyed) ?? false;
}

/** @throws Failure InvalidParameter for a callback beside a format other than JSON. */
function applyForm(answer: JsonAnswer, call: OpenCall, isOfKeys: boolean): JsonAnswer {
  const names = listOf(call.query, 'filter');
  const { value } = answer;
  const isMap = isOfKeys && typeof value === 'object' && value !== null && !Array.isArray(value);
  const filteredValue = isMap
    ? Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, filterAttributes(one, names)]),
      )
    : filterAttributes(value, names);
  const requested = selectFormat(call);
  // These answers have no binary formats: a client that prefers them gets JSON.
  const format = requested === 'arrow' || requested === 'parquet' ? 'json' : requested;
  if (format !== 'json') refuseCallback(call, format);
  return {
    ...answer,
    value: filteredValue,
    format,
    plain: textOf(call.query, 'format') === 'text',
    callback: textOf(call.query, 'callback'),
  };
}
