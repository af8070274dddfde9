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

/** An array of each take. @param page records in the order of the takes, the place of its take with each */
export function takesOf({ bytes, dates, ends }: Page, takes: number): readonly Body[] {
  let at = 0;
  return Array.from({ length: takes }, (_, take) => {
    const [first, from] = [at, at === 0 ? 0 : (ends[at - 1] ?? 0)];
    while (at < dates.length && dates[at] === take) at += 1;
    const objects = at - first;
    // Each record has a comma after it.
    const records = objects === 0 ? NOTHING : bytes.subarray(from, (ends[at - 1] ?? 0) - 1);
    return { objects, bytes: Buffer.concat([OPEN, records, CLOSE]) };
  });
}

const NOTHING = new Uint8Array();
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
