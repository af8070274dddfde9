// How many records an answer of the series door is made of, over data that cost by their records.
import { prunedFiles } from '../plan/seriesSql.ts';
import type { SeriesPlan } from '../plan/seriesPlan.ts';

/**
 * Whether a row of the answer is made of many records. The first or last of a period is one; so is a
 * difference, of which there are as many as records.
 */
export const foldsRecords = ({ collapse, transform }: SeriesPlan): boolean =>
  transform === 'cumul' ||
  (collapse !== undefined && collapse.fold !== 'first' && collapse.fold !== 'last');

/**
 * The same of the rows of a view, each of which may be made of many records: there the rows before the
 * first one tell how many they are, and the first of each key what the others are not.
 */
export const foldsRows = (plan: SeriesPlan): boolean =>
  foldsRecords(plan) || plan.offset > 0 || plan.interval > 1 || plan.takes.length > 0;

/** Whether it leaves out records by more than their places in the unique index: none tells of all. */
export const testsValues = ({ dateColumn, indexDate, range, tests }: SeriesPlan): boolean =>
  tests.length > 0 ||
  (dateColumn !== indexDate &&
    (range.kind === 'days'
      ? range.from !== undefined || range.to !== undefined
      : range.fromMs !== undefined || range.untilMs !== undefined));

/** The most records that a plan can read, by the catalog's statistics of the unique index. */
export const recordsMost = (plan: SeriesPlan): number =>
  prunedFiles(plan).reduce(
    (sum, { deletes, records }) => sum + records - (deletes?.records ?? 0),
    plan.pending.length,
  );
