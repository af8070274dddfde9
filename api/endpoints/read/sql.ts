// The SQL endpoint: a SELECT over the datasets of a workspace (INTERFACE.md 3.6).
import { SQL_BODY_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import { TEXT_MAX } from '../../../query/sql/text/tokens.ts';
import type { ParameterValue, ParameterValues } from '../../../query/sql/text/spelling.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { Call, Endpoint } from '../../request/endpoint.ts';
import { readParameters, refuse, textOf } from '../../../reads/request/parameters.ts';
import { answerSql, type SqlRequest } from '../../../reads/sql/sql.ts';
import { rewriteStatement } from '../../../reads/sql/statementRewrite.ts';
import { SQL_PARAMETERS } from '../../../reads/sql/sqlParameters.ts';

const ROW = {
  path: '/sql-query/:workspace',
  token: 'publishable',
  weight: 'by rows or 1,000 bytes; over data of others by the records that the answer is made of',
  answer: Type.Array(Type.Object({}, { additionalProperties: true })),
  formats: ['jsonl', 'csv', 'psv', 'arrow', 'parquet', 'svg', 'png', 'vega-lite'],
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
      help: 'The query; docs/reference/sql.md lists what it may contain.',
    },
    ...SQL_PARAMETERS,
  ],
  handle: (call, services) => {
    const text = textOf(call.query, 'sqlQuery');
    if (text === undefined) return refuse('sqlQuery', 'is required');
    return answerQuery(call, services, { ...queryWorkspace(call), text, parameters: {} });
  },
};

export const postSqlQuery: Endpoint = {
  ...ROW,
  id: 'postSqlQuery',
  method: 'POST',
  summary:
    'The same, with the query as the body: its text, or JSON with sqlQuery (or query), parameters, and the ' +
    'parameters of GET by their names.',
  parameters: SQL_PARAMETERS,
  body: { kind: 'text', bytesMax: SQL_BODY_BYTES_MAX },
  handle: (call, services) => {
    const { query, ...sqlRequest } = parseBody(call);
    return answerQuery({ ...call, query }, services, { ...queryWorkspace(call), ...sqlRequest });
  },
};

const answerQuery: AnswerQuery = async (call, services, sqlRequest) =>
  answerSql(call, services, await rewriteStatement(call, services, sqlRequest));

type AnswerQuery = typeof answerSql;

const queryWorkspace = ({ path }: Call): Pick<SqlRequest, 'workspace'> => ({
  workspace: path['workspace'] ?? '',
});

/** Named parameters of one query. */
const PARAMETERS_MAX = 100;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

type Body = Pick<SqlRequest, 'text' | 'parameters'> & Pick<Call, 'query'>;

/** @throws Failure InvalidBody naming the member and the rule. */
function parseBody({ json, query }: Call): Body {
  if (typeof json === 'string') return { text: checkUtf8(json), parameters: {}, query };
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new Failure('InvalidBody', 'the body must be a query, or an object with sqlQuery');
  }
  const {
    parameters = {},
    query: queryAlias,
    sqlQuery = queryAlias,
    token: _token,
    ...rest
  } = json as Record<string, unknown>;
  const queryMembers = readMembers(rest);
  if (queryAlias !== undefined && sqlQuery !== queryAlias) {
    throw new Failure('InvalidBody', 'sqlQuery and query are two names of one member');
  }
  if (typeof sqlQuery !== 'string')
    throw new Failure('InvalidBody', 'sqlQuery (or query) must be a text');
  const text = checkUtf8(sqlQuery);
  return { text, parameters: checkParameters(parameters), query: { ...query, ...queryMembers } };
}

/** Reads the members that are parameters of GET. @throws Failure InvalidBody for another name. */
function readMembers(members: Readonly<Record<string, unknown>>): Call['query'] {
  for (const [name, value] of Object.entries(members)) {
    if (!SQL_PARAMETERS.some((one) => one.name === name)) {
      const names = ['sqlQuery', 'parameters', ...SQL_PARAMETERS.map((one) => one.name)].join(', ');
      throw new Failure('InvalidBody', `${name.slice(0, 64)} is no member; there are ${names}`);
    }
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      throw new Failure('InvalidBody', `${name} must be a text, a number or true or false`);
    }
  }
  const texts = Object.entries(members).map(([name, value]) => [name, String(value)] as const);
  return readParameters({ parameters: SQL_PARAMETERS }, Object.fromEntries(texts));
}

/** Invalid UTF-8 was decoded to this character, which would change the query. */
function checkUtf8(text: string): string {
  if (!text.includes('\uFFFD')) return text;
  throw new Failure('InvalidBody', 'the body must be UTF-8');
}

function checkParameters(body: unknown): ParameterValues {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Failure('InvalidBody', 'parameters must be an object');
  }
  const entries = Object.entries(body);
  if (entries.length > PARAMETERS_MAX) {
    throw new Failure('InvalidBody', `parameters must be at most ${PARAMETERS_MAX}`);
  }
  for (const [name, value] of entries) {
    if (!NAME.test(name)) {
      throw new Failure('InvalidBody', `parameters: ${name.slice(0, 64)} is no name`);
    }
    // JavaScript has rounded it already.
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
