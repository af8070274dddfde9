// A process that may open few files: a pool that receives a query when none is left, and when some are free.
import { closeSync, openSync } from 'node:fs';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const ask = () => pool.rows({ files: [], statements: ['SELECT 1 AS n'], deadlineMs: 20_000 });

const pool = new DuckDbPool({ children: 1, memoryBytes: 128 * 1024 ** 2, threads: 1 });
const open: number[] = [];
try {
  for (;;) open.push(openSync('/dev/null', 'r'));
} catch {
  // That was the last one.
}
await ask().then(
  () => say('answered'),
  (error: unknown) => say(`refused ${(error as Error).message}`),
);
say(`ready ${pool.ready()}`);
for (const file of open) closeSync(file);
const [[row] = []] = await ask();
say(`answered ${String(row?.['n'])}`);
say(`ready ${pool.ready()}`);
await pool.close();
