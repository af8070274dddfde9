// Measures a server on PostgreSQL against one on SQLite: pushes, commits of small loads, and hot reads, which
// are answered from memory on both. PostgreSQL syncs commits, as by default.
import { join } from 'node:path';
import { Client as Connection } from 'pg';
import { type Postgres, startPostgres } from '../../test/base/servers/postgres.ts';
import { byPace, type Client, openClient } from '../http/clientProcess.ts';
import { findParent } from '../http/cpuTime.ts';
import { getRequests } from '../http/order.ts';
import { type BenchServer, serveFilled } from '../http/server.ts';
import { pushLoad } from './life.ts';
import { type Ratio, measureRatio, type Measurement } from '../base/measure.ts';
import { fillDaily, loadRequest, symbolOf } from '../base/stored.ts';

const ROWS = 100_000;
/** Connections that push or load sequentially. */
const CLIENTS = 16;
const PUSHES = 4_000;
const LOADS = 30;
const READ_SECONDS = 4;

export async function benchCatalogs(folder: string, pairs: number): Promise<readonly Ratio[]> {
  await using stack = new AsyncDisposableStack();
  const postgres = await startPostgres('fsync = on\n');
  if (postgres === undefined) throw new Error('PostgreSQL is not on this machine');
  stack.use(postgres);
  const url = postgres.url();
  const start = async (name: string, settings = {}): Promise<BenchServer> => {
    const { server } = await serveFilled(join(folder, name), settings, (tapedeck) =>
      fillDaily(tapedeck, folder, 'D', ROWS),
    );
    return stack.use(server);
  };
  const there = await start('there', { TAPEDECK_DATABASE: url });
  const ours = { ...there, pids: [...there.pids, await findServerPid(postgres)] };
  const bare = await start('here');
  const client = stack.use(openClient());
  const compare = async (
    name: string,
    target: string,
    work: (client: Client, server: BenchServer, round: number) => Promise<Measurement>,
  ): Promise<Ratio> => {
    const ratio = await measureRatio(
      { name: `catalog in PostgreSQL against SQLite: ${name}`, target, pairs },
      (round) => work(client, ours, round),
      (round) => work(client, bare, round),
    );
    return {
      ...ratio,
      note: 'milliseconds by answers; the processor time of PostgreSQL is in ours',
    };
  };
  return [
    await compare(`${PUSHES} pushes of ${CLIENTS} clients`, '>= 0.5', pushes),
    await compare(`${LOADS} small loads, one after the other`, '>= 0.5', loads),
    await compare('hot reads, last 30 of a key', '>= 0.95', reads),
    await compare('500 pushes a second: p99', 'none', (_client, server, round) =>
      pushLoad(server, 'D', `2051-01-${String(10 + round)}`, 500, 6),
    ),
  ];
}

/** Returns the parent process of all PostgreSQL processes. */
export async function findServerPid({ password, port, user }: Postgres): Promise<number> {
  const connection = new Connection({
    host: '127.0.0.1',
    port,
    user,
    password,
    database: 'postgres',
  });
  await connection.connect();
  try {
    const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return await findParent(rows[0]?.pid ?? 0);
  } finally {
    await connection.end();
  }
}

async function pushes(client: Client, server: BenchServer, round: number): Promise<Measurement> {
  const path = `/v1/record/WS/D?duplicateKeyHandling=replace&token=${server.secret}`;
  const date = `2052-01-${String(10 + round)}`;
  const requests = Array.from({ length: PUSHES }, (_, at) => {
    const body = `{"symbol":"${symbolOf(at)}","date":"${date}","close":${at}.5}`;
    return { path, method: 'POST', body };
  });
  return byPace(await client.drive(server, { requests, connections: CLIENTS, count: PUSHES }));
}

async function loads(client: Client, server: BenchServer, round: number): Promise<Measurement> {
  const requests = Array.from({ length: LOADS }, (_, at) => {
    const date = new Date(Date.UTC(2060, round, 1 + at)).toISOString().slice(0, 10);
    const csv = `symbol,date,close\nA,${date},1.5\nB,${date},2.5\n`;
    return loadRequest('L', csv, server.secret);
  });
  return byPace(await client.drive(server, { requests, connections: 1, count: LOADS }));
}

async function reads(client: Client, server: BenchServer): Promise<Measurement> {
  const query = `last=30&token=${server.publishable}`;
  const paths = Array.from(
    { length: 500 },
    (_, at) => `/v1/time-series/D/${symbolOf(at)}?${query}`,
  );
  const plan = { requests: getRequests(paths), connections: 8, seconds: READ_SECONDS };
  return byPace(await client.drive(server, plan));
}
