// Caches series in memory: the newest records of a key, rendered as they are stored; records pushed since
// then lie over them. Bounded by bytes: evicts the first series that was not read since the last pass
// (Corbató, "A Paging Experiment with the Multics System", 1968: CLOCK). Each commit updates the cache
// before any reader can see it: it adds its records, leaves a series unchanged, or evicts it.
import { isSystemColumn, ROW_COLUMN } from '../../store/lake/versions/columns.ts';
import type { ChangedKeys } from '../../store/lake/commit.ts';
import type { Body, Page } from '../../store/duckdb/protocol.ts';
import { parseKey, mergeRows, type PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { compareValues } from '../../store/lake/tableStats.ts';
import { numberOfDay } from '../time/days.ts';
import { cutPage, type Cut, type OverlayRecord } from './overlay.ts';
import { firstRecords, sizeOfPage, type StoredPage } from './pages.ts';
import { sortValueOf, recordText } from './recordText.ts';
import { type UseCount, makeCacheAdmission } from './cacheAdmission.ts';
import { renditionOf } from './renditions.ts';
import type { SeriesPlan } from '../plan/seriesPlan.ts';
import { WIDE_COLUMNS } from '../plan/seriesSql.ts';

/** Records of a load: enough for the latest ones, for a year of days and more, for further back. */
const DEPTHS = [128, 1_024, 8_192] as const;
/** Series whose requests are counted: when memory is full the counts decide which series are cached. */
const COUNTED_SERIES_MAX = 100_000;
/** Records that may lie over a load; above it the series is read again. */
const ADDED_MAX = 256;

interface Series {
  readonly tableId: number;
  readonly id: string;
  readonly keys: readonly string[];
  /** The version of the table that it shows; readers of older versions use the files. */
  since: number;
  readonly page: StoredPage;
  readonly floor: number;
  readonly depth: number;
  /** Records that became files after the page was read. */
  added: PendingRow[];
  readonly texts: WeakMap<PendingRow, OverlayRecord>;
  readonly uses: UseCount;
  /** Whether it was read since the last pass of the eviction. */
  isRead: boolean;
  bytes: number;
}

interface CacheState {
  readonly bytes: number;
  readonly series: number;
  readonly hits: number;
  readonly misses: number;
}

type LoadPage = (plan: SeriesPlan, records: number) => Promise<Page>;

export class SeriesCache {
  readonly #bytesMax: number;
  /** In the order in which the eviction visits them. */
  readonly #series = new Map<string, Series>();
  readonly #byKey = new Map<number, Map<string, Set<Series>>>();
  readonly #popularity = makeCacheAdmission(COUNTED_SERIES_MAX);
  readonly #loads = new Map<string, Promise<Series>>();
  /** Grows with each change of a table: a load that a change overtook is not cached. */
  readonly #changes = new Map<number, number>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  state(): CacheState {
    const { size: series } = this.#series;
    return { bytes: this.#bytes, series, hits: this.#hits, misses: this.#misses };
  }

  /**
   * Answers from memory. If the series is missing but worth caching, loads it once for all waiting callers.
   * Returns undefined if the files must be read.
   */
  read(plan: SeriesPlan, load: LoadPage): Body | undefined | Promise<Body | undefined> {
    const id = this.#bytesMax === 0 ? undefined : buildCacheKey(plan);
    if (id === undefined) return undefined;
    return this.#answer(id, plan) ?? this.#loadAndAnswer(id, plan, load);
  }

  async #loadAndAnswer(id: string, plan: SeriesPlan, load: LoadPage): Promise<Body | undefined> {
    this.#misses += 1;
    const uses = this.#popularity.countRequest(id);
    const depth = this.#nextDepth(id, plan, uses);
    if (depth === undefined) return undefined;
    if (!this.#loads.has(id)) {
      const loading = this.#load(id, plan, uses, depth, load);
      this.#loads.set(
        id,
        loading.finally(() => this.#loads.delete(id)),
      );
    }
    const loaded = await this.#loads.get(id);
    const cached = this.#answer(id, plan);
    if (cached !== undefined || loaded === undefined) return cached;
    // A change of the table kept it out of the cache; it is still right for its own version.
    return loaded.since === plan.table.snapshot ? answerFrom(loaded, plan) : undefined;
  }

  /** Applies a commit to the series of its tables, before readers can see the commit. */
  applyCommit(
    tableIds: readonly number[],
    snapshot: number,
    touches: ChangedKeys | undefined,
  ): void {
    for (const tableId of tableIds) {
      this.#changes.set(tableId, (this.#changes.get(tableId) ?? 0) + 1);
      const byKey = this.#byKey.get(tableId);
      if (byKey === undefined) continue;
      const all = new Set([...byKey.values()].flatMap((series) => [...series]));
      for (const series of all) {
        if (isTouched(series, touches)) this.#evict(series);
        else series.since = snapshot;
      }
      if (touches?.kind === 'records') this.#add(byKey, touches.records);
    }
  }

  #add(byKey: ReadonlyMap<string, ReadonlySet<Series>>, records: readonly PendingRow[]): void {
    for (const record of records) {
      for (const series of byKey.get(parseKey(record)) ?? []) {
        series.added.push(record);
        if (series.added.length > ADDED_MAX) this.#evict(series);
      }
    }
  }

  #answer(id: string, plan: SeriesPlan): Body | undefined {
    const series = this.#series.get(id);
    if (series === undefined || plan.table.snapshot < series.since) return undefined;
    const answer = answerFrom(series, plan);
    if (answer === undefined) return undefined;
    this.#hits += 1;
    series.uses.count += 1;
    series.isRead = true;
    if (plan.order === 'asc') this.#resize(series);
    return answer;
  }

  /** Returns how many records to load; undefined if the files should answer. */
  #nextDepth(id: string, plan: SeriesPlan, { count }: UseCount): number | undefined {
    const existing = this.#series.get(id);
    if (existing === undefined) {
      const isWorth = count > 1 || fitsSmallestDepth(plan);
      return isWorth && this.#hasRoom(count) ? depthFor(plan, 0) : undefined;
    }
    return existing.floor === Number.NEGATIVE_INFINITY ? undefined : depthFor(plan, existing.depth);
  }

  /** Whether one more series fits, or is requested more often than the one that it would evict. */
  #hasRoom(count: number): boolean {
    const { size } = this.#series;
    if (this.#bytes * (size + 1) <= this.#bytesMax * size) return true;
    const next = this.#nextVictim();
    return next === undefined || count > next.uses.count;
  }

  /** Returns the next series to evict: those that were read move behind all others first. */
  #nextVictim(): Series | undefined {
    for (const series of this.#series.values()) {
      if (!series.isRead) return series;
      series.isRead = false;
      this.#series.delete(series.id);
      this.#series.set(series.id, series);
    }
    return undefined;
  }

  async #load(
    id: string,
    plan: SeriesPlan,
    uses: UseCount,
    depth: number,
    load: LoadPage,
  ): Promise<Series> {
    const { tableId, snapshot: since } = plan.table;
    const changes = this.#changes.get(tableId);
    const page = await load(plan, depth + 1);
    const { floor, records } = trimLastDate(page, depth);
    const keys = plan.equals[0]?.values ?? [];
    const head = firstRecords(page, records);
    const bytes = sizeOfPage(head);
    const texts = new WeakMap<PendingRow, OverlayRecord>();
    const stored = { tableId, id, keys, since, page: head, floor, depth, texts, uses };
    const series = { ...stored, added: [], isRead: true, bytes };
    if (this.#changes.get(tableId) !== changes) return series;
    const former = this.#series.get(id);
    if (former !== undefined) this.#evict(former);
    this.#insert(series);
    return series;
  }

  #insert(series: Series): void {
    if (series.bytes > this.#bytesMax / 4) return;
    this.#series.set(series.id, series);
    this.#bytes += series.bytes;
    const byKey = this.#byKey.get(series.tableId) ?? new Map<string, Set<Series>>();
    this.#byKey.set(series.tableId, byKey);
    for (const key of series.keys) byKey.set(key, (byKey.get(key) ?? new Set()).add(series));
    this.#shrink();
  }

  /** Updates the size of a series: a page with a reversed copy is larger than before. */
  #resize(series: Series): void {
    const bytes = sizeOfPage(series.page);
    if (bytes === series.bytes) return;
    this.#bytes += bytes - series.bytes;
    series.bytes = bytes;
    this.#shrink();
  }

  #shrink(): void {
    while (this.#bytes > this.#bytesMax) {
      const next = this.#nextVictim();
      if (next === undefined) return;
      this.#evict(next);
    }
  }

  #evict(series: Series): void {
    if (this.#series.get(series.id) !== series) return;
    this.#series.delete(series.id);
    this.#bytes -= series.bytes;
    const byKey = this.#byKey.get(series.tableId);
    for (const key of series.keys) {
      const all = byKey?.get(key);
      all?.delete(series);
      if (all?.size === 0) byKey?.delete(key);
    }
    if (byKey?.size === 0) this.#byKey.delete(series.tableId);
  }
}

