// Batches of records, and the expected state of a dataset after some of them: every record contains its
// batch and its version, so that a lost, duplicated, incomplete or misplaced one is detected.
import { gzipSync } from 'node:zlib';
import type { Seeded } from './seeded.ts';

/** All records of one key, written together at one version. */
interface Write {
  readonly key: string;
  readonly rows: number;
  readonly version: number;
}

export interface Batch {
  readonly id: string;
  readonly dataset: string;
  readonly mode: 'ignore' | 'replace';
  readonly writes: readonly Write[];
}

/** Stored state of one key. */
interface StoredTable {
  readonly rows: number;
  readonly version: number;
  /** The batch that wrote it. */
  readonly origin: string;
}

export type State = ReadonlyMap<string, StoredTable>;

/** Name and parts of the unique index: datasets differ in it, records do not. */
export const DATASETS = {
  A: { key: 'owner', date: 'day' },
  B: { key: 'owner', subkey: 'item', date: 'day' },
  C: { key: 'owner', date: 'day' },
  // No unique index: a record that is loaded twice is stored twice.
  N: { key: 'owner', date: 'day', uniqueIndex: 'false' },
} as const;

export const DATASET_NAMES = ['A', 'B', 'C', 'N'] as const;

const HEADER = 'owner,item,day,version,origin,note';
const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.parse('2020-01-01T00:00:00Z');

const itemOf = (at: number): string => `i${String(at).padStart(4, '0')}`;
const dayOf = (at: number): string =>
  new Date(FIRST_DAY_MS + at * DAY_MS).toISOString().slice(0, 10);

/** A text that must be returned unchanged: quotes, commas, letters of two bytes. */
const noteOf = (key: string, at: number, version: number): string =>
  at % 5 === 0 ? `"${key}", é ${at}` : `${key}/${at}@${version}`;

export function csvOf(batch: Batch, random: Seeded): Buffer {
  const lines = batch.writes.flatMap(({ key, rows, version }) =>
    Array.from({ length: rows }, (_, at) => {
      const note = noteOf(key, at, version).replaceAll('"', '""');
      return `${key},${itemOf(at)},${dayOf(at)},${version},${batch.id},"${note}"`;
    }),
  );
  // In random order: the product sorts.
  const shuffled = lines.map((line) => ({ line, at: random.next() }));
  shuffled.sort((one, other) => one.at - other.at);
  const text = Buffer.from(`${[HEADER, ...shuffled.map(({ line }) => line)].join('\n')}\n`);
  return random.chance(0.2) ? gzipSync(text) : text;
}

export function after(state: State, batch: Batch): State {
  const nextState = new Map(state);
  for (const { key, rows, version } of batch.writes) {
    if (batch.mode === 'ignore' && nextState.has(key)) continue;
    nextState.set(key, { rows, version, origin: batch.id });
  }
  return nextState;
}

export interface Seen {
  readonly state: State;
  /** Faults that no state explains: a duplicated record, mixed versions of one key, a changed value. */
  readonly faults: readonly string[];
}

/** Answered records by key. */
export function seenIn(rows: readonly Readonly<Record<string, unknown>>[]): Seen {
  const byKey = new Map<string, Readonly<Record<string, unknown>>[]>();
  for (const row of rows) {
    const key = String(row['owner']);
    byKey.set(key, [...(byKey.get(key) ?? []), row]);
  }
  const state = new Map<string, StoredTable>();
  const faults: string[] = [];
  for (const [key, mine] of byKey) {
    const kinds = new Set(
      mine.map((row) => `${String(row['version'])} of ${String(row['origin'])}`),
    );
    const items = new Set(mine.map((row) => row['item']));
    if (kinds.size > 1) faults.push(`${key} is half: versions ${[...kinds].sort().join(', ')}`);
    if (items.size < mine.length) faults.push(`${key} has ${mine.length - items.size} doubled`);
    const damaged = mine.filter((row) => !isWhole(row, key));
    if (damaged.length > 0) faults.push(`${key} was changed: ${JSON.stringify(damaged[0])}`);
    const [first] = mine;
    const version = Number(first?.['version']);
    state.set(key, { rows: mine.length, version, origin: String(first?.['origin']) });
  }
  return { state, faults };
}

function isWhole(row: Readonly<Record<string, unknown>>, key: string): boolean {
  const at = Number(String(row['item']).slice(1));
  const note = noteOf(key, at, Number(row['version']));
  return row['item'] === itemOf(at) && row['day'] === dayOf(at) && row['note'] === note;
}

/** Keys in which two states differ, with both sides; empty if they are equal. */
export function differences(expected: State, seen: State): readonly string[] {
  const keys = new Set([...expected.keys(), ...seen.keys()]);
  const describe = (entry: StoredTable | undefined): string =>
    entry === undefined ? 'nothing' : `${entry.rows} rows v${entry.version} of ${entry.origin}`;
  return [...keys].flatMap((key) => {
    const [expectedText, seenText] = [describe(expected.get(key)), describe(seen.get(key))];
    return expectedText === seenText ? [] : [`${key} should be ${expectedText}, is ${seenText}`];
  });
}
