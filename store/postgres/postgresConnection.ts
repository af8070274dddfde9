// Wraps one connection to PostgreSQL. Statements are pipelined: they don't wait for earlier answers.
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import { Failure, reasonOf } from '../base/failure.ts';
import { formatCatalogTime } from '../catalog/catalogTime.ts';
import type { StatementResult } from '../catalog/statements.ts';

interface CommandResult extends StatementResult {
  /** Command tag of the answer: `COMMIT`, or `ROLLBACK` of a failed transaction. */
  readonly command: string;
}

export interface Backend {
  readonly pid: number;
  readonly since: string;
}

export interface PostgresConnection {
  /** @throws Failure Busy when no answer arrived; else the error of PostgreSQL */
  run(sql: string, parameters: readonly unknown[]): Promise<CommandResult>;
  readonly isLost: boolean;
  /** Server process and its start time: process ids are reused. */
  readonly backend: Backend;
  close(): Promise<void>;
}

/** PostgreSQL is not running, or accepts no connections yet: it holds no locks. */
export class ServerDown extends Failure {}

/** The connection broke: the latest statements may or may not have run. */
export class ConnectionLost extends Failure {
  constructor(reason: string) {
    super('Busy', `the connection to PostgreSQL was lost: ${reason}`);
  }
}

const CONNECT_MS = 5_000;
/** Wait for a graceful end of a connection. */
const END_MS = 1_000;
/** Timeout of an answer: a statement of the catalog takes milliseconds. */
const ANSWER_MS = 60_000;
/** Limit of prepared statements; further texts are sent whole each time. */
const PREPARED_MAX = 500;
/** Session settings that override defaults of role and database, as far as the server version has them. */
const SESSION = Object.entries({
  TimeZone: 'UTC',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  default_transaction_isolation: 'read committed',
  client_min_messages: 'warning',
  // The lock of a vanished client is released after a minute, independent of its network.
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '10',
  tcp_user_timeout: '60000',
});
/** Oldest version that reports the outcome of a transaction by its `xid8`. */
const MIN_VERSION = 130_000;

const TIMESTAMPTZ = 1184;
const INT8 = 20;
const NUMERIC = 1700;
const asNumber = (text: string): number => Number(text);
const asCatalogTime = (text: string): string =>
  formatCatalogTime(Date.parse(text.replace(/([+-]\d\d)$/, '$1:00')));
const PARSERS = new Map<number, (text: string) => unknown>([
  [INT8, asNumber],
  [NUMERIC, asNumber],
  [TIMESTAMPTZ, asCatalogTime],
]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    PARSERS.get(oid) ?? (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
};

/**
 * @param answerMs timeout of an answer; the connection counts as lost then
 * @param onLost called once, unless the connection is closed
 * @throws Failure Busy when the server is unreachable or accepts no clients for now; Conflict when it refuses
 * this one
 */
export async function openConnection(
  settings: DatabaseSettings,
  answerMs = ANSWER_MS,
  onLost: () => void = () => undefined,
): Promise<PostgresConnection> {
  const socket = new Socket();
  const client = new pg.Client({ ...configuration(settings, answerMs), stream: () => socket });
  let lost: string | undefined;
  let backend: Backend;
  const lose = (reason: string): void => {
    if (lost !== undefined) return;
    lost = reason;
    onLost();
  };
  client.on('error', (error) => lose(reasonOf(error)));
  client.on('end', () => lose('it was closed'));
  try {
    await client.connect();
    await checkServer(client);
    await prepare(client, settings);
    backend = await readBackend(client);
  } catch (error) {
    socket.destroy();
    throw connectFailure(error, settings);
  }
  const preparedName = statementNames();
  return {
    backend,
    get isLost() {
      return lost !== undefined;
    },
    run: async (sql, parameters) => {
      if (lost !== undefined) throw new ConnectionLost(lost);
      try {
        const values = parameters.map(bindable);
        const result = await client.query({ text: sql, values, ...preparedName(sql), types });
        const { command, rowCount, rows } = result;
        return { rows, changed: { count: rowCount ?? 0 }, command };
      } catch (error) {
        // An invalid value was never sent.
        if (isServerAnswer(error) || error instanceof TypeError) throw error;
        // Later answers on this connection can't be assigned to a statement.
        lose(reasonOf(error));
        socket.destroy();
        throw new ConnectionLost(reasonOf(error));
      }
    },
    close: async () => {
      const closing = lost === undefined ? client.end().catch(() => undefined) : undefined;
      lost ??= 'it was closed';
      await Promise.race([closing, sleep(END_MS, undefined, { ref: false })]);
      socket.destroy();
    },
  };
}

/** Closes a connection however the work ends. */
export async function withConnection<T>(
  settings: DatabaseSettings,
  work: (link: PostgresConnection) => Promise<T>,
  answerMs?: number,
): Promise<T> {
  const link = await openConnection(settings, answerMs);
  try {
    return await work(link);
  } finally {
    await link.close();
  }
}

/** Names the server for operators. */
export const serverName = ({ database, host, port }: DatabaseSettings): string =>
  `PostgreSQL at ${host}:${port}, database ${database}`;

export async function hasTable(
  link: PostgresConnection,
  schema: string,
  table: string,
): Promise<boolean> {
  const query =
    "select to_regclass(quote_ident($1) || '.' || quote_ident($2)) is not null as stored";
  return ((await link.run(query, [schema, table])).rows[0] as { readonly stored: boolean }).stored;
}

/** Names statements that are prepared once and reused. */
function statementNames(): (sql: string) => { readonly name?: string } {
  const names = new Map<string, string>();
  return (sql) => {
    const existing = names.get(sql);
    if (existing !== undefined) return { name: existing };
    if (names.size >= PREPARED_MAX) return {};
    const name = `s${names.size}`;
    names.set(sql, name);
    return { name };
  };
}

function configuration(settings: DatabaseSettings, answerMs: number): pg.ClientConfig {
  const { caFile, database, host, password, port, tls, user } = settings;
  const ca = caFile === undefined ? {} : { ca: certificateIn(caFile) };
  return {
    host,
    port,
    user,
    password,
    database,
    ssl:
      tls === 'off'
        ? false
        : {
            rejectUnauthorized: tls === 'verified',
            ...ca,
          },
    application_name: 'tapedeck',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: answerMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 1e4,
    pipeline: true,
  };
}

function certificateIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const message = `cannot read the sslrootcert of TAPEDECK_DATABASE: ${reasonOf(error)}`;
    throw new Failure('InvalidParameter', message);
  }
}

