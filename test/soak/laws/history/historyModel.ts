// The expected state of a dataset as plain maps: its current records, its records at every existing version,
// and the existing versions. Written from the documents, not from the code.
import type { Seeded } from '../../crash/rounds/seeded.ts';

export interface Row {
  readonly symbol: string;
  readonly date: string;
  readonly v: number | null;
  readonly note: string | null;
  /** Values of properties that were added later. */
  readonly more: Readonly<Record<string, string>>;
}

interface Version {
  readonly snapshot: number;
  readonly ms: number;
}

/** The records of a version: at that time all of them were in files. */
interface Memory {
  readonly snapshot: number;
  readonly rows: ReadonlyMap<string, Row>;
  readonly added: readonly string[];
}

export interface Model {
  name: string;
  readonly rows: Map<string, Row>;
  /** Properties that were added, in their order. */
  added: readonly string[];
  /** Index values written since the last run of the named query. */
  readonly touched: Set<string>;
  memories: readonly Memory[];
  /** Existing versions of the lake. */
  versions: readonly Version[];
  /** The first available version. */
  floor: number;
  historyDays: number | null;
  /** Position and time of the named query's last run; undefined before its first run. */
  query: { readonly snapshot: number; readonly ms: number } | undefined;
}

export const SYMBOLS = ['A', 'B', 'C', 'D'] as const;
const DAYS = ['2020-01-01', '2020-01-02', '2020-01-03', '2020-01-04', '2020-01-05'] as const;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const KEEP = { allMs: DAY_MS, hourlyMs: 30 * DAY_MS, dailyMs: 100 * DAY_MS };

export const newModel = (): Model => ({
  name: 'D',
  rows: new Map(),
  added: [],
  touched: new Set(),
  memories: [],
  versions: [],
  floor: 0,
  historyDays: null,
  query: undefined,
});

const indexOf = ({ symbol, date }: Row): string => `${symbol} ${date}`;

export function rowOf(random: Seeded, at: number, added: readonly string[]): Row {
  const filled = added.filter(() => random.chance(0.7));
  return {
    symbol: random.pick(SYMBOLS),
    date: random.pick(DAYS),
    v: random.chance(0.2) ? null : at + random.between(0, 9) / 10,
    note: random.chance(0.2) ? null : `n${at} "quoted", \u00fc`,
    more: Object.fromEntries(filled.map((name) => [name, `${name} of ${at}`])),
  };
}

/** A record as a client sends it. */
export const sentOf = ({ more, ...row }: Row): object => ({ ...row, ...more });

/** A record as in an answer, with the properties of its version. */
const answeredOf = ({ more, ...row }: Row, added: readonly string[]): object => ({
  ...row,
  ...Object.fromEntries(added.map((name) => [name, more[name] ?? null])),
});

/** Records as in an answer, the newest first. */
export const answered = (rows: readonly Row[], added: readonly string[]): readonly object[] =>
  rows
    .toSorted((a, b) =>
      a.date === b.date ? (a.symbol < b.symbol ? -1 : 1) : a.date < b.date ? 1 : -1,
    )
    .map((row) => answeredOf(row, added));

/** Applies rows by the unique index: the first one stays, or the last one replaces it. */
export function apply(
  { rows: storedRows, touched }: Model,
  rows: readonly Row[],
  replace: boolean,
): void {
  for (const row of rows) {
    const index = indexOf(row);
    if (!replace && storedRows.has(index)) continue;
    storedRows.set(index, row);
    touched.add(index);
  }
}

/** Removes all records of a symbol, or that of one date; returns how many there were. */
export function take({ rows }: Model, symbol: string, date: string | undefined): number {
  const matches = [...rows].filter(
    ([, row]) => row.symbol === symbol && (date === undefined || row.date === date),
  );
  for (const [index] of matches) rows.delete(index);
  return matches.length;
}

export const remember = (model: Model, snapshot: number): void => {
  const { added, rows } = model;
  model.memories = [...model.memories, { snapshot, added, rows: new Map(rows) }];
};

/** True if a version can be read. */
export const isLeft = ({ floor, versions }: Model, snapshotId: number): boolean =>
  snapshotId >= floor && versions.some(({ snapshot }) => snapshot === snapshotId);

/** Keeps all versions of the last day, then the last of each hour, then of each day, always the newest. */
export function thin(model: Model, nowMs: number): void {
  const slotOf = ({ snapshot, ms }: Version): string | undefined => {
    const age = nowMs - ms;
    if (age <= KEEP.allMs) return String(snapshot);
    if (age <= KEEP.hourlyMs) return new Date(ms).toISOString().slice(0, 13);
    return age <= KEEP.dailyMs ? new Date(ms).toISOString().slice(0, 10) : undefined;
  };
  const newest = model.versions.at(-1);
  model.versions = model.versions.filter((version, at) => {
    const slot = slotOf(version);
    const later = model.versions.slice(at + 1);
    return version === newest || (slot !== undefined && later.every((one) => slotOf(one) !== slot));
  });
  if (model.historyDays === null) return;
  const cutMs = nowMs - model.historyDays * DAY_MS;
  const first = model.versions.findLast(({ ms }) => ms <= cutMs);
  model.floor = Math.max(model.floor, first?.snapshot ?? 0);
}

/** True if a named query resumes: it restarts if it was idle for a day, or if its version has expired. */
export const goesOn = (model: Model, nowMs: number): boolean =>
  model.query !== undefined &&
  nowMs - model.query.ms < DAY_MS &&
  isLeft(model, model.query.snapshot);
