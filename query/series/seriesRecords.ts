// Determines how many records an answer of the series endpoint is computed from, for data that is charged by
// record.
import { prunedFiles } from '../plan/seriesSql.ts';
import type { SeriesPlan } from '../plan/seriesPlan.ts';

/**
 * Whether a row of the answer is computed from many records. The first or last of a period is one record;
 * so is a difference: there are as many differences as records.
 */
export const aggregatesRecords = ({ collapse, transform }: SeriesPlan): boolean =>
  transform === 'cumul' ||
  (collapse !== undefined && collapse.fold !== 'first' && collapse.fold !== 'last');

/**
 * Whether a row of the answer is computed from many rows of a view, each of which may have many records.
 * There an offset reveals how many rows come before it, and the first row of each key excludes the others.
 */
export const aggregatesRows = (plan: SeriesPlan): boolean =>
  aggregatesRecords(plan) || plan.offset > 0 || plan.interval > 1 || plan.takes.length > 0;

/** Whether it filters records by more than the unique index: even an empty answer reveals all values. */
export const testsValues = ({ dateColumn, indexDate, range, tests }: SeriesPlan): boolean =>
  tests.length > 0 ||
  (dateColumn !== indexDate &&
    (range.kind === 'days'
      ? range.from !== undefined || range.to !== undefined
      : range.fromMs !== undefined || range.untilMs !== undefined));

/** The most records that a plan can read, by the catalog's statistics of the unique index. */
export const maxSeriesRecords = (plan: SeriesPlan): number =>
  prunedFiles(plan).reduce(
    (sum, { deletes, records }) => sum + records - (deletes?.records ?? 0),
    plan.pending.length,
  );