interface Server {
  readonly version: number;
  readonly encoding: string;
  readonly is_copy: boolean;
}

/** @throws Failure Busy for a standby, which may be promoted soon; Conflict for an unsupported server */
async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Server>(`select pg_is_in_recovery() as is_copy,
    current_setting('server_version_num')::int as version,
    current_setting('server_encoding') as encoding`);
  const { encoding = '', is_copy: isCopy = false, version = 0 } = rows[0] ?? {};
  if (version < MIN_VERSION) throw new Failure('Conflict', 'it is older than version 13');
  if (encoding !== 'UTF8') throw new Failure('Conflict', `its encoding is ${encoding}, not UTF8`);
  if (isCopy) throw new Failure('Busy', 'it is a standby, which takes no writes');
}

async function prepare(client: pg.Client, { schema }: DatabaseSettings): Promise<void> {
  const [names, values] = [SESSION.map(([name]) => name), SESSION.map(([, value]) => value)];
  await client.query(
    `select set_config(given.name, given.value, false)
    from unnest($1::text[], $2::text[]) as given(name, value) join pg_settings using (name)`,
    [names, values],
  );
  // An acknowledged commit must be synced, independent of the server's default.
  await client.query(`select set_config('synchronous_commit', 'on', false)
    where current_setting('synchronous_commit') = 'off'`);
  await client.query(`set search_path to "${schema}"`);
}

async function readBackend(client: pg.Client): Promise<Backend> {
  const query = 'select pid, backend_start::text as since from pg_stat_activity where pid = $1';
  const own = await client.query<{ readonly pid: number }>('select pg_backend_pid() as pid');
  const { rows } = await client.query<Backend>(query, [own.rows[0]?.pid]);
  return rows[0] ?? { pid: 0, since: '' };
}

/** Error classes after which the connection is closed, or about to be. */
const DISCONNECTED = /^(08|57P0[1-5])/;

/** Whether the error is an answer of a live connection. */
function isServerAnswer(error: unknown): boolean {
  const { code, severity } = error as { readonly code?: string; readonly severity?: string };
  return severity !== undefined && severity !== 'FATAL' && !DISCONNECTED.test(code ?? '');
}

/**
 * Whether a retry may succeed: the server had no memory, canceled the statement, or accepts no writes for
 * now.
 */
export function isTemporary(error: unknown): boolean {
  const { code, severity } = error as { readonly code?: string; readonly severity?: string };
  return severity !== undefined && /^(53(?!100)|57014|25006)/.test(code ?? '');
}

/** Temporary: the server starts, stops, recovers, has too many connections, or is a standby. */
const TEMPORARY = /^(08|53|57P)/;

const IS_DOWN = /^(?:ECONNREFUSED|57P03)$/;

function connectFailure(error: unknown, settings: DatabaseSettings): Failure {
  if (error instanceof Failure && error.type === 'InvalidParameter') return error;
  const { code, severity } = error as { readonly code?: string; readonly severity?: string };
  const message = `${serverName(settings)}: ${reasonOf(error)}`;
  const isFinal =
    error instanceof Failure
      ? error.type === 'Conflict'
      : severity !== undefined && !TEMPORARY.test(code ?? '');
  if (IS_DOWN.test(code ?? '')) return new ServerDown('Busy', message);
  return new Failure(isFinal ? 'Conflict' : 'Busy', message);
}

function bindable(value: unknown): unknown {
  // PostgreSQL's text has no character 0.
  if (typeof value === 'string' && value.includes('\0')) return value.replaceAll('\0', '\uFFFD');
  return value ?? null;
}
