// Joins the reads of many keys into one statement: decides which plans may be joined, and wraps their pages.
import type { Body, Page } from '../../store/duckdb/protocol.ts';
import type { SeriesPlan } from '../plan/seriesPlan.ts';
import { maxSeriesRecords } from './seriesRecords.ts';

/** Values that a statement of several keys may sort; one key is read without sorting all its records. */
export const SORTED_VALUES_MAX = 2_000_000;

/** Whether one statement answers a plan's takes as its keys alone would, within the memory of a read. */
export function canJoinTakes(plan: SeriesPlan): boolean {
  const { collapse, equals, interval, since, table, takes, transform } = plan;
  const spellings = takes.flat();
  // A record of two takes would be returned for the first one only.
  const isApart = new Set(spellings).size === spellings.length;
  return (
    takes.length > 1 &&
    isApart &&
    equals[0]?.column.type === 'varchar' &&
    collapse === undefined &&
    transform === undefined &&
    since === undefined &&
    interval === 1 &&
    maxSeriesRecords(plan) * table.columns.length <= SORTED_VALUES_MAX
  );
}

/** Returns the records of a page as a JSON array. */
export function toJsonArray({ bytes, dates }: Page): Body {
  // Each record has a comma after it.
  const records = bytes.subarray(0, Math.max(0, bytes.byteLength - 1));
  return { objects: dates.length, bytes: Buffer.concat([OPEN, records, CLOSE]) };
}

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
