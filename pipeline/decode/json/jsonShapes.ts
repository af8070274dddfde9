// Detects shapes of JSON records other than a list of objects, in the outline of a document.
import type { JsonStep } from './jsonPath.ts';
import type { Member, Sketch } from './jsonSketch.ts';

export type Shape =
  /** `{"fields": […], "data": [[…]]}`: names once, records as lists. */
  | {
      readonly kind: 'table';
      readonly names: Sketch;
      readonly rows: Sketch;
      /** Labels of the rows, as pandas writes them. */
      readonly index: Sketch | undefined;
      readonly leftOut: readonly string[];
    }
  /** `{"t": […], "o": […]}`: a list for each column. */
  | {
      readonly kind: 'columns';
      readonly columns: readonly Member[];
      /** Members with one value, which becomes part of each record. */
      readonly constants: readonly Member[];
      readonly leftOut: readonly string[];
    }
  /** `{"open": {"0": 1}, "close": {"0": 2}}`: an object for each column, with a member for each row. */
  | { readonly kind: 'turned'; readonly columns: readonly Member[] }
  /** `{"2024-01-02": {…}, "2024-01-03": {…}}`: a member for each row. */
  | { readonly kind: 'keyed'; readonly property: string }
  /** Lists of records below a path. */
  | { readonly kind: 'lists'; readonly lists: readonly FoundList[] }
  | { readonly kind: 'record' };

export interface FoundList {
  readonly steps: readonly JsonStep[];
  readonly count: number;
  readonly what: 'object' | 'list';
}

/** Depth of objects whose members are searched. */
const LEVELS_MAX = 3;
const NAMES = ['fields', 'columns', 'headers', 'header', 'column_names', 'columnnames'];
const ROWS = ['data', 'rows', 'values', 'records'];
/** Members that report the status of a request, and are not data. */
const STATUS = ['s', 'status', 'success', 'ok', 'code', 'error', 'errmsg', 'message'];
const FINE = /^(?:"(?:ok|success|200|0)?"|true|false|null|200|0)$/i;

const LABEL = /^(?:\d+|\d{4}-\d\d-\d\d.*|\d{4}\/\d\d\/\d\d.*)$/;
const DAY = /^\d{4}[-/]\d\d[-/]\d\d/;

/** @param read returns the text of a slice */
export function findShape(root: Sketch, read: (slice: Sketch) => string): Shape {
  for (const { value } of objectsIn(root, [], 0)) {
    const shape = findTable(value) ?? findColumns(value, read);
    if (shape !== undefined && !hasLists(root, value)) return withOuterMembers(root, value, shape);
  }
  const rows = findTurned(root) ?? findKeyed(root);
  if (rows !== undefined) return rows;
  const lists = findLists(root);
  return lists.length === 0 ? { kind: 'record' } : { kind: 'lists', lists };
}

interface Place {
  readonly steps: readonly JsonStep[];
  readonly value: Sketch;
}

/** The document's object and nested ones, the outer ones first. */
function objectsIn(value: Sketch, steps: readonly JsonStep[], level: number): readonly Place[] {
  if (value.kind !== 'object') return [];
  const inner =
    level === LEVELS_MAX
      ? []
      : value.members.flatMap(({ name, value: one }) =>
          objectsIn(one, [...steps, { kind: 'member', name }], level + 1),
        );
  return [{ steps, value }, ...inner].sort((a, b) => a.steps.length - b.steps.length);
}

const memberNamed = ({ members }: Sketch, names: readonly string[]): Member | undefined =>
  members.find(({ name }) => names.includes(name.toLowerCase().replaceAll(' ', '_')));

/** Whether a list has names: texts, or objects that have a name. */
function isNames({ count, first, isFlat, kind }: Sketch): boolean {
  if (kind !== 'list' || count === 0 || first === undefined) return false;
  if (first.kind === 'text') return isFlat;
  return first.kind === 'object' && first.members.some(({ name }) => name === 'name');
}

function findTable(object: Sketch): Shape | undefined {
  const names = memberNamed(object, NAMES);
  const rows = memberNamed(object, ROWS);
  if (names === undefined || rows === undefined || !isNames(names.value)) return undefined;
  const { first, kind } = rows.value;
  if (kind !== 'list' || first?.kind !== 'list' || first.count !== names.value.count)
    return undefined;
  const index = memberNamed(object, ['index']);
  const isIndex = index?.value.kind === 'list' && index.value.count === rows.value.count;
  const used = [names, rows, ...(isIndex ? [index] : [])];
  const leftOut = object.members.filter((one) => !used.includes(one)).map(({ name }) => name);
  return {
    kind: 'table',
    names: names.value,
    rows: rows.value,
    index: isIndex ? index.value : undefined,
    leftOut,
  };
}

