// Measures the processor time per call by processor: each kind at the serving node, and a hot read through a
// forwarding node. Each takes seconds, with real servers as processes and one client process.
import { join } from 'node:path';
import { startPostgres } from '../../../test/base/servers/postgres.ts';
import { findServerPid } from '../../lake/catalogs.ts';
import { warmCache, driveReads, readPaths } from '../../hot/hotReads.ts';
import { type Client, type DriveResult, openClient, type Side } from '../../http/clientProcess.ts';
import { getRequests, type RequestSpec } from '../../http/order.ts';
import { type BenchServer, serveFilled } from '../../http/server.ts';
import { median, p99 } from '../../base/measure.ts';
import { fillDaily, symbolOf } from '../../base/stored.ts';
import { type Catalog, measureCatalog } from './catalogTimes.ts';
import { type ReplicaTimes, measureReplica } from './replicaTimes.ts';
import { startFront } from './front.ts';
import { measureQuestions } from './leaseTimes.ts';
import { measureMessage } from './messageTimes.ts';
import { type ProcessorTimes, measureSpent } from './processorTimes.ts';

/** Milliseconds of sequential answers. */
interface Latency {
  readonly p50: number;
  readonly p99: number;
}

export interface ServiceTimes {
  readonly catalogKind: 'PostgreSQL' | 'SQLite';
  readonly hot: ProcessorTimes;
  readonly cold: ProcessorTimes;
  readonly sql: ProcessorTimes;
  readonly push: ProcessorTimes;
  /** Of a hot read: the time of the front, and the additional time of the server. */
  readonly hop: { readonly front: number; readonly beside: number; readonly added: number };
  readonly direct: Latency;
  readonly forwarded: Latency;
  readonly catalog: Catalog;
  /** Loop time of a message between nodes and its answer, at each of them. */
  readonly message: number;
  /** Time of a quota request in a message: at the requesting node, and at the lessor. */
  readonly quotaRequest: { readonly senderMs: number; readonly lessorMs: number };
  /** Of hot reads that another node answers; undefined if two nodes cannot be started. */
  readonly replica: ReplicaTimes | undefined;
}

const SYMBOLS = 500;
const RECORDS = 30;
const SECONDS = 3;
/** Duration of reads on one connection, without other load. */
const ALONE_SECONDS = 2;
const COLD_READS = 300;
const QUERIES = 300;
const PUSHES = 3_000;
const CLIENTS = 16;
const HOP_KEY = 'ab'.repeat(32);

export async function measureServices(folder: string, rows: number): Promise<ServiceTimes> {
  await using stack = new AsyncDisposableStack();
  const postgres = await startPostgres('fsync = on\nmax_connections = 100\n');
  if (postgres !== undefined) stack.use(postgres);
  const settings = {
    TAPEDECK_SQL_CACHE: '0',
    ...(postgres === undefined ? {} : { TAPEDECK_DATABASE: postgres.url() }),
  };
  const fill = (tapedeck: Parameters<typeof fillDaily>[0]): Promise<void> =>
    fillDaily(tapedeck, folder, 'D', rows, SYMBOLS);
  const { server } = await serveFilled(join(folder, 'node'), settings, fill, true, HOP_KEY);
  stack.use(server);
  const client = stack.use(openClient());
  const catalogPid = postgres === undefined ? undefined : await findServerPid(postgres);
  const measured = await measureCalls({ client, server, catalogPid, days: rows / SYMBOLS });
  const catalogKind = postgres === undefined ? 'SQLite' : 'PostgreSQL';
  const catalog = await measureCatalog(folder, postgres, catalogPid);
  const message = await measureMessage();
  const quotaRequest = await measureQuestions(folder);
  await stack.disposeAsync();
  const replica = await measureReplica(rows);
  return { ...measured, catalogKind, catalog, message, quotaRequest, replica };
}

interface Bench {
  readonly client: Client;
  readonly server: BenchServer;
  readonly catalogPid: number | undefined;
  readonly days: number;
}

