// Measures a million rows from the SQL endpoint in each format against bare COPY, and series reads beside
// many concurrent queries.
import { byP99, type Client, openClient } from '../http/clientProcess.ts';
import { getRequests, type RequestSpec } from '../http/order.ts';
import type { BenchServer } from '../http/server.ts';
import { invertRatio, measureRatio, type Ratio, computeRatio } from '../base/measure.ts';
import type { BareHow } from './bareSql.ts';
import { marketSymbol } from './sqlData.ts';
import { QUERIES } from './sqlQueries.ts';
import type { Bare, SqlEndpoint } from './sqlSides.ts';

const ROWS = 1_000_000;
const TOO_LARGE = 413;

/** Our format, the format of bare COPY, and the target: bare time divided by ours. */
const FORMATS: readonly (readonly [string, BareHow, string])[] = [
  ['csv', 'copy csv', '>= 0.8'],
  ['json', 'copy json', '>= 0.8'],
  ['parquet', 'copy parquet', '>= 0.8'],
  ['arrow', 'copy csv', '>= 0.5'],
];

export async function millionRows(
  endpoint: SqlEndpoint,
  bare: Bare,
  pairs: number,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [format, how, target] of FORMATS) {
    lines.push(JSON.stringify(await exportRows(endpoint, bare, format, how, target, pairs)));
  }
  return lines;
}

async function exportRows(
  endpoint: SqlEndpoint,
  bare: Bare,
  format: string,
  how: BareHow,
  target: string,
  pairs: number,
): Promise<Ratio> {
  const { rows, bytes } = await findMaxRows(endpoint, format);
  const sql = `SELECT * FROM TRADES LIMIT ${rows}`;
  const name = `up to ${rows} rows out as ${format}, against bare ${how}`;
  const ratio = await measureRatio(
    { name, target, pairs },
    () => endpoint.time([sql], format),
    () => bare.time(sql, how),
  );
  const refused = rows < ROWS ? `${ROWS} rows are refused with ${TOO_LARGE}; ` : '';
  return { ...ratio, note: `${refused}${(bytes / 1e6).toFixed(1)} MB` };
}

/** Halves a million rows until one response may have them. */
async function findMaxRows(
  endpoint: SqlEndpoint,
  format: string,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  for (let rows = ROWS; ; rows /= 2) {
    const { body, status } = await endpoint.answer(`SELECT * FROM TRADES LIMIT ${rows}`, format);
    if (status === 200) return { rows, bytes: body.length };
    if (status !== TOO_LARGE || rows < 1_000) throw new Error(`${status} ${body.toString()}`);
  }
}

const SECONDS = 10;
const QUERIES_AT_ONCE = 32;
const READS_AT_ONCE = 4;
const SERIES = 500;

/** Measures the p99 of series reads from memory and from files, alone and beside 32 concurrent queries. */
export async function besideSeries(
  client: Client,
  server: BenchServer,
): Promise<readonly string[]> {
  const { publishable: token } = server;
  const queries = getRequests(
    QUERIES.map(({ sql }) => `/v1/sql-query/WS?sqlQuery=${encodeURIComponent(sql)}&token=${token}`),
  );
  const lines: string[] = [];
  for (const [kind, more] of [['memory', ''] as const, ['files', '&cache=false'] as const]) {
    const paths = Array.from(
      { length: SERIES },
      (_, at) => `/v1/data/WS/QUOTES/${marketSymbol(at * 7)}?last=30${more}&token=${token}`,
    );
    const reads = getRequests(paths);
    await client.drive(server, { requests: reads, connections: 1, count: 2 * SERIES });
    lines.push(JSON.stringify(await beside(client, server, reads, queries, kind)));
  }
  return lines;
}

async function beside(
  client: Client,
  server: BenchServer,
  reads: readonly RequestSpec[],
  queries: readonly RequestSpec[],
  kind: string,
): Promise<Ratio> {
  // The queries have a separate client, because the reads are timed.
  await using other = openClient();
  const reading = { requests: reads, connections: READS_AT_ONCE, seconds: SECONDS };
  const querying = { requests: queries, connections: QUERIES_AT_ONCE, seconds: SECONDS + 2 };
  const alone = await client.drive(server, reading);
  const queried = other.tryAll(server, querying);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const crowded = await client.drive(server, reading);
  const { failures, times, tookMs } = await queried;
  const perSecond = ((times.length / tookMs) * 1000).toFixed(1);
  const [aloneMany, crowdedMany] = [alone, crowded].map((driven) =>
    ((driven.times.length / driven.tookMs) * 1000).toFixed(0),
  );
  const answered = `${perSecond} queries a second, and ${failures} failed`;
  const pace = `reads a second ${aloneMany} and ${crowdedMany}; the queries' processor time is in ours`;
  const bench = {
    name: `p99 of series reads from ${kind}, beside ${QUERIES_AT_ONCE} queries by alone`,
    target: '<= 2',
    pairs: 1,
  };
  const ratio = computeRatio(bench, [{ ours: byP99(crowded), bare: byP99(alone) }]);
  return { ...invertRatio(ratio), note: `${answered}; ${pace}` };
}
