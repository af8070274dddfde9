// Runs one statement in bare DuckDB with default settings; prints its duration and processor time as JSON.
import { DuckDBInstance } from '@duckdb/node-api';
import { cpuSince } from '../http/cpuTime.ts';

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const spent = process.cpuUsage();
const start = performance.now();
await connection.run(process.argv[2] ?? 'SELECT 1');
const ms = performance.now() - start;
process.stdout.write(JSON.stringify({ ms, times: [ms], cpuMs: cpuSince(spent) }));
