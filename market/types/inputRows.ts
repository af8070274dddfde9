// Parses the records of inputs, as read from their datasets, into rows by key.
import type { Row } from '../derive/values.ts';
import { buildGroupName, selectNeededRows } from './needGroups.ts';
import type { Read } from './typeRequest.ts';

/** Records of one group of needs: JSON lines, with the dataset's own names of properties. */
export interface InputBody {
  /** The group's name. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The property that has the key; undefined if the records belong to no symbol. */
  readonly key: string | undefined;
  /** Names of properties: the dataset's and the input's. */
  readonly spellings: ReadonlyMap<string, string>;
}

export const normalizeKey = (key: string): string => key.toUpperCase();

export type RowsByKey = ReadonlyMap<string, readonly Row[]>;

/** Records that are parsed in one step: 3 ms. */
const STEP_RECORDS = 1_000;

/** Parses in steps, so that an event loop can do other work between them. */
export function* parseInputRows(body: InputBody): Generator<undefined, RowsByKey> {
  const { bytes, key, spellings } = body;
  const isSpelled = [...spellings].every(([theirs, own]) => theirs === own);
  const keys = new Map<string, Row[]>();
  const lines = new TextDecoder().decode(bytes).split('\n');
  for (const [at, line] of lines.entries()) {
    if (line === '') continue;
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield undefined;
    const record = JSON.parse(line) as Row;
    const name = key === undefined ? '' : normalizeKey(String(record[key]));
    const rows = keys.get(name) ?? [];
    rows.push(isSpelled ? record : renameProperties(record, spellings));
    keys.set(name, rows);
  }
  return keys;
}

const renameProperties = (record: Row, spellings: ReadonlyMap<string, string>): Row =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [spellings.get(name) ?? name, value]),
  );

/** Adds rows to a group, beside those of its other keys. */
export function addRows(groups: Map<string, RowsByKey>, name: string, rows: RowsByKey): void {
  groups.set(name, new Map([...(groups.get(name) ?? []), ...rows]));
}

/**
 * Parses all bodies, and answers needs from them.
 * @param parsed records that are parsed already, by group
 */
export function readBodies(
  bodies: readonly InputBody[],
  parsed: ReadonlyMap<string, RowsByKey> = new Map(),
): Read {
  const groups = new Map(parsed);
  for (const body of bodies) {
    const steps = parseInputRows(body);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    addRows(groups, body.name, step.value);
  }
  return (need) => selectRows(groups, need);
}

const NONE: readonly never[] = [];

/** Selects the rows of a need from the rows of all groups. */
export const selectRows = (
  groups: ReadonlyMap<string, RowsByKey>,
  need: Parameters<Read>[0],
): readonly Row[] =>
  selectNeededRows(groups.get(buildGroupName(need))?.get(normalizeKey(need.key)) ?? NONE, need);
