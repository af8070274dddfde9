// Pulls from PostgreSQL: a table or a SELECT, read through a cursor in one read-only snapshot, and written as
// JSON lines with exact values.
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import Cursor from 'pg-cursor';
import { withDeadline } from '../base/deadline.ts';
import { resolveAddresses, type Guard } from '../base/guard.ts';
import { land } from '../base/landing.ts';
import { toPosition, findSince, positionText } from '../base/position.ts';
import { checkPostgres } from './postgresNames.ts';
import { toPostgresFailure } from './postgresFailure.ts';
import {
  type Column,
  columnList,
  renderRow,
  quoteIdentifier,
  rowDigest,
  type RowDigest,
  stripEnd,
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
  /** Deadline from the resolution of the host's name to the last row. */
  readonly deadlineMs: number;
  /** PEM of certificate authorities instead of those that come with the runtime. */
  readonly ca?: string;
}

type PostgresOrder = PullOrder<PostgresDefinition>;
type Login = Extract<Credential, { type: 'POSTGRES' }>;

const CONNECT_MS = 10_000;
/** Time for the server to receive the end of the session. */
const END_MS = 1_000;
/** Bytes of rows in memory: the size of the last rows determines how many are fetched next. */
const BATCH_BYTES = 4 * 1024 ** 2;
const BATCH_ROWS_MAX = 10_000;
/** Rows of the first fetch, before their width is known. */
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
      throw toPostgresFailure(error, credential.host);
    });
    if (read !== undefined) yield { name, ...read };
  };

interface Session extends AsyncDisposable {
  readonly client: Client;
}

/** Opens a transaction that reads one snapshot, with settings that make texts independent of the user. */
async function connect(login: Login, rules: PostgresRules, signal: AbortSignal): Promise<Session> {
  const addresses = await resolveAddresses(login.host, rules, signal);
  const failures: unknown[] = [];
  for (const { address } of addresses) {
    const socket = new Socket();
    const client = new Client({ ...configuration(login, address, rules), stream: () => socket });
    // Errors are reported by the query that waits for a result.
    client.on('error', () => undefined);
    const stop = (): void => void socket.destroy();
    signal.addEventListener('abort', stop, { once: true });
    const end = async (): Promise<void> => {
      signal.removeEventListener('abort', stop);
      const closing = signal.aborted ? undefined : client.end().catch(() => undefined);
      await Promise.race([closing, delay(END_MS, undefined, { ref: false })]);
      socket.destroy();
    };
    try {
      signal.throwIfAborted();
      await client.connect();
      await client.query(beginStatements(rules.deadlineMs));
      return { client, [Symbol.asyncDispose]: end };
    } catch (error) {
      await end();
      signal.throwIfAborted();
      failures.push(error);
      // A refusal by the server holds for its other addresses too.
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

const beginStatements = (deadlineMs: number): string => `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL statement_timeout = ${deadlineMs};
  SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'iso_8601';
  SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1;`;

type PulledRows = Omit<Piece, 'name'>;

/** Undefined if nothing is new. */
async function pullRows(
  login: Login,
  rules: PostgresRules,
  order: PostgresOrder,
): Promise<PulledRows | undefined> {
  const { definition, landing, sample } = order;
  await using session = await connect(login, rules, landing.signal);
  const { client } = session;
  const from = `FROM (${await sourceSelect(client, definition)}\n) AS q`;
  // The extended protocol accepts only one statement; the simple one would run every statement of the text.
  const first = { text: `SELECT * ${from} LIMIT 0`, queryMode: 'extended' };
  const columns = (await client.query(first)).fields;
  const since = findSince(order);
  const [value, rows] = [positionText(since, 'value'), positionText(since, 'rows')];
  const query = { client, columns, value };
  const limit = sample === true ? `LIMIT ${SAMPLE_ROWS}` : '';
  const seen: Seen = { without: rowDigest(), last: rowDigest(), value: undefined };
  const { incrementalColumn } = definition;
  const column =
    incrementalColumn === undefined ? undefined : `q.${quoteIdentifier(incrementalColumn)}`;
  const where = column === undefined ? '' : await buildWhere(query, from, column, rows);
  const sorted = column === undefined ? '' : `ORDER BY ${column}`;
  const text = `${from} ${where} ${sorted} ${limit}`;
  const lines = toLines(readBatches(query, text, column), seen);
  const { path, bytes } = await land(lines, landing, { before: 0, ofBytes: undefined });
  // Without a greatest value, all rows were read: they are new unless they equal those of the last pull.
  const isSame = seen.value === undefined && seen.without.text() === rows;
  if (bytes === 0 || isSame) {
    await rm(path);
    return undefined;
  }
  const { without, last, value: greatest = null } = seen;
  const position = { value: greatest, rows: (greatest === null ? without : last).text() };
  return { path, bytes, position: toPosition(definition, position) };
}

interface PostgresQuery {
  readonly client: Client;
  readonly columns: readonly Column[];
  /** The greatest value of the last pull. */
  readonly value: string | undefined;
}

/** Resolves the table's name by PostgreSQL's own rules, and returns it quoted. */
async function sourceSelect(client: Client, { query, table }: PostgresDefinition): Promise<string> {
  if (query !== undefined) return stripEnd(query, '; \t\r\n\f\v');
  const result = await client.query<{ name: string }>('SELECT $1::regclass::text AS name', [table]);
  return `SELECT * FROM ${result.rows[0]?.name ?? ''}`;
}

/**
 * Selects rows with a greater value than before; and the rows with the same value again, unless they equal
 * those of the last pull: later rows of a day have the same date.
 */
async function buildWhere(
  query: PostgresQuery,
  from: string,
  column: string,
  rows: string | undefined,
): Promise<string> {
  if (query.value === undefined) return '';
  const digest = rowDigest();
  for await (const batch of readBatches(query, `${from} WHERE ${column} = $1`, column)) {
    for (const { line } of batch) digest.add(line);
  }
  return `WHERE ${column} ${digest.text() === rows ? '>' : '>='} $1`;
}

interface Row {
  readonly line: string;
  /** The value of the incremental column. */
  readonly value: string | null;
}

const RAW = { getTypeParser: () => (text: string) => text };

async function* readBatches(
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
    const rendered = batch.map((row) => ({
      line: renderRow(columns, row),
      value: row.at(-1) ?? null,
    }));
    yield rendered;
    const bytes = rendered.reduce((sum, { line }) => sum + line.length, 0);
    const next = Math.floor((rendered.length * BATCH_BYTES) / bytes);
    rows = Math.min(Math.max(1, next), BATCH_ROWS_MAX);
  }
}

/** Digests of the rows of a pull: those without a value, and those with the greatest one. */
interface Seen {
  readonly without: RowDigest;
  last: RowDigest;
  value: string | undefined;
}

async function* toLines(
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
