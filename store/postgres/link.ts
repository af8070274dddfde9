// One connection to PostgreSQL: statements are sent without waiting for the answers of those before them.
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import { Failure, reasonOf } from '../base/failure.ts';
import { catalogTime } from '../catalog/catalogTime.ts';
import type { Ran } from '../catalog/statements.ts';

interface LinkRan extends Ran {
  /** What PostgreSQL says that it did: `COMMIT`, or `ROLLBACK` of what had failed. */
  readonly command: string;
}

export interface Backend {
  readonly pid: number;
  readonly since: string;
}

export interface Link {
  /** @throws Lost when no answer came; else what PostgreSQL refused */
  run(sql: string, parameters: readonly unknown[]): Promise<LinkRan>;
  readonly isLost: boolean;
  /** PostgreSQL's process for it, and since when: others get its number later. */
  readonly backend: Backend;
  close(): Promise<void>;
}

/** PostgreSQL does not run, or does not let anybody in yet: nobody holds anything in it. */
export class Down extends Failure {}

/** The connection broke: what was sent last may have been done, or not. */
export class Lost extends Failure {
  constructor(reason: string) {
    super('Busy', `the connection to PostgreSQL was lost: ${reason}`);
  }
}

const CONNECT_MS = 5_000;
/** For what is said at the end of a connection; it ends without it. */
const END_MS = 1_000;
/** A statement of the catalog takes milliseconds: what is silent for longer is not there any more. */
const ANSWER_MS = 60_000;
/** Texts that are kept as prepared statements; others are sent whole each time. */
const PREPARED_MAX = 500;
/** Whatever role and database have as their defaults; of these what the version knows. */
const SESSION = Object.entries({
  TimeZone: 'UTC',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  default_transaction_isolation: 'read committed',
  client_min_messages: 'warning',
  // A client that is gone lets go of its lock after a minute, whatever its network says.
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '10',
  tcp_user_timeout: '60000',
});
/** The oldest that tells what became of a transaction by its `xid8`. */
const VERSION_LEAST = 130_000;

const TIMESTAMPTZ = 1184;
const INT8 = 20;
const NUMERIC = 1700;
const asNumber = (text: string): number => Number(text);
const asCatalogTime = (text: string): string =>
  catalogTime(Date.parse(text.replace(/([+-]\d\d)$/, '$1:00')));
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
 * @param answerMs what is silent for longer is lost
 * @param onLost told once, unless it is closed
 * @throws Failure Busy when there is none, or it lets nobody in for now; Conflict when it refuses this one
 */
export async function openLink(
  settings: DatabaseSettings,
  answerMs = ANSWER_MS,
  onLost: () => void = () => undefined,
): Promise<Link> {
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
    await refuseUnfit(client);
    await prepare(client, settings);
    backend = await backendOf(client);
  } catch (error) {
    socket.destroy();
    throw refusalOf(error, settings);
  }
  const named = statementNames();
  return {
    backend,
    get isLost() {
      return lost !== undefined;
    },
    run: async (sql, parameters) => {
      if (lost !== undefined) throw new Lost(lost);
      try {
        const values = parameters.map(bindable);
        const result = await client.query({ text: sql, values, ...named(sql), types });
        const { command, rowCount, rows } = result;
        return { rows, changed: { count: rowCount ?? 0 }, command };
      } catch (error) {
        // A value that is none was never sent.
        if (isOfServer(error) || error instanceof TypeError) throw error;
        // Whatever comes on it from now on belongs to nobody.
        lose(reasonOf(error));
        socket.destroy();
        throw new Lost(reasonOf(error));
      }
    },
    close: async () => {
      const said = lost === undefined ? client.end().catch(() => undefined) : undefined;
      lost ??= 'it was closed';
      await Promise.race([said, sleep(END_MS, undefined, { ref: false })]);
      socket.destroy();
    },
  };
}

