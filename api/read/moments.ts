// Which moment a read is of: now, for all of its datasets the same one, or one that was asked for.
import type { AsOf, Moment } from '../../store/lake/history/history.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import type { PastRows } from '../../store/lake/pushes/pending.ts';
import type { FlushedRow, PushCut } from '../../store/lake/pushes/pushLog.ts';
import type { Services } from '../request/endpoint.ts';

type Lake = Pick<Services, 'lake' | 'pending'>;

/** What is there for readers. */
export const momentNow = ({ lake, pending }: Lake): Moment => ({
  snapshot: lake.snapshot,
  sequence: pending.sequence,
});

/** A dataset as it was. */
interface Past {
  readonly table: Table;
  readonly moment: Moment;
  readonly pending: PastRows['rows'];
}

/**
 * Undefined when the dataset was not there yet.
 * @throws Failure InvalidParameter when there never was such a moment, Gone when it has ended.
 */
export async function pastOf(
  tableId: number,
  asOf: AsOf,
  { lake, pending }: Lake,
): Promise<Past | undefined> {
  const table = await lake.table(tableId, asOf);
  if (table === undefined) return undefined;
  const { snapshot } = table;
  const cut = cutOf(asOf, lake);
  const past = await pending.past(tableId, snapshot, cut);
  const sequence = cut.kind === 'sequence' ? cut.sequence : past.sequence;
  return { table, moment: { snapshot, sequence }, pending: past.rows };
}

/** Where changes are told from: a version, and what of later ones was there by then. */
export interface Begin {
  readonly snapshot: number;
  readonly known: readonly FlushedRow[];
  /** What was pushed by then. */
  readonly cut: PushCut;
}

/** @throws Failure Gone when changes since that moment can't be told any more. */
export async function beginOf(
  tableId: number,
  since: AsOf,
  { lake, pending }: Lake,
): Promise<Begin> {
  const snapshot = await lake.versionAt(since);
  await lake.checkSince(tableId, snapshot);
  const cut = cutOf(since, lake);
  return { snapshot, known: await pending.flushedSince(tableId, snapshot, cut), cut };
}

function cutOf(asOf: AsOf, lake: Services['lake']): PushCut {
  const inside = lake.inLakeTime(asOf);
  return inside.kind === 'time' ? inside : { kind: 'sequence', sequence: inside.sequence };
}

/** The last of the moments of the parts of one answer; they differ in what was pushed at most. */
export const lastMoment = (moments: readonly Moment[]): Moment => ({
  snapshot: Math.max(0, ...moments.map(({ snapshot }) => snapshot)),
  sequence: Math.max(0, ...moments.map(({ sequence }) => sequence)),
});
