// The SQL door: a SELECT over the datasets of a workspace (INTERFACE.md 3.6).
import { Type } from 'typebox';
import { TEXT_MAX } from '../../../query/sql/text/tokens.ts';
import type { ParameterValue, ParameterValues } from '../../../query/sql/text/spelling.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { Call, Endpoint } from '../../request/endpoint.ts';
import { refuse, textOf } from '../../request/parameters.ts';
import { answerSql, type SqlQuestion } from '../../sql/sql.ts';
import { SQL_PARAMETERS } from '../../sql/sqlParameters.ts';

const ROW = {
  path: '/sql-query/:workspace',
  token: 'publishable',
  weight: 'by rows or 1,000 bytes; over data of others by the records that the answer is made of',
  answer: Type.Array(Type.Object({}, { additionalProperties: true })),
  formats: ['jsonl', 'csv', 'psv', 'arrow', 'parquet'],
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

export const sqlQuery: Endpoint = {
  ...ROW,
  id: 'sqlQuery',
  method: 'GET',
  inTest: true,
  summary: 'The rows of a SELECT over the datasets of a workspace.',
  parameters: [
    {
      kind: 'text',
      name: 'sqlQuery',
      charactersMax: TEXT_MAX,
      help: 'The query; docs/sql.md says what it may contain.',
    },
    ...SQL_PARAMETERS,
  ],
  handle: (call, services) => {
    const text = textOf(call.query, 'sqlQuery');
    if (text === undefined) return refuse('sqlQuery', 'is required');
    return answerSql(call, services, { ...queryWorkspaceOf(call), text, parameters: {} });
  },
};

export const postSqlQuery: Endpoint = {
  ...ROW,
  id: 'postSqlQuery',
  method: 'POST',
  summary: 'The same, with the query as the body: its text, or JSON with query and parameters.',
  parameters: SQL_PARAMETERS,
  body: { kind: 'text' },
  handle: (call, services) =>
    answerSql(call, services, { ...queryWorkspaceOf(call), ...bodyOf(call) }),
};

const queryWorkspaceOf = ({ path }: Call): Pick<SqlQuestion, 'workspace'> => ({
  workspace: path['workspace'] ?? '',
});

/** Named parameters of one query. */
const PARAMETERS_MAX = 100;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** @throws Failure InvalidBody naming the member and the rule. */
function bodyOf({ json }: Call): Pick<SqlQuestion, 'text' | 'parameters'> {
  if (typeof json === 'string') return { text: readable(json), parameters: {} };
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new Failure('InvalidBody', 'the body must be a query, or an object with query');
  }
  const { query, parameters = {}, token: _token, ...rest } = json as Record<string, unknown>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw new Failure('InvalidBody', `${unknown.slice(0, 64)} is not known`);
  }
  if (typeof query !== 'string') throw new Failure('InvalidBody', 'query must be a text');
  return { text: readable(query), parameters: parametersOf(parameters) };
}

/** What is no UTF-8 was read as this sign: another query than was meant. */
function readable(text: string): string {
  if (!text.includes('\uFFFD')) return text;
  throw new Failure('InvalidBody', 'the body must be UTF-8');
}

function parametersOf(given: unknown): ParameterValues {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new Failure('InvalidBody', 'parameters must be an object');
  }
  const entries = Object.entries(given);
  if (entries.length > PARAMETERS_MAX) {
    throw new Failure('InvalidBody', `parameters must be at most ${PARAMETERS_MAX}`);
  }
  for (const [name, value] of entries) {
    if (!NAME.test(name)) {
      throw new Failure('InvalidBody', `parameters: ${name.slice(0, 64)} is no name`);
    }
    // JavaScript has read it as another number already.
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw new Failure('InvalidBody', `parameters.${name} is past 2^53: give it as a text`);
    }
    if (!isValue(value)) {
      throw new Failure(
        'InvalidBody',
        `parameters.${name} must be a text, number, boolean or null`,
      );
    }
  }
  return Object.fromEntries(entries);
}

const isValue = (value: unknown): value is ParameterValue =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);
