// How far the lake's clock is ahead of the machine's.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export interface ClockMarkTable {
  readonly mark_id: number;
  readonly wall_ms: number;
  readonly offset_ms: number;
}

export async function addClockMarks(database: Kysely<unknown>): Promise<void> {
  await createTable(database, 'clock_mark', 'mark_id! bigint, wall_ms bigint, offset_ms bigint');
}
