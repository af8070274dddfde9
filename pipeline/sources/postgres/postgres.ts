// PostgreSQL: a table or a SELECT, read through a cursor in one read-only snapshot, and written as
// JSON lines with exact values.
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import Cursor from 'pg-cursor';
import { withDeadline } from '../base/deadline.ts';
import { addressesOf, type Guard } from '../base/guard.ts';
import { land } from '../base/landing.ts';
import { positionOf, sinceOf, textOf } from '../base/position.ts';
import { checkPostgres } from './postgresNames.ts';
import { postgresFailureOf } from './postgresFailure.ts';
import {
  type Column,
  columnList,
  lineOf,
  quoted,
  rowDigest,
  type RowDigest,
  withoutTail,
} from './postgresRows.ts';
import {
  type Credential,
  type Piece,
  type PostgresDefinition,
  type Pull,
  type PullOrder,
  SourceFailure,
} from '../base/source.ts';

export interface PostgresRules extends Guard {
  /** From the resolution of the host's name to the last row. */
  readonly deadlineMs: number;
  /** PEM of certificate authorities instead of those that come with the runtime. */
  readonly ca?: string;
}

type PostgresOrder = PullOrder<PostgresDefinition>;
type Login = Extract<Credential, { type: 'POSTGRES' }>;

const CONNECT_MS = 10_000;
/** Given to the server to hear that the session is over. */
const END_MS = 1_000;
/** Of rows in memory: as many rows are fetched at once as had this many bytes before. */
const BATCH_BYTES = 4 * 1024 ** 2;
const BATCH_ROWS_MAX = 10_000;
/** Before it is known how wide rows are. */
const FIRST_ROWS = 100;
const SAMPLE_ROWS = 2_000;

export const postgresPull = (rules: PostgresRules): Pull<PostgresDefinition> =>
  async function* (order) {
    const { credential, definition, landing } = order;
    checkPostgres(definition);
    if (credential?.type !== 'POSTGRES') {
      throw new SourceFailure(
        'a source of type POSTGRES needs a credential of type POSTGRES',
        false,
      );
    }
    const name = definition.table ?? `query of ${credential.database}`;
    using deadline = withDeadline(landing.signal, rules.deadlineMs, name);
    const limited = { ...order, landing: { ...landing, signal: deadline.signal } };
    const read = await pullRows(credential, rules, limited).catch((error: unknown) => {
      deadline.signal.throwIfAborted();
      throw postgresFailureOf(error, credential.host);
    });
    if (read !== undefined) yield { name, ...read };
  };

interface Session extends AsyncDisposable {
  readonly client: Client;
}

/** In a transaction that reads one snapshot, with texts that are the same whoever asks. */
async function connect(login: Login, rules: PostgresRules, signal: AbortSignal): Promise<Session> {
  const addresses = await addressesOf(login.host, rules, signal);
  const failures: unknown[] = [];
  for (const { address } of addresses) {
    const socket = new Socket();
    const client = new Client({ ...configuration(login, address, rules), stream: () => socket });
    // Whatever breaks is told by the query that waits for it.
    client.on('error', () => undefined);
    const stop = (): void => void socket.destroy();
    signal.addEventListener('abort', stop, { once: true });
    const end = async (): Promise<void> => {
      signal.removeEventListener('abort', stop);
      const said = signal.aborted ? undefined : client.end().catch(() => undefined);
      await Promise.race([said, delay(END_MS, undefined, { ref: false })]);
      socket.destroy();
    };
    try {
      signal.throwIfAborted();
      await client.connect();
      await client.query(beginning(rules.deadlineMs));
      return { client, [Symbol.asyncDispose]: end };
    } catch (error) {
      await end();
      signal.throwIfAborted();
      failures.push(error);
      // Another address is another way to the same server, not another opinion of it.
      if ((error as { readonly severity?: string }).severity !== undefined) break;
    }
  }
  throw failures.at(-1);
}

function configuration(login: Login, address: string, rules: PostgresRules): ClientConfig {
  const { database, host, password, port = 5432, user, tls } = login;
  const isName = host !== address;
  return {
    host: address,
    port,
    database,
    user,
    password,
    application_name: 'tapedeck',
    connectionTimeoutMillis: Math.min(CONNECT_MS, rules.deadlineMs),
    ssl: tls !== 'off' && {
      rejectUnauthorized: true,
      host,
      ...(isName ? { servername: host } : {}),
      ...(rules.ca === undefined ? {} : { ca: rules.ca }),
    },
  };
}

const beginning = (deadlineMs: number): string => `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL statement_timeout = ${deadlineMs};
  SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'iso_8601';
  SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1;`;

type Read = Omit<Piece, 'name'>;