/** Closes a connection however the work ends. */
export async function withLink<T>(
  settings: DatabaseSettings,
  work: (link: Link) => Promise<T>,
  answerMs?: number,
): Promise<T> {
  const link = await openLink(settings, answerMs);
  try {
    return await work(link);
  } finally {
    await link.close();
  }
}

/** As an operator finds it. */
export const serverName = ({ database, host, port }: DatabaseSettings): string =>
  `PostgreSQL at ${host}:${port}, database ${database}`;

export async function hasTable(link: Link, schema: string, table: string): Promise<boolean> {
  const asked =
    "select to_regclass(quote_ident($1) || '.' || quote_ident($2)) is not null as found";
  return ((await link.run(asked, [schema, table])).rows[0] as { readonly found: boolean }).found;
}

/** Of texts that are prepared once and asked again. */
function statementNames(): (sql: string) => { readonly name?: string } {
  const names = new Map<string, string>();
  return (sql) => {
    const known = names.get(sql);
    if (known !== undefined) return { name: known };
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
    const told = `the sslrootcert of TAPEDECK_DATABASE can not be read: ${reasonOf(error)}`;
    throw new Failure('InvalidParameter', told);
  }
}

interface Server {
  readonly version: number;
  readonly encoding: string;
  readonly is_copy: boolean;
}

/** @throws Failure Busy of a standby, which may be promoted soon; Conflict of one that will never do */
async function refuseUnfit(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Server>(`select pg_is_in_recovery() as is_copy,
    current_setting('server_version_num')::int as version,
    current_setting('server_encoding') as encoding`);
  const { encoding = '', is_copy: isCopy = false, version = 0 } = rows[0] ?? {};
  if (version < VERSION_LEAST) throw new Failure('Conflict', 'it is older than version 13');
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
  // An acknowledgement means synced, whatever the server's own default is.
  await client.query(`select set_config('synchronous_commit', 'on', false)
    where current_setting('synchronous_commit') = 'off'`);
  await client.query(`set search_path to "${schema}"`);
}

async function backendOf(client: pg.Client): Promise<Backend> {
  const asked = 'select pid, backend_start::text as since from pg_stat_activity where pid = $1';
  const own = await client.query<{ readonly pid: number }>('select pg_backend_pid() as pid');
  const { rows } = await client.query<Backend>(asked, [own.rows[0]?.pid]);
  return rows[0] ?? { pid: 0, since: '' };
}

/** Classes of errors after which the connection is gone, or about to go. */
const GONE = /^(08|57P0[1-5])/;

/** It was answered, by one who still is there. */
function isOfServer(error: unknown): boolean {
  const { code, severity } = error as { readonly code?: string; readonly severity?: string };
  return severity !== undefined && severity !== 'FATAL' && !GONE.test(code ?? '');
}

/** What it refuses, and may do soon: it had no memory, was told to cancel it, or takes no writes for now. */
export function isForNow(error: unknown): boolean {
  const { code, severity } = error as { readonly code?: string; readonly severity?: string };
  return severity !== undefined && /^(53(?!100)|57014|25006)/.test(code ?? '');
}

/** Not now: it starts, stops, recovers, has no more room for connections, or is a copy of another. */
const NOT_NOW = /^(08|53|57P)/;

const IS_DOWN = /^(?:ECONNREFUSED|57P03)$/;

function refusalOf(error: unknown, settings: DatabaseSettings): Failure {
  if (error instanceof Failure && error.type === 'InvalidParameter') return error;
  const { code, severity } = error as { readonly code?: string; readonly severity?: string };
  const told = `${serverName(settings)}: ${reasonOf(error)}`;
  const isFinal =
    error instanceof Failure
      ? error.type === 'Conflict'
      : severity !== undefined && !NOT_NOW.test(code ?? '');
  if (IS_DOWN.test(code ?? '')) return new Down('Busy', told);
  return new Failure(isFinal ? 'Conflict' : 'Busy', told);
}

function bindable(value: unknown): unknown {
  // PostgreSQL's text has no character 0.
  if (typeof value === 'string' && value.includes('\0')) return value.replaceAll('\0', '\uFFFD');
  return value ?? null;
}