/** Answers from a page and its laid-over records; undefined if the plan reaches beyond the page. */
function answerFrom(series: Series, plan: SeriesPlan): Body | undefined {
  const over = collectOverlay(series, plan);
  if (over === undefined) return undefined;
  const uniqueDates = plan.ties.length <= plan.equals.length;
  const { floor, page } = series;
  const cut = cutPage(
    { page, floor, uniqueDates, isNumbered: isNumbered(plan) },
    over,
    toCut(plan),
  );
  return cut === undefined ? undefined : buildBody(cut.parts, cut.objects);
}

/** Whether a commit may have changed records of a series other than those that it lists. */
function isTouched({ keys }: Series, touches: ChangedKeys | undefined): boolean {
  if (touches?.kind !== 'keys') return touches === undefined;
  const { least, greatest } = touches;
  const order = (a: string, b: string): number => compareValues('varchar', a, b);
  return keys.some((key) => order(key, least) >= 0 && order(key, greatest) <= 0);
}

/** Whether the smallest depth has all of the newest records that a plan reads. */
const fitsSmallestDepth = (plan: SeriesPlan): boolean =>
  isOpenNewest(plan) && plan.offset + plan.limit <= DEPTHS[0];

const isOpenNewest = ({ range, take }: SeriesPlan): boolean =>
  take === 'newest' && range.kind === 'days' && range.from === undefined && range.to === undefined;