function findColumns(object: Sketch, read: (slice: Sketch) => string): Shape | undefined {
  const { count, members } = object;
  if (count !== members.length) return undefined;
  const lists = members.filter(({ value }) => value.kind === 'list');
  const [first] = lists;
  if (first === undefined || lists.length < 2 || first.value.count === 0) return undefined;
  const alike = ({ value }: Member): boolean => value.isFlat && value.count === first.value.count;
  if (!lists.every(alike)) return undefined;
  const others = members.filter((one) => !lists.includes(one));
  if (others.some(({ value }) => value.kind === 'object')) return undefined;
  const isStatus = ({ name, value }: Member): boolean =>
    STATUS.includes(name.toLowerCase()) && FINE.test(read(value));
  return {
    kind: 'columns',
    columns: lists,
    constants: others.filter((one) => !isStatus(one)),
    leftOut: others.filter(isStatus).map(({ name }) => name),
  };
}

/** Whether the document has a list outside of an object, which may have its records. */
function hasLists(value: Sketch, object: Sketch): boolean {
  if (value === object) return false;
  if (value.kind === 'list') return value.count > 0;
  return value.members.some((one) => hasLists(one.value, object));
}

/** Adds to `leftOut` the outermost names of members outside of the object of the records. */
function withOuterMembers(root: Sketch, object: Sketch, shape: Shape): Shape {
  if (root === object || (shape.kind !== 'table' && shape.kind !== 'columns')) return shape;
  const outer: string[] = [];
  let at = root;
  while (at !== object) {
    const inner = at.members.find(
      ({ value }) => value.start <= object.start && object.end <= value.end,
    );
    if (inner === undefined) break;
    outer.push(...at.members.filter((one) => one !== inner).map(({ name }) => name));
    at = inner.value;
  }
  return { ...shape, leftOut: [...outer, ...shape.leftOut] };
}

/** Whether all members are objects with most members of the first one. */
function areAlike({ count, kind, members }: Sketch): boolean {
  const [first] = members;
  if (kind !== 'object' || count < 2 || first?.value.kind !== 'object') return false;
  const names = new Set(first.value.members.map(({ name }) => name));
  if (names.size === 0) return false;
  return members.every(
    ({ value }) =>
      value.kind === 'object' &&
      value.members.filter(({ name }) => names.has(name)).length * 2 > names.size,
  );
}

const areLabels = (members: readonly Member[]): boolean =>
  members.every(({ name }) => LABEL.test(name));

function findTurned(root: Sketch): Shape | undefined {
  const { count, members } = root;
  const [first] = members;
  if (!areAlike(root) || first === undefined || areLabels(members)) return undefined;
  const isColumn = ({ value }: Member): boolean =>
    value.count === first.value.count &&
    value.members.every(({ value: one }) => one.kind !== 'object' && one.kind !== 'list') &&
    areLabels(value.members);
  return count === members.length && members.every(isColumn)
    ? { kind: 'turned', columns: members }
    : undefined;
}

function findKeyed(root: Sketch): Shape | undefined {
  const { members } = root;
  if (!areAlike(root) || !areLabels(members)) return undefined;
  return { kind: 'keyed', property: freeProperty(root) };
}

/** A name for the labels of rows that none of their members has. */
function freeProperty({ members }: Sketch): string {
  const usual = members.every(({ name }) => DAY.test(name)) ? 'date' : 'index';
  const isTaken = members.some(({ value }) => value.members.some(({ name }) => name === usual));
  return isTaken ? `${usual}_` : usual;
}

/**
 * Finds lists of objects or of lists in the document, and objects with a member for each day; those of
 * objects first, and the longest first.
 */
function findLists(root: Sketch): readonly FoundList[] {
  const lists = objectsIn(root, [], 0).flatMap(({ steps, value: { members } }) =>
    members.flatMap(({ name, value }): readonly FoundList[] => {
      const to: readonly JsonStep[] = [...steps, { kind: 'member', name }];
      if (value.kind === 'list' && value.first?.kind === 'object') {
        return [{ steps: [...to, { kind: 'elements' }], count: value.count, what: 'object' }];
      }
      if (value.kind === 'list' && value.first?.kind === 'list' && value.first.isFlat) {
        return [{ steps: [...to, { kind: 'elements' }], count: value.count, what: 'list' }];
      }
      if (!areAlike(value) || !value.members.every((one) => DAY.test(one.name))) return [];
      const each = { kind: 'each', property: freeProperty(value) } as const;
      return [{ steps: [...to, each], count: value.count, what: 'object' }];
    }),
  );
  const isList = ({ what }: FoundList): number => (what === 'list' ? 1 : 0);
  return [...lists].sort((a, b) => isList(a) - isList(b) || b.count - a.count).slice(0, LISTS_MAX);
}

/** Maximum lists that are returned. */
const LISTS_MAX = 20;
