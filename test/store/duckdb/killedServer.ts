// A process with query processes that is killed while they start.
import { DuckDbPool } from '../../../store/duckdb/pool.ts';

const pool = new DuckDbPool({ children: 3, memoryBytes: 128 * 1024 ** 2, threads: 1 });
pool.warm();
setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(process.argv[2]));
