// Bare DuckDB in a separate process with the settings of our child processes: reads the last records of one
// key after another from files to JSON text, and reports the milliseconds of each read.
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { BareRead } from './bareReadsProcess.ts';
import { serveParent } from '../http/childRequests.ts';
import { cpuSince } from '../http/cpuTime.ts';

const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await instance.connect();
await connection.run(`SET disabled_optimizers = 'late_materialization'`);
await connection.run('SET parquet_metadata_cache = true');

async function read(on: DuckDBConnection, { files, last, keys }: BareRead): Promise<object> {
  const from = `read_parquet([${files.map((file) => `'${file}'`).join(', ')}])`;
  const sql = `SELECT symbol, date, close, volume FROM ${from} WHERE symbol = $1
    ORDER BY date DESC LIMIT ${last}`;
  const times: number[] = [];
  const spent = process.cpuUsage();
  for (const key of keys) {
    const start = performance.now();
    const reader = await on.runAndReadAll(sql, [key]);
    JSON.stringify(reader.getRowObjectsJson());
    times.push(performance.now() - start);
  }
  return { times, cpuMs: cpuSince(spent) / keys.length };
}

serveParent((request: BareRead) => read(connection, request));
