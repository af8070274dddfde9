// The usual way to serve series: Fastify over PostgreSQL with a unique index, rows rendered to JSON by one
// query. It runs in a separate process with PostgreSQL as a child, stores the records of one of our datasets,
// and answers the same paths with the same headers.
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import Fastify from 'fastify';
import { Pool } from 'pg';
import { startPostgres } from '../../test/base/servers/postgres.ts';
import { serveParent } from '../http/childRequests.ts';
import { bareDuckDb } from '../base/measure.ts';

/** Memory for all records and their index, as our server has memory for all series read. */
const CONFIGURATION = `
shared_buffers = 3GB
work_mem = 64MB
maintenance_work_mem = 1GB
max_wal_size = 8GB
`;
/** Pool size: more connections than two cores can use. */
const CONNECTIONS = 16;
const COLUMNS = ['symbol', 'date', 'close', 'volume'] as const;

/** Records to serve; the message `ended` ends the process. */
export interface Records {
  /** Files with the records. */
  readonly files: readonly string[];
  readonly folder: string;
  readonly dateType: 'date' | 'timestamp';
}

interface SeriesQuery {
  readonly last?: string;
  readonly from?: string;
  readonly to?: string;
  readonly sort?: string;
  readonly filter?: string;
}

const resources = new AsyncDisposableStack();

serveParent(async (request: Records | 'ended'): Promise<{ readonly port: number | undefined }> => {
  if (request !== 'ended') return { port: await serve(request) };
  await resources.disposeAsync();
  return { port: undefined };
});

/** Returns undefined if the machine has no PostgreSQL. */
async function serve(records: Records): Promise<number | undefined> {
  const postgres = await startPostgres(CONFIGURATION);
  if (postgres === undefined) return undefined;
  resources.use(postgres);
  const { port, user, password } = postgres;
  const login = { host: '127.0.0.1', port, user, password, database: 'postgres' };
  const pool = new Pool({ ...login, max: CONNECTIONS });
  // PostgreSQL ends last; a connection that is still closing reports an error.
  pool.on('error', () => undefined);
  resources.defer(() => pool.end());
  await fill(records, pool);
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const server = Fastify({ logger: false });
  resources.defer(() => server.close());
  server.get<{ Params: { key: string }; Querystring: SeriesQuery }>(
    '/v1/data/:workspace/:id/:key',
    async (request, reply) => {
      const { name, text, values } = buildQuery(request.params.key, request.query);
      const { rows } = await pool.query<{ body: string }>({ name, text, values: [...values] });
      return reply.headers(headers).send(rows[0]?.body ?? '[]');
    },
  );
  return Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
}

async function fill({ dateType, files, folder }: Records, pool: Pool): Promise<void> {
  const from = files.map((file) => `'${file}'`).join(', ');
  const path = join(folder, 'records.csv');
  const list = COLUMNS.join(', ');
  await bareDuckDb(`COPY (SELECT ${list} FROM read_parquet([${from}])) TO '${path}' (FORMAT csv)`);
  // PostgreSQL reads the file as another user.
  await chmod(folder, 0o755);
  await pool.query(`CREATE TABLE d (symbol text, date ${dateType}, close float8, volume int8)`);
  await pool.query(`COPY d FROM '${path}' (FORMAT csv, HEADER)`);
  await pool.query('CREATE UNIQUE INDEX d_index ON d (symbol, date)');
  await pool.query('VACUUM ANALYZE d');
}

/** Builds a query whose text is prepared once per shape. */
function buildQuery(key: string, { filter, from, last, sort, to }: SeriesQuery) {
  const members = (filter?.split(',') ?? COLUMNS).filter((name) =>
    COLUMNS.some((column) => column === name),
  );
  const order = sort === 'asc' ? 'ASC' : 'DESC';
  const isRange = from !== undefined && to !== undefined;
  const where = isRange
    ? 'date BETWEEN $2 AND $3 ORDER BY date DESC'
    : 'true ORDER BY date DESC LIMIT $2';
  const rows = `SELECT * FROM d WHERE symbol = $1 AND ${where}`;
  const record = members.map((name) => `r.${name}`).join(', ');
  const text = `SELECT coalesce(json_agg(row_to_json(m) ORDER BY r.date ${order}), '[]')::text AS body
    FROM (${rows}) r, LATERAL (SELECT ${record}) m`;
  const values = isRange ? [key, from, to] : [key, Number(last)];
  return { name: `${isRange}${order}${members.join()}`, text, values };
}