/** Returns the smallest depth above `more` that has the newest records of a plan; for a range it guesses. */
function depthFor(plan: SeriesPlan, more: number): number | undefined {
  const least = isOpenNewest(plan) ? plan.offset + plan.limit : DEPTHS[1];
  return DEPTHS.find((depth) => depth > more && depth >= least) ?? DEPTHS.find((d) => d > more);
}

/** Leaves out the last date of a page that was cut off there: that date may have more records. */
function trimLastDate(
  { dates }: Page,
  depth: number,
): { readonly floor: number; readonly records: number } {
  if (dates.length <= depth) return { floor: Number.NEGATIVE_INFINITY, records: dates.length };
  const floor = dates.at(-1) ?? Number.POSITIVE_INFINITY;
  let records = dates.length;
  while (records > 0 && dates[records - 1] === floor) records -= 1;
  return { floor, records };
}

/** Returns the cache key of a plan; undefined if a page cannot answer it. */
function buildCacheKey(plan: SeriesPlan): string | undefined {
  const { collapse, equals, interval, since, takes, tests, ties, transform, visibility } = plan;
  const plain =
    visibility.kind === 'all' &&
    since === undefined &&
    collapse === undefined &&
    transform === undefined &&
    interval === 1 &&
    takes.length === 0 &&
    plan.table.columns.length <= WIDE_COLUMNS &&
    tests.length === 0 &&
    plan.dateColumn === plan.indexDate &&
    !plan.hasUndated &&
    // The page's dates are doubles of microseconds, too coarse for nanoseconds.
    plan.indexDate.type !== 'timestamp_ns' &&
    !plan.byPlace;
  if (!plain || equals.length === 0 || equals[0]?.column !== ties[0]) return undefined;
  if (equals.some(({ column }) => column.type !== 'varchar')) return undefined;
  let id = `${plan.table.tableId} ${renditionOf(plan.members)}`;
  for (const { values } of equals)
    id += `\u0000${values.length === 1 ? values[0] : values.join('\u0001')}`;
  return id;
}

