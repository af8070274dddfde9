// Lays pushed records over a page of stored ones: a reader sees both in order, without rendering the page
// again.
import {
  ascending,
  descending,
  firstAtOrBefore,
  firstBefore,
  isBetweenDates,
  type StoredPage,
} from './pages.ts';

/** A pushed record, rendered with its separator. */
export interface OverlayRecord {
  readonly date: number;
  /** True: it replaces a stored record of its date. False: a stored record of its date wins. */
  readonly replaces: boolean;
  readonly bytes: Uint8Array;
}

export interface Cut {
  /** Dates, both included. */
  readonly least: number;
  readonly greatest: number;
  readonly take: 'newest' | 'oldest';
  readonly order: 'asc' | 'desc';
  readonly offset: number;
  readonly limit: number;
}

/** A page of all records dated after `floor`, newest first. */
interface Covered {
  readonly page: StoredPage;
  /** Records at or before it are not in the page; -Infinity when it has all. */
  readonly floor: number;
  /** Each date has one record: a laid-over one replaces the record of its date. */
  readonly uniqueDates: boolean;
  /** Records are numbered: the last arrival of a date is the newest, and none replaces another. */
  readonly isNumbered: boolean;
}

/** Records of the page from `from` to before `until`, or one laid-over record. */
type Run =
  | { readonly kind: 'stored'; readonly from: number; readonly until: number }
  | { readonly kind: 'over'; readonly bytes: Uint8Array };

interface CutRecords {
  readonly objects: number;
  readonly parts: readonly Uint8Array[];
}

/** Cuts a page with its laid-over records; undefined if the page does not have all records that it needs. */
export function cutPage(
  covered: Covered,
  over: readonly OverlayRecord[],
  cut: Cut,
): CutRecords | undefined {
  const { floor, page } = covered;
  const from = firstAtOrBefore(page.dates, cut.greatest);
  const until = Math.max(from, firstBefore(page.dates, cut.least));
  const runs =
    over.length === 0 ? storedRuns(from, until) : mergeRuns(covered, over, cut, from, until);
  if (runs === undefined) return undefined;
  const total = runs.reduce((sum, run) => sum + lengthOf(run), 0);
  const open = floor !== Number.NEGATIVE_INFINITY && cut.least <= floor;
  if (open && (cut.take === 'oldest' || total < cut.offset + cut.limit)) return undefined;
  const end = cut.take === 'newest' ? Math.min(total, cut.offset + cut.limit) : total - cut.offset;
  const start = cut.take === 'newest' ? Math.min(cut.offset, end) : Math.max(0, end - cut.limit);
  if (end <= start) return { objects: 0, parts: [] };
  const selected = sliceRuns(runs, start, end);
  // Only DuckDB knows the order within one date: it must cut through or reverse such records.
  const plain = cut.take === 'newest' && cut.order === 'desc';
  if (!plain && !covered.uniqueDates) {
    if (covered.isNumbered && repeatsDate(page, selected)) return undefined;
    if (!selected.every((run) => splitsNoDate(page, run))) return undefined;
  }
  return { objects: end - start, parts: renderRuns(selected, page, cut.order) };
}

const storedRuns = (from: number, until: number): readonly Run[] =>
  until > from ? [{ kind: 'stored', from, until }] : [];

const lengthOf = (run: Run): number => (run.kind === 'over' ? 1 : run.until - run.from);

const splitsNoDate = (page: StoredPage, run: Run): boolean =>
  run.kind === 'over' || (isBetweenDates(page, run.from) && isBetweenDates(page, run.until));

function mergeRuns(
  { floor, isNumbered, page, uniqueDates }: Covered,
  over: readonly OverlayRecord[],
  cut: Cut,
  from: number,
  until: number,
): readonly Run[] | undefined {
  const runs: Run[] = [];
  let [at, before] = [from, Number.POSITIVE_INFINITY];
  for (const record of over) {
    const { date } = record;
    if (date > cut.greatest || date < cut.least || date <= floor) continue;
    const place = firstAtOrBefore(page.dates, date);
    const hasStored = page.dates[place] === date;
    // Only the subkeys decide which of several records of a date it replaces or precedes.
    if (!isNumbered && !uniqueDates && (hasStored || date === before)) return undefined;
    before = date;
    if (!isNumbered && hasStored && !record.replaces) continue;
    runs.push(...storedRuns(at, place), { kind: 'over', bytes: record.bytes });
    at = hasStored && !isNumbered ? place + 1 : place;
  }
  return [...runs, ...storedRuns(at, until)];
}

/** Whether two of the records share a date: reversing them would change their order. */
function repeatsDate(page: StoredPage, runs: readonly Run[]): boolean {
  return runs.some((run, at) => {
    if (run.kind === 'over') return at > 0 || runs.length > 1;
    for (let place = run.from + 1; place < run.until; place += 1) {
      if (page.dates[place - 1] === page.dates[place]) return true;
    }
    return false;
  });
}

/** The part of the runs from record `start` to before record `end`. */
function sliceRuns(runs: readonly Run[], start: number, end: number): readonly Run[] {
  const selected: Run[] = [];
  let passed = 0;
  for (const run of runs) {
    const length = lengthOf(run);
    const from = Math.max(0, start - passed);
    const until = Math.min(length, end - passed);
    if (from < until) {
      selected.push(
        run.kind === 'over' ? run : { ...run, from: run.from + from, until: run.from + until },
      );
    }
    passed += length;
  }
  return selected;
}

function renderRuns(
  runs: readonly Run[],
  page: StoredPage,
  order: Cut['order'],
): readonly Uint8Array[] {
  if (order === 'desc') {
    return runs.map((run) =>
      run.kind === 'over' ? run.bytes : descending(page, run.from, run.until),
    );
  }
  return runs
    .toReversed()
    .map((run) => (run.kind === 'over' ? run.bytes : ascending(page, run.from, run.until)));
}
