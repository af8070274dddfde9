// Answers of many keys by one statement: which plans may be joined, and what of the page is each key's.
import type { Body, Page } from '../../store/duckdb/protocol.ts';
import type { SeriesPlan } from '../plan/seriesPlan.ts';
import { recordsMost } from './seriesRecords.ts';

/** Values that a joined statement may have to sort; a key alone is read without a sort of all its records. */
const VALUES_MAX = 2_000_000;

/** Whether the takes of a plan are what its keys are answered alone, within the memory of a read. */
export function isJoined(plan: SeriesPlan): boolean {
  const { collapse, equals, interval, since, table, takes, transform } = plan;
  const spellings = takes.flat();
  // A record of two takes would come with the first one only.
  const isApart = new Set(spellings).size === spellings.length;
  return (
    takes.length > 1 &&
    isApart &&
    equals[0]?.column.type === 'varchar' &&
    collapse === undefined &&
    transform === undefined &&
    since === undefined &&
    interval === 1 &&
    recordsMost(plan) * table.columns.length <= VALUES_MAX
  );
}

/** The records of a page as an array. */
export function arrayOf({ bytes, dates }: Page): Body {
  // Each record has a comma after it.
  const records = bytes.subarray(0, Math.max(0, bytes.byteLength - 1));
  return { objects: dates.length, bytes: Buffer.concat([OPEN, records, CLOSE]) };
}

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
