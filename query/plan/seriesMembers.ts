// What an answered record has in it, by the version of the dataset and the way it is asked for, and
// the columns of a version that every plan goes by: both made once for each version.
import { type Column, isSystemColumn, UPDATED_COLUMN } from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { indexNamesOf } from '../../store/lake/datasets/indexColumns.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';

/** Where a member's value comes from. */
type Source =
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'epoch'; readonly column: string }
  | { readonly kind: 'text'; readonly text: string };

/** A member of an answered record: its name and its value, or members of its own. */
export type Member =
  | (Source & { readonly name: string })
  | {
      readonly kind: 'object';
      readonly name: string;
      readonly members: readonly (Source & { readonly name: string })[];
    };

/** How records are shaped: `/time-series` with its system members inline, `/data` as they came. */
export type SeriesShape = 'time-series' | 'data';

interface Version {
  readonly dataset: Dataset;
  readonly table: Table;
}

interface Shaped extends Version {
  readonly shape: SeriesShape;
}

interface MembersAsked {
  /** Members of the answer, by their exact names; all when undefined. */
  readonly filter?: readonly string[] | undefined;
  readonly systemProperties?: boolean | undefined;
}

type MembersKnown = Map<string, readonly Member[]>;

/** What the plans of one version of a dataset have in common. */
interface Known {
  readonly key: Column | undefined;
  readonly subkey: Column | undefined;
  readonly date: Column;
  readonly ties: readonly Column[];
  readonly isIndexed: boolean;
  /** Some stored record has no date: it is in no range, and in no page of memory. */
  readonly hasUndated: boolean;
  readonly membersKnown: MembersKnown;
}

const known = new WeakMap<Dataset, WeakMap<Table, Known>>();

/** Made once for each version: a read of memory is planned in 0.7 instead of 1.4 µs. */
export function knownOf({ dataset, table }: Version): Known {
  const before = known.get(dataset)?.get(table);
  if (before !== undefined) return before;
  const made = columnsOf(dataset, table);
  const versions = known.get(dataset) ?? new WeakMap<Table, Known>();
  known.set(dataset, versions.set(table, made));
  return made;
}

function columnsOf({ mapping }: Dataset, table: Table): Known {
  const names = indexNamesOf(mapping, table);
  const [key, subkey, row] = [names.key, names.subkey, names.row].map((name) =>
    name === undefined ? undefined : columnOf(table, name),
  );
  const date = columnOf(table, names.date);
  return {
    key,
    subkey,
    date,
    hasUndated: table.files.some(({ ranges }) => (ranges.get(date.id)?.nulls ?? 0) > 0),
    ties: [key, subkey, row].filter((column) => column !== undefined),
    isIndexed: mapping.key !== undefined || mapping.date !== undefined || row !== undefined,
    membersKnown: new Map(),
  };
}

/** Ways to ask for members that are remembered of a dataset's version. */
const WAYS_MAX = 100;

/** Members of one way to ask, made once for each version of a dataset. */
export function knownMembers(
  ways: MembersKnown,
  context: Shaped,
  { filter, systemProperties = false }: MembersAsked,
): readonly Member[] {
  const asked = filter === undefined ? '' : `=${filter.join(',')}`;
  const way = `${context.shape} ${systemProperties} ${asked}`;
  const before = ways.get(way);
  if (before !== undefined) return before;
  const made = filtered(membersOf(context, systemProperties), filter);
  if (ways.size < WAYS_MAX) ways.set(way, made);
  return made;
}

function membersOf(context: Shaped, systemProperties: boolean): readonly Member[] {
  const { dataset, shape, table } = context;
  // Of the version: an old one has properties that the schema may have no more.
  const properties = table.columns.filter(({ name }) => !isSystemColumn(name));
  const own = properties.map(({ name }): Member => ({ kind: 'column', name, column: name }));
  const system = systemMembers(dataset, table);
  if (shape === 'data') {
    const nested = { kind: 'object', name: '_systemRecordProperties', members: system } as const;
    return systemProperties ? [...own, nested] : own;
  }
  const { source } = dataset;
  const [id, ...index] = system;
  const named = source === '' ? [] : [{ kind: 'text', name: 'source', text: source } as const];
  const inline = [...(id === undefined ? [] : [id]), ...named, ...index];
  const taken = new Set(inline.map(({ name }) => name));
  return [...inline, ...own.filter(({ name }) => !taken.has(name))];
}

/** id, key, subkey, date and updated (INTERFACE.md 3.5). */
function systemMembers(
  dataset: Dataset,
  table: Table,
): readonly (Source & { readonly name: string })[] {
  const { key, subkey, date } = indexNamesOf(dataset.mapping, table);
  return [
    { kind: 'text', name: 'id', text: dataset.dataset },
    indexMember('key', key),
    indexMember('subkey', subkey),
    { kind: 'epoch', name: 'date', column: date },
    { kind: 'epoch', name: 'updated', column: UPDATED_COLUMN },
  ];
}

const indexMember = (
  name: string,
  column: string | undefined,
): Source & { readonly name: string } =>
  column === undefined ? { kind: 'text', name, text: '' } : { kind: 'column', name, column };

/** Names that no record has are passed over, as the original did; attribute case counts. */
function filtered(
  members: readonly Member[],
  filter: readonly string[] | undefined,
): readonly Member[] {
  if (filter === undefined) return members;
  const wanted = new Set(filter);
  const kept = members.filter(({ name }) => wanted.has(name));
  if (kept.length > 0) return kept;
  throw new Failure('InvalidParameter', '"filter" names no attribute of these records');
}

export function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((item) => item.name === name);
  if (column === undefined) throw new Failure('NotFound');
  return column;
}