/** Returns the range in the numbers of the page: days, or microseconds since 1970. */
function toCut({ limit, offset, order, range, take }: SeriesPlan): Cut {
  const [least, greatest] =
    range.kind === 'days'
      ? [dayNumber(range.from, -Infinity), dayNumber(range.to, Infinity)]
      : [
          range.fromMs === undefined ? -Infinity : range.fromMs * 1000,
          range.untilMs === undefined ? Infinity : range.untilMs * 1000 - 1,
        ];
  return { least, greatest, take, order, offset, limit };
}

const dayNumber = (day: string | undefined, open: number): number =>
  day === undefined ? open : numberOfDay(day);

const NO_RECORDS: readonly OverlayRecord[] = [];

/** Returns the laid-over records, newest first; undefined if one of them can't be rendered here. */
function collectOverlay(series: Series, plan: SeriesPlan): readonly OverlayRecord[] | undefined {
  if (series.added.length === 0 && plan.pending.length === 0) return NO_RECORDS;
  const added = filterBySubkey(series.added, plan);
  const rows = added.length === 0 ? plan.pending : mergeRows([...added, ...plan.pending]);
  const over: OverlayRecord[] = [];
  for (const row of rows) {
    const existing = series.texts.get(row) ?? renderOverlay(row, plan);
    if (existing === undefined) return undefined;
    series.texts.set(row, existing);
    over.push(existing);
  }
  if (over.length < 2) return over;
  // Pushed records arrived one after the other: the last of a date is the newest.
  const arrived = isNumbered(plan) ? over.toReversed() : over;
  return arrived.toSorted((a, b) => b.date - a.date);
}

const isNumbered = ({ dateColumn, ties }: SeriesPlan): boolean =>
  ties.at(-1)?.name === ROW_COLUMN && !isSystemColumn(dateColumn.name);

/** Added records of the plan's subkey. */
const filterBySubkey = (
  rows: readonly PendingRow[],
  { equals }: SeriesPlan,
): readonly PendingRow[] =>
  rows.filter(({ document }) =>
    equals.every(({ column, values }) => values.includes(String(document[column.name]))),
  );

function renderOverlay(row: PendingRow, plan: SeriesPlan): OverlayRecord | undefined {
  const date = sortValueOf(row, plan.indexDate.name, plan.indexDate.type);
  const text = recordText(row, plan.members, plan.table);
  if (date === undefined || text === undefined) return undefined;
  return { date, replaces: row.replaces, bytes: Buffer.from(`${text},`) };
}

const OPEN = 0x5b;
const CLOSE = 0x5d;

/** Records with their commas as an array. */
function buildBody(parts: readonly Uint8Array[], objects: number): Body {
  let length = objects === 0 ? 2 : 1;
  for (const part of parts) length += part.byteLength;
  const bytes = Buffer.allocUnsafe(length);
  bytes[0] = OPEN;
  let at = 1;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  bytes[length - 1] = CLOSE;
  return { objects, bytes };
}