/** Undefined when nothing is new. */
async function pullRows(
  login: Login,
  rules: PostgresRules,
  order: PostgresOrder,
): Promise<Read | undefined> {
  const { definition, landing, sample } = order;
  await using session = await connect(login, rules, landing.signal);
  const { client } = session;
  const from = `FROM (${await relationOf(client, definition)}\n) AS q`;
  // The extended protocol takes one statement: the other one would take all that a text holds.
  const first = { text: `SELECT * ${from} LIMIT 0`, queryMode: 'extended' };
  const columns = (await client.query(first)).fields;
  const since = sinceOf(order);
  const [value, rows] = [textOf(since, 'value'), textOf(since, 'rows')];
  const asked = { client, columns, value };
  const limit = sample === true ? `LIMIT ${SAMPLE_ROWS}` : '';
  const seen: Seen = { without: rowDigest(), last: rowDigest(), value: undefined };
  const { incrementalColumn } = definition;
  const column = incrementalColumn === undefined ? undefined : `q.${quoted(incrementalColumn)}`;
  const where = column === undefined ? '' : await whereOf(asked, from, column, rows);
  const sorted = column === undefined ? '' : `ORDER BY ${column}`;
  const text = `${from} ${where} ${sorted} ${limit}`;
  const lines = linesOf(read(asked, text, column), seen);
  const { path, bytes } = await land(lines, landing, { before: 0, ofBytes: undefined });
  // Without a greatest value, everything came: it is new when it is not what came before.
  const isSame = seen.value === undefined && seen.without.text() === rows;
  if (bytes === 0 || isSame) {
    await rm(path);
    return undefined;
  }
  const { without, last, value: greatest = null } = seen;
  const position = { value: greatest, rows: (greatest === null ? without : last).text() };
  return { path, bytes, position: positionOf(definition, position) };
}

interface PostgresQuery {
  readonly client: Client;
  readonly columns: readonly Column[];
  /** The greatest of the pull before. */
  readonly value: string | undefined;
}

/** The table's name is read by PostgreSQL's own rules, and comes back quoted. */
async function relationOf(client: Client, { query, table }: PostgresDefinition): Promise<string> {
  if (query !== undefined) return withoutTail(query, '; \t\r\n\f\v');
  const found = await client.query<{ name: string }>('SELECT $1::regclass::text AS name', [table]);
  return `SELECT * FROM ${found.rows[0]?.name ?? ''}`;
}

/**
 * What is greater than before; and the rows that have just that value once more, when they are not
 * the ones that came: a day's later rows bear the same date.
 */
async function whereOf(
  asked: PostgresQuery,
  from: string,
  column: string,
  rows: string | undefined,
): Promise<string> {
  if (asked.value === undefined) return '';
  const digest = rowDigest();
  for await (const batch of read(asked, `${from} WHERE ${column} = $1`, column)) {
    for (const { line } of batch) digest.add(line);
  }
  return `WHERE ${column} ${digest.text() === rows ? '>' : '>='} $1`;
}

interface Row {
  readonly line: string;
  /** Of the incremental column. */
  readonly value: string | null;
}

const RAW = { getTypeParser: () => (text: string) => text };

async function* read(
  { client, columns, value }: PostgresQuery,
  rest: string,
  column: string | undefined,
): AsyncGenerator<readonly Row[], void> {
  const last = column === undefined ? 'NULL' : `${column}::text`;
  const text = `SELECT ${columnList(columns)}, ${last} ${rest}`;
  const values = value === undefined ? [] : [value];
  const config = { rowMode: 'array', types: RAW } as const;
  const cursor = client.query(new Cursor<(string | null)[]>(text, values, config));
  let rows = FIRST_ROWS;
  for (;;) {
    const batch = await cursor.read(rows);
    if (batch.length === 0) return;
    const read = batch.map((row) => ({ line: lineOf(columns, row), value: row.at(-1) ?? null }));
    yield read;
    const bytes = read.reduce((sum, { line }) => sum + line.length, 0);
    const next = Math.floor((read.length * BATCH_BYTES) / bytes);
    rows = Math.min(Math.max(1, next), BATCH_ROWS_MAX);
  }
}

/** What a pull has seen: rows without a value, and those of the greatest one. */
interface Seen {
  readonly without: RowDigest;
  last: RowDigest;
  value: string | undefined;
}

async function* linesOf(
  batches: AsyncIterable<readonly Row[]>,
  seen: Seen,
): AsyncGenerator<Buffer, void> {
  for await (const batch of batches) {
    for (const { line, value } of batch) {
      if (value === null) seen.without.add(line);
      else if (value !== seen.value) [seen.value, seen.last] = [value, rowDigest()];
      if (value !== null) seen.last.add(line);
    }
    yield Buffer.from(batch.map(({ line }) => `${line}\n`).join(''));
  }
}
