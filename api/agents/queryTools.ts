// Tools that ask for many records: SQL, series, and what they would cost.
import { Type } from '../request/body/schema.ts';
import { DATASET, KEY, WORKSPACE } from './datasetTools.ts';
import { CHARACTERS, CHARACTERS_MAX, cut, parsed, resultOf, type Tool } from './tool.ts';

const ROWS = 100;
const ROWS_MAX = 1_000;
/** What one query may cost where the agent does not say. */
const MESSAGES = 1_000;

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
const SHOWN = {
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
  run: async ({ sql, workspace }, { ask }) => {
    const query = { explain: true };
    const path = sqlPath(workspace);
    return resultOf(await ask({ method: 'POST', path, query, body: String(sql) }));
  },
};

export const querySql: Tool = {
  name: 'query_sql',
  title: 'Ask in SQL',
  description:
    `Runs one SELECT and answers csv, at most ${ROWS} rows where you do not say. Costs a ` +
    `message for each row or ` +
    `1,000 bytes, by the weight of its datasets; refused beyond ${MESSAGES} messages unless ` +
    `you say more. ` +
    'Aggregate and LIMIT in SQL: rows that are not shown are paid all the same.',
  input: Type.Object(
    { workspace: WORKSPACE, sql: SQL, maxMessages: Type.Optional(MAX_MESSAGES), ...SHOWN },
    { additionalProperties: false },
  ),
  run: async (
    { characters = CHARACTERS, maxMessages = MESSAGES, rows = ROWS, sql, workspace },
    { ask },
  ) => {
    const query = { format: 'csv', maxMessages: Number(maxMessages) };
    const answered = await ask({
      method: 'POST',
      path: sqlPath(workspace),
      query,
      body: String(sql),
    });
    return resultOf(answered, (text) => cut(text, Number(characters), Number(rows)));
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
      ...SHOWN,
    },
    { additionalProperties: false },
  ),
  run: async (
    { characters = CHARACTERS, columns, dataset, key, rows = ROWS, workspace, ...rest },
    { ask },
  ) => {
    const parts = [workspace, dataset, ...(key === undefined ? [] : [key])];
    const path = `/data/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`;
    const bounds = ['range', 'from', 'to', 'last'].some((name) => rest[name] !== undefined);
    const query = {
      ...(rest as Readonly<Record<string, string | number>>),
      ...(columns === undefined ? {} : { filter: String(columns) }),
      // Whoever asks for nothing in particular sees more than one record.
      ...(bounds ? {} : { last: 30 }),
      maxMessages: Number(rest['maxMessages'] ?? MESSAGES),
      format: 'csv',
    };
    const answered = await ask({ method: 'GET', path, query });
    return resultOf(answered, (text) => cut(text, Number(characters), Number(rows)));
  },
};

export const allowance: Tool = {
  name: 'allowance',
  title: 'What may still be spent',
  description: 'Messages that the token may still spend this month. Free.',
  input: Type.Object({}, { additionalProperties: false }),
  run: async (_input, { ask }) => {
    const answered = await ask({ method: 'GET', path: '/account/allowance' });
    return resultOf(answered, (text) => allowanceLine(parsed(text)));
  },
};

/** What is left, in a sentence. */
export function allowanceLine(told: unknown): string {
  const { messageLimit, messagesLeft } = (told ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof messagesLeft !== 'number') return 'left: as much as the account may spend';
  const of = typeof messageLimit === 'number' ? ` of ${messageLimit}` : '';
  return `left: ${messagesLeft}${of} messages this month`;
}