async function measureCalls(
  bench: Bench,
): Promise<Omit<ServiceTimes, 'catalog' | 'catalogKind' | 'replica' | 'message' | 'quotaRequest'>> {
  const { client, server } = bench;
  const { publishable: token } = server;
  const days = Math.floor(bench.days);
  const paths = readPaths({ dataset: 'D', symbols: SYMBOLS, records: RECORDS, days, token });
  const measure = (work: () => Promise<DriveResult>): Promise<ProcessorTimes> =>
    measureSpent(server.pids[0] ?? 0, bench.catalogPid, work, ({ times }) => times.length).then(
      ({ spent }) => spent,
    );
  const cold = await measure(() => driveSome(client, server, coldReads(token), COLD_READS));
  const sql = await measure(() => driveSome(client, server, queries(token), QUERIES));
  await warmCache(client, server, paths);
  await driveReads(client, server, paths, 1);
  const hot = await measure(() => driveReads(client, server, paths, SECONDS));
  await using front = await startFront({ base: server.base, hopKey: HOP_KEY });
  await driveReads(client, front, paths, 2);
  const [frontPid = 0] = front.pids;
  const behind = await measureSpent(
    frontPid,
    undefined,
    async () => {
      const results: DriveResult[] = [];
      const spent = await measure(async () => {
        const driven = await driveReads(client, front, paths, SECONDS);
        results.push(driven);
        return driven;
      });
      return { spent, count: results[0]?.times.length ?? 0 };
    },
    ({ count }) => count,
  );
  const alone = async (side: Side): Promise<Latency> => {
    const plan = { requests: getRequests(paths), connections: 1, seconds: ALONE_SECONDS };
    const { times } = await client.drive(side, plan);
    return { p50: median(times), p99: p99(times) };
  };
  const [direct, forwarded] = [await alone(server), await alone(front)];
  await driveSome(client, server, pushes(server, '2052-01-01'), PUSHES / 3, CLIENTS);
  const push = await measure(() =>
    driveSome(client, server, pushes(server, '2052-01-02'), PUSHES, CLIENTS),
  );
  const added = behind.result.spent.loop - hot.loop;
  const hop = { front: behind.spent.loop, beside: behind.spent.beside, added };
  return { hot, cold, sql, push, hop, direct, forwarded };
}

const driveSome = (
  client: Client,
  side: Side,
  requests: readonly RequestSpec[],
  count: number,
  connections = 4,
): Promise<DriveResult> => client.drive(side, { requests, connections, count });

/** Reads from files, even if a series is in memory. */
const coldReads = (token: string): readonly RequestSpec[] =>
  getRequests(
    Array.from({ length: COLD_READS }, (_, at) => {
      const query = `last=${RECORDS}&cache=false&token=${token}`;
      return `/v1/data/WS/D/${symbolOf((at * 7919) % SYMBOLS)}?${query}`;
    }),
  );

/** Queries with distinct texts. */
const queries = (token: string): readonly RequestSpec[] =>
  getRequests(
    Array.from({ length: QUERIES }, (_, at) => {
      const symbol = symbolOf((at * 7919) % SYMBOLS);
      const sql =
        'SELECT count(*) AS n, avg(close) AS mean, max(close) AS most FROM D' +
        ` WHERE symbol = '${symbol}' AND volume > ${at}`;
      return `/v1/sql-query/WS?sqlQuery=${encodeURIComponent(sql)}&token=${token}`;
    }),
  );

const pushes = ({ secret }: BenchServer, date: string): readonly RequestSpec[] =>
  Array.from({ length: PUSHES }, (_, at) => ({
    path: `/v1/record/WS/D?duplicateKeyHandling=replace&token=${secret}`,
    method: 'POST',
    body: `{"symbol":"${symbolOf(at % SYMBOLS)}","date":"${date}","close":${at}.5}`,
  }));
