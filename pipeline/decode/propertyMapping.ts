// Maps the columns of a file to the properties of its dataset: by the load's mapping, by their usual
// meaning, and by constants that all records have.
import { checkPropertyNames } from '../../store/lake/versions/columns.ts';
import type { GuessColumns } from '../../store/lake/datasets/defaults.ts';
import { Failure } from '../../store/base/failure.ts';
import { quoteWord } from '../../store/base/shellWord.ts';
import { inferJsonType } from '../values/infer.ts';
import type { Reading } from '../bytes/reading.ts';
import type { Relation, SourceColumn } from '../values/relation.ts';

/** Maximum columns that the error for a missing column lists. */
const COLUMNS_LISTED_MAX = 20;
/** Prefix that hides a column that is left out: no property may begin with it. */
const LEFT_OUT = '_system_left_out_';

/**
 * @param usual the usual columns at the dataset's place, if it defines any
 * @throws Failure InvalidBody for a missing column, and for a property that is set twice
 */
export function mapToProperties(
  relation: Relation,
  reading: Reading,
  usual: GuessColumns | undefined,
): Relation {
  const { columns, constants, guess } = reading;
  if (columns === undefined && constants === undefined && guess !== true) return relation;
  const declared = toFileSpelling(relation, columns ?? {});
  const mapping = {
    columns: new Map(Object.entries(declared)),
    constants: new Map(Object.entries(constants ?? {})),
  };
  if (guess === true) guessInto(mapping, relation, usual, reading.vendor);
  const named = relation.columns.map((column) => applyMapping(column, mapping.columns));
  const properties = named.filter((column) => column !== undefined);
  if (properties.length === 0) throw new Failure('InvalidBody', 'columns: all columns stay out');
  const constant = [...mapping.constants].map(([name, value]) => toConstant(name, value));
  const all = [...properties, ...constant];
  refuseTwice(all, columns ?? {});
  checkPropertyNames(
    'the file',
    all.map(({ name }) => name),
  );
  const out = relation.columns.filter((_, at) => named[at] === undefined);
  const leftOut = out.map(({ name }) => name);
  const notes = [...(relation.notes ?? []), ...describeColumns(all, leftOut)];
  const mapped = { ...relation, columns: all, leftOut, notes };
  if (mapped.kind !== 'csv') return mapped;
  const layout = named.map((column, at) => column?.name ?? `${LEFT_OUT}${at + 1}`);
  return { ...mapped, layout };
}

/** Describes the mapping of the columns, for the log. */
function describeColumns(
  columns: readonly SourceColumn[],
  leftOut: readonly string[],
): readonly string[] {
  const renamed = columns.flatMap(({ constant, from, name }) => {
    if (constant !== undefined) return [`${name} is ${JSON.stringify(constant)} in each record`];
    return from === undefined ? [] : [`${from} is ${name}`];
  });
  const out = leftOut.map((name) => `${name} stays out`);
  const descriptions = [...renamed, ...out];
  return descriptions.length === 0 ? [] : [`columns: ${descriptions.join(', ')}`];
}

interface Mapping {
  readonly columns: Map<string, string | null>;
  readonly constants: Map<string, string | number | boolean>;
}

/** Converts the declared columns to the file's spelling, ignoring case and surrounding blanks. */
export function toFileSpelling(
  { columns, kind }: Relation,
  declared: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string | null>> {
  const names = new Map(columns.map(({ name }) => [plain(name), name]));
  const entries = Object.entries(declared).flatMap(([column, property]) => {
    const name = names.get(plain(column));
    if (name !== undefined) return [[name, property] as const];
    // The sampled records of a JSON file may all lack a member that other records have.
    if (kind === 'json' || property === null) return [];
    const listed = columns.slice(0, COLUMNS_LISTED_MAX).map((one) => one.name);
    const available = `the file has ${listed.join(', ')}${columns.length > listed.length ? ', …' : ''}`;
    throw new Failure('InvalidBody', `columns: there is no column ${column}; ${available}`);
  });
  return Object.fromEntries(entries);
}

const plain = (name: string): string => name.trim().toLowerCase();

/** Adds guessed columns and constants; declared ones take precedence. */
function guessInto(
  { columns, constants }: Mapping,
  relation: Relation,
  usual: GuessColumns | undefined,
  vendor: string | undefined,
): void {
  if (usual === undefined) {
    throw new Failure('InvalidBody', 'guess: only inputs of the market in CORE have usual columns');
  }
  const open = relation.columns.map(({ name }) => name).filter((name) => !columns.has(name));
  const assigned = [...columns.values()].filter((property) => property !== null);
  const guessed = usual(open, [...assigned, ...constants.keys()], vendor);
  for (const [column, property] of Object.entries(guessed.columns)) columns.set(column, property);
  for (const [name, value] of Object.entries(guessed.constants)) constants.set(name, value);
}

function applyMapping(
  column: SourceColumn,
  mapping: ReadonlyMap<string, string | null>,
): SourceColumn | undefined {
  const property = mapping.get(column.name);
  if (property === undefined || property === column.name) return column;
  return property === null ? undefined : { ...column, name: property, from: column.name };
}

const toConstant = (name: string, value: string | number | boolean): SourceColumn => ({
  name,
  constant: String(value),
  inferred: inferJsonType([value]),
  // It is a text that is cast, regardless of the spelling of the file's records.
  spelled: 'scalar',
  settled: true,
});

/** @param declared columns of the load, which the hint repeats: a parameter has one value */
function refuseTwice(
  columns: readonly SourceColumn[],
  declared: Readonly<Record<string, string | null>>,
): void {
  const seen = new Map<string, SourceColumn>();
  for (const column of columns) {
    const other = seen.get(column.name.toLowerCase());
    if (other !== undefined) {
      const pair = [other, column].map((one) =>
        one.constant === undefined ? `column ${one.from ?? one.name}` : 'a constant',
      );
      const what = `property ${column.name} is given twice: by ${pair.join(' and by ')}`;
      const file = column.constant === undefined ? column : other;
      const name = file.from ?? file.name;
      const members = JSON.stringify({ ...declared, [name]: null });
      const hint = `pass columns=${members} (--map ${quoteWord(`${name}=`)})`;
      throw new Failure('InvalidBody', `${what}; to leave column ${name} out, ${hint}`);
    }
    seen.set(column.name.toLowerCase(), column);
  }
}
