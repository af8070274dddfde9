// The SQL door as the suites ask it.
import type { TestServer } from '../../base/server.ts';
import type { Table } from './plain.ts';

export interface Told {
  readonly status: number;
  readonly body: string;
  /** What it cost; undefined where nothing was said. */
  readonly messages: number | undefined;
  /** Undefined unless it was answered. */
  readonly table: Table | undefined;
}

export async function askServer(
  { base, publishable }: TestServer,
  query: string,
  parameters?: string,
): Promise<Told> {
  const given = parameters === undefined ? '' : `,"parameters":${parameters}`;
  const answer = await fetch(`${base}/v1/sql-query/WS?token=${publishable}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"query":${JSON.stringify(query)}${given}}`,
  });
  const body = await answer.text();
  const used = answer.headers.get('svccloud-messages-used');
  const messages = used === null ? undefined : Number(used);
  const table = answer.status === 200 ? tableOf(body) : undefined;
  return { status: answer.status, body, messages, table };
}

/** Names come from the first record: an answer without records has none. */
function tableOf(body: string): Table {
  const records = JSON.parse(body) as readonly Readonly<Record<string, unknown>>[];
  const names = Object.keys(records[0] ?? {});
  return { names, rows: records.map((record) => names.map((name) => record[name])) };
}
