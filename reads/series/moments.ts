// Determines the moment of a read: now, the same for all of its datasets, or a requested one.
import type { AsOf, Moment } from '../../store/lake/history/history.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import type { EarlierRows } from '../../store/lake/pushes/pending.ts';
import type { FlushedRow, PushCut } from '../../store/lake/pushes/pushLog.ts';
import type { ReadServices } from '../request/readServices.ts';

type Lake = Pick<ReadServices, 'lake' | 'pending'>;

/** The current moment for readers. */
export const currentMoment = ({ lake, pending }: Lake): Moment => ({
  snapshot: lake.snapshot,
  sequence: pending.sequence,
});

/** A dataset as of a past moment. */
interface Past {
  readonly table: Table;
  readonly moment: Moment;
  readonly pending: EarlierRows['rows'];
}

/**
 * Reads a dataset as of a moment; undefined if it did not exist yet.
 * @throws Failure InvalidParameter for a moment that never existed, Gone for one that has expired.
 */
export async function readPast(
  tableId: number,
  asOf: AsOf,
  { lake, pending }: Lake,
): Promise<Past | undefined> {
  const table = await lake.table(tableId, asOf);
  if (table === undefined) return undefined;
  const { snapshot } = table;
  const cut = toPushCut(asOf, lake);
  const past = await pending.rowsAt(tableId, snapshot, cut);
  const sequence = cut.kind === 'sequence' ? cut.sequence : past.sequence;
  return { table, moment: { snapshot, sequence }, pending: past.rows };
}

/** The start of a list of changes: a version, and the rows of later versions that existed by then. */
export interface ChangesStart {
  readonly snapshot: number;
  readonly flushedRows: readonly FlushedRow[];
  /** The pushes that existed by then. */
  readonly cut: PushCut;
}

/** @throws Failure Gone if changes since that moment are not available any more. */
export async function readChangesStart(
  tableId: number,
  since: AsOf,
  { lake, pending }: Lake,
): Promise<ChangesStart> {
  const snapshot = await lake.versionAt(since);
  await lake.checkSince(tableId, snapshot);
  const cut = toPushCut(since, lake);
  return { snapshot, flushedRows: await pending.flushedSince(tableId, snapshot, cut), cut };
}

function toPushCut(asOf: AsOf, lake: ReadServices['lake']): PushCut {
  const inside = lake.toLakeTime(asOf);
  return inside.kind === 'time' ? inside : { kind: 'sequence', sequence: inside.sequence };
}

/** The latest moment of the parts of one answer; they differ at most in pushes. */
export const latestMoment = (moments: readonly Moment[]): Moment => ({
  snapshot: Math.max(0, ...moments.map(({ snapshot }) => snapshot)),
  sequence: Math.max(0, ...moments.map(({ sequence }) => sequence)),
});
