// The client of the SQL endpoint for the suites.
import type { TestServer } from '../../base/server.ts';
import type { Table } from './plain.ts';

export interface SqlAnswer {
  readonly status: number;
  readonly body: string;
  /** The charged messages; undefined where the server reported none. */
  readonly messages: number | undefined;
  /** Undefined unless the status is 200. */
  readonly table: Table | undefined;
}

export async function askServer(
  { base, publishable }: TestServer,
  query: string,
  parameters?: string,
): Promise<SqlAnswer> {
  const parametersMember = parameters === undefined ? '' : `,"parameters":${parameters}`;
  const answer = await fetch(`${base}/v1/sql-query/WS?token=${publishable}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"query":${JSON.stringify(query)}${parametersMember}}`,
  });
  const body = await answer.text();
  const used = answer.headers.get('svccloud-messages-used');
  const messages = used === null ? undefined : Number(used);
  const table = answer.status === 200 ? tableOf(body) : undefined;
  return { status: answer.status, body, messages, table };
}

/** The first record defines the names: an answer without records has none. */
function tableOf(body: string): Table {
  const records = JSON.parse(body) as readonly Readonly<Record<string, unknown>>[];
  const names = Object.keys(records[0] ?? {});
  return { names, rows: records.map((record) => names.map((name) => record[name])) };
}
