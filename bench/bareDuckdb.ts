// Bare DuckDB with its own defaults: one statement, its milliseconds on stdout.
import { DuckDBInstance } from '@duckdb/node-api';

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const start = performance.now();
await connection.run(process.argv[2] ?? 'SELECT 1');
process.stdout.write(String(performance.now() - start));
