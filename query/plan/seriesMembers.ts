// Lists the members of an answered record, by the version of the dataset and the parameters of the request,
// and the index columns of a version that every plan uses. Both are computed once for each version.
import { type Column, isSystemColumn, UPDATED_COLUMN } from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { findIndexNames } from '../../store/lake/datasets/indexColumns.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';

/** The source of a member's value. */
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

/** The shape of records: `/time-series` with system members inline, `/data` as they were loaded. */
export type SeriesShape = 'time-series' | 'data';

interface Version {
  readonly dataset: Dataset;
  readonly table: Table;
}

interface Shaped extends Version {
  readonly shape: SeriesShape;
}

interface MembersRequest {
  /** Members of the answer, by their exact names; all when undefined. */
  readonly filter?: readonly string[] | undefined;
  readonly systemProperties?: boolean | undefined;
}

type MembersCache = Map<string, readonly Member[]>;

/** Facts that the plans of one version of a dataset share. */
interface VersionFacts {
  readonly key: Column | undefined;
  readonly subkey: Column | undefined;
  readonly date: Column;
  readonly ties: readonly Column[];
  readonly isIndexed: boolean;
  /** Some stored record has no date: it is in no range, and in no cached page. */
  readonly hasUndated: boolean;
  readonly membersCache: MembersCache;
}

const versionFacts = new WeakMap<Dataset, WeakMap<Table, VersionFacts>>();

/** Computed once for each version: a cached read is planned in 0.7 instead of 1.4 µs. */
export function findVersionFacts({ dataset, table }: Version): VersionFacts {
  const before = versionFacts.get(dataset)?.get(table);
  if (before !== undefined) return before;
  const facts = collectFacts(dataset, table);
  const versions = versionFacts.get(dataset) ?? new WeakMap<Table, VersionFacts>();
  versionFacts.set(dataset, versions.set(table, facts));
  return facts;
}

function collectFacts({ mapping }: Dataset, table: Table): VersionFacts {
  const names = findIndexNames(mapping, table);
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
    membersCache: new Map(),
  };
}

/** Combinations of filter and shape that are cached for a dataset's version. */
const WAYS_MAX = 100;

/** Returns the members of an answer, computed once for each version of a dataset. */
export function findMembers(
  ways: MembersCache,
  context: Shaped,
  { filter, systemProperties = false }: MembersRequest,
): readonly Member[] {
  const filterText = filter === undefined ? '' : `=${filter.join(',')}`;
  const way = `${context.shape} ${systemProperties} ${filterText}`;
  const before = ways.get(way);
  if (before !== undefined) return before;
  const members = applyFilter(buildMembers(context, systemProperties), filter);
  if (ways.size < WAYS_MAX) ways.set(way, members);
  return members;
}

function buildMembers(context: Shaped, systemProperties: boolean): readonly Member[] {
  const { dataset, shape, table } = context;
  // Use the version's columns: an old version has properties that the schema may have lost.
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
  const inlineNames = new Set(inline.map(({ name }) => name));
  return [...inline, ...own.filter(({ name }) => !inlineNames.has(name))];
}

/** id, key, subkey, date and updated (INTERFACE.md 3.5). */
function systemMembers(
  dataset: Dataset,
  table: Table,
): readonly (Source & { readonly name: string })[] {
  const { key, subkey, date } = findIndexNames(dataset.mapping, table);
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

/** Ignores names that no record has, as the original did; attribute case counts. */
function applyFilter(
  members: readonly Member[],
  filter: readonly string[] | undefined,
): readonly Member[] {
  if (filter === undefined) return members;
  const filterNames = new Set(filter);
  const selected = members.filter(({ name }) => filterNames.has(name));
  if (selected.length > 0) return selected;
  throw new Failure('InvalidParameter', '"filter" names no attribute of these records');
}

export function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((item) => item.name === name);
  if (column === undefined) throw new Failure('NotFound');
  return column;
}
