// Tools that read many records with SQL or as series, and estimate their cost.
import { Type } from '../../reads/request/schema.ts';
import { DATASET, KEY, WORKSPACE } from './datasetTools.ts';
import {
  CHARACTERS_DEFAULT,
  CHARACTERS_MAX,
  truncateRows,
  parseJson,
  toResult,
  type Tool,
} from './tool.ts';

const ROWS = 100;
const ROWS_MAX = 1_000;
/** The default maximum cost of one query. */
const MESSAGES_DEFAULT = 1_000;

const SQL = Type.String({
  minLength: 1,
  maxLength: 20_000,
  description:
    'One SELECT. Tables by name, those of other workspaces as WORKSPACE.NAME. Joins, ' +
    'windows, aggregates, ' +
    'common tables and sub-selects are there; nothing is written.',
});
const MAX_MESSAGES = Type.Integer({
  minimum: 0,
  maximum: 1_000_000_000,
  description:
    'The most that the call may cost: one that would cost more is refused, free of charge',
});
const OUTPUT_LIMITS = {
  rows: Type.Optional(Type.Integer({ minimum: 1, maximum: ROWS_MAX, description: 'Rows to show' })),
  characters: Type.Optional(
    Type.Integer({ minimum: 200, maximum: CHARACTERS_MAX, description: 'Characters to show' }),
  ),
};

const sqlPath = (workspace: unknown): string =>
  `/sql-query/${encodeURIComponent(String(workspace))}`;

export const estimateCost: Tool = {
  name: 'estimate_cost',
  title: 'What a query would cost',
  description:
    'The most messages that a SELECT may cost, its columns and its steps, without running it. Free.',
  input: Type.Object({ workspace: WORKSPACE, sql: SQL }, { additionalProperties: false }),
  run: async ({ sql, workspace }, { send }) => {
    const query = { explain: true };
    const path = sqlPath(workspace);
    return toResult(await send({ method: 'POST', path, query, body: String(sql) }));
  },
};

export const querySql: Tool = {
  name: 'query_sql',
  title: 'Query with SQL',
  description:
    `Runs one SELECT and returns csv, at most ${ROWS} rows by default. Costs a ` +
    `message for each row or ` +
    `1,000 bytes, by the weight of its datasets; refused beyond ${MESSAGES_DEFAULT} messages unless ` +
    `you set maxMessages. ` +
    'Aggregate and LIMIT in SQL: rows that are not shown are charged too.',
  input: Type.Object(
    { workspace: WORKSPACE, sql: SQL, maxMessages: Type.Optional(MAX_MESSAGES), ...OUTPUT_LIMITS },
    { additionalProperties: false },
  ),
  run: async (
    {
      characters = CHARACTERS_DEFAULT,
      maxMessages = MESSAGES_DEFAULT,
      rows = ROWS,
      sql,
      workspace,
    },
    { send },
  ) => {
    const query = { format: 'csv', maxMessages: Number(maxMessages) };
    const response = await send({
      method: 'POST',
      path: sqlPath(workspace),
      query,
      body: String(sql),
    });
    return toResult(response, (text) => truncateRows(text, Number(characters), Number(rows)));
  },
};

export const readSeries: Tool = {
  name: 'read_series',
  title: 'Read a time series',
  description:
    'Records of a key of a dataset, newest first, as csv: by range (5d, 3m, 1y, ytd, 2020, ' +
    'Q12024, max), by from and to, ' +
    'or the last so many. Costs the weight of the dataset for each record.',
  input: Type.Object(
    {
      workspace: WORKSPACE,
      dataset: DATASET,
      key: Type.Optional(KEY),
      range: Type.Optional(Type.String({ maxLength: 20 })),
      from: Type.Optional(Type.String({ maxLength: 10, description: 'YYYY-MM-DD' })),
      to: Type.Optional(Type.String({ maxLength: 10, description: 'YYYY-MM-DD' })),
      last: Type.Optional(Type.Integer({ minimum: 1, maximum: ROWS_MAX })),
      columns: Type.Optional(
        Type.String({ maxLength: 2_000, description: 'Only these, with commas between them' }),
      ),
      asOf: Type.Optional(
        Type.String({
          maxLength: 40,
          description: 'As it was known then: a day, a time, a version',
        }),
      ),
      maxMessages: Type.Optional(MAX_MESSAGES),
      ...OUTPUT_LIMITS,
    },
    { additionalProperties: false },
  ),
  run: async (
    { characters = CHARACTERS_DEFAULT, columns, dataset, key, rows = ROWS, workspace, ...rest },
    { send },
  ) => {
    const parts = [workspace, dataset, ...(key === undefined ? [] : [key])];
    const path = `/data/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`;
    const hasBounds = ['range', 'from', 'to', 'last'].some((name) => rest[name] !== undefined);
    const query = {
      ...(rest as Readonly<Record<string, string | number>>),
      ...(columns === undefined ? {} : { filter: String(columns) }),
      // Without bounds the default is several records, not one.
      ...(hasBounds ? {} : { last: 30 }),
      maxMessages: Number(rest['maxMessages'] ?? MESSAGES_DEFAULT),
      format: 'csv',
    };
    const response = await send({ method: 'GET', path, query });
    return toResult(response, (text) => truncateRows(text, Number(characters), Number(rows)));
  },
};

export const allowance: Tool = {
  name: 'allowance',
  title: 'What may still be spent',
  description: 'Messages that the token may still spend this month. Free.',
  input: Type.Object({}, { additionalProperties: false }),
  run: async (_input, { send }) => {
    const response = await send({ method: 'GET', path: '/account/allowance' });
    return toResult(response, (text) => formatAllowance(parseJson(text)));
  },
};

/** Describes the remaining allowance in a sentence. */
export function formatAllowance(answer: unknown): string {
  const { messageLimit, messagesLeft } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof messagesLeft !== 'number') return 'left: as much as the account may spend';
  const of = typeof messageLimit === 'number' ? ` of ${messageLimit}` : '';
  return `left: ${messagesLeft}${of} messages this month`;
}
