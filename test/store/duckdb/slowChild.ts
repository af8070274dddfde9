// A query process that starts later than its caller's time limit.
import { setTimeout as after } from 'node:timers/promises';

await after(1_500);
await import('../../../store/duckdb/child.ts');
