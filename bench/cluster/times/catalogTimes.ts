// Measures a synced PostgreSQL commit and the delay until listening connections are notified of one. Without
// PostgreSQL it measures SQLite's commit.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import type { Postgres } from '../../../test/base/servers/postgres.ts';
import { treeCpuMs } from '../../http/cpuTime.ts';
import { median, p99 } from '../../base/measure.ts';

/** Milliseconds. */
export interface Catalog {
  readonly commitP50: number;
  readonly commitP99: number;
  /** Processor time of PostgreSQL per commit; 0 for SQLite, whose time is that of the server. */
  readonly commitCpu: number;
  /** From the start of a notifying commit until the last listener is notified; undefined for SQLite. */
  readonly heardP50?: number;
  readonly heardP99?: number;
}

const LISTENERS = 7;
const COMMITS = 500;
const TABLE = 'CREATE TABLE commits (at INTEGER, line TEXT)';

/** @param catalogPid PostgreSQL's parent process, if any */
export const measureCatalog = (
  folder: string,
  postgres: Postgres | undefined,
  catalogPid = 0,
): Promise<Catalog> =>
  postgres === undefined ? inSqlite(join(folder, 'commits.db')) : inPostgres(postgres, catalogPid);

async function inSqlite(path: string): Promise<Catalog> {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${TABLE}`);
  const insert = database.prepare('INSERT INTO commits VALUES (?, ?)');
  const times = await measureTimes(async (at) => void insert.run(at, `line ${at}`));
  database.close();
  return { commitP50: median(times), commitP99: p99(times), commitCpu: 0 };
}

async function inPostgres({ password, port, user }: Postgres, pid: number): Promise<Catalog> {
  await using stack = new AsyncDisposableStack();
  const connectClient = async (): Promise<Client> => {
    const login = { host: '127.0.0.1', port, user, password, database: 'postgres' };
    const client = new Client(login);
    await client.connect();
    stack.defer(() => client.end());
    return client;
  };
  const writer = await connectClient();
  await writer.query(TABLE);
  const insert = 'INSERT INTO commits VALUES ($1, $2)';
  const before = await treeCpuMs([pid]);
  const times = await measureTimes((at) => writer.query(insert, [at, `line ${at}`]));
  const commitCpu = ((await treeCpuMs([pid])) - before) / COMMITS;
  const listeners = await Promise.all(Array.from({ length: LISTENERS }, connectClient));
  for (const listener of listeners) await listener.query('LISTEN changes');
  const delays = await measureTimes(async (at) => {
    const all = Promise.withResolvers<void>();
    let left = LISTENERS;
    for (const listener of listeners) {
      listener.once('notification', () => {
        left -= 1;
        if (left === 0) all.resolve();
      });
    }
    await writer.query(`NOTIFY changes, '${at}'`);
    await all.promise;
  });
  return {
    commitP50: median(times),
    commitP99: p99(times),
    commitCpu,
    heardP50: median(delays),
    heardP99: p99(delays),
  };
}

async function measureTimes(work: (at: number) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < COMMITS; at += 1) {
    const beganMs = performance.now();
    await work(at);
    times.push(performance.now() - beganMs);
  }
  return times;
}
