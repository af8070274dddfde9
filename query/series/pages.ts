// Rendered records of one series in memory: bytes, where each record ends, and its date as a number.
// A range is two binary searches and a slice (DESIGN.md idea 5). Newest first, as in most requests.
import type { Page } from '../../store/duckdb/protocol.ts';

/** A page with its reversed copy, once a request needed it. */
export interface StoredPage extends Page {
  /** The same records oldest first; undefined until the first request for it. */
  ascending: { readonly bytes: Uint8Array; readonly ends: Uint32Array } | undefined;
}

/** Objects around the arrays of a page: `process.memoryUsage` over 10,000 pages of one record. */
const PAGE_OVERHEAD_BYTES = 900;

/** Bytes of a page in memory. */
export const sizeOfPage = ({ ascending, bytes, dates, ends }: StoredPage): number =>
  bytes.byteLength +
  ends.byteLength +
  dates.byteLength +
  (ascending === undefined ? 0 : ascending.bytes.byteLength + ascending.ends.byteLength) +
  PAGE_OVERHEAD_BYTES;

/** Index of the first record dated at or before `date`; dates descend. */
export function firstAtOrBefore(dates: Float64Array, date: number): number {
  let [low, high] = [0, dates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((dates[middle] ?? 0) > date) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first record dated before `date`; dates descend. */
export function firstBefore(dates: Float64Array, date: number): number {
  let [low, high] = [0, dates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((dates[middle] ?? 0) >= date) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a position separates two dates: the records before and after it do not share one. */
export const isBetweenDates = ({ dates }: Page, at: number): boolean =>
  at === 0 || at >= dates.length || dates[at - 1] !== dates[at];

const startOf = (ends: Uint32Array, at: number): number => (at === 0 ? 0 : (ends[at - 1] ?? 0));

/** Bytes of the records from `from` to before `until`, counted newest first. */
export function descending(page: Page, from: number, until: number): Uint8Array {
  return page.bytes.subarray(startOf(page.ends, from), startOf(page.ends, until));
}

/** The same records oldest first; those of one date keep their order. */
export function ascending(page: StoredPage, from: number, until: number): Uint8Array {
  page.ascending ??= reversePage(page);
  const { bytes, ends } = page.ascending;
  const { length } = page.dates;
  return bytes.subarray(startOf(ends, length - until), startOf(ends, length - from));
}

function reversePage({ bytes, dates, ends }: Page): NonNullable<StoredPage['ascending']> {
  const reversed = new Uint8Array(bytes.byteLength);
  const reversedEnds = new Uint32Array(ends.length);
  let [at, filled] = [0, 0];
  for (let last = dates.length; last > 0;) {
    let first = last - 1;
    while (first > 0 && dates[first - 1] === dates[first]) first -= 1;
    for (let record = first; record < last; record += 1) {
      const part = bytes.subarray(startOf(ends, record), ends[record]);
      reversed.set(part, filled);
      filled += part.byteLength;
      reversedEnds[at] = filled;
      at += 1;
    }
    last = first;
  }
  return { bytes: reversed, ends: reversedEnds };
}

/** The first `records` of a page, as a page of its own. */
export function firstRecords(page: Page, records: number): StoredPage {
  const whole = records === page.dates.length;
  return {
    bytes: whole ? page.bytes : page.bytes.slice(0, startOf(page.ends, records)),
    ends: whole ? page.ends : page.ends.slice(0, records),
    dates: whole ? page.dates : page.dates.slice(0, records),
    ascending: undefined,
  };
}
