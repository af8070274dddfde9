// The columns of a file as the properties of its dataset: what was said of them, what they usually are,
// and what all records have although the file has it not.
import { checkPropertyNames } from '../../store/lake/versions/columns.ts';
import type { UsualColumns } from '../../store/lake/datasets/defaults.ts';
import { Failure } from '../../store/base/failure.ts';
import { quoteWord } from '../../store/base/shellWord.ts';
import { inferJsonType } from '../values/infer.ts';
import type { Reading } from '../bytes/reading.ts';
import type { Relation, SourceColumn } from '../values/relation.ts';

/** Columns that are named where one is not there. */
const COLUMNS_TOLD = 20;
/** Hides a column that stays out from everybody: no property may begin so. */
const LEFT_OUT = '_system_left_out_';

/**
 * @param usual of the place that the file goes to, where that says what columns usually are
 * @throws Failure InvalidBody for a column that is not there, and for a property that is given twice
 */
export function asProperties(
  relation: Relation,
  reading: Reading,
  usual: UsualColumns | undefined,
): Relation {
  const { columns, constants, guess } = reading;
  if (columns === undefined && constants === undefined && guess !== true) return relation;
  const said = inFileSpelling(relation, columns ?? {});
  const told = {
    columns: new Map(Object.entries(said)),
    constants: new Map(Object.entries(constants ?? {})),
  };
  if (guess === true) guessInto(told, relation, usual, reading.vendor);
  const named = relation.columns.map((column) => asSaid(column, told.columns));
  const kept = named.filter((column) => column !== undefined);
  if (kept.length === 0) throw new Failure('InvalidBody', 'columns: all columns stay out');
  const constant = [...told.constants].map(([name, value]) => constantOf(name, value));
  const all = [...kept, ...constant];
  refuseTwice(all, columns ?? {});
  checkPropertyNames(
    'the file',
    all.map(({ name }) => name),
  );
  const out = relation.columns.filter((_, at) => named[at] === undefined);
  const leftOut = out.map(({ name }) => name);
  const notes = [...(relation.notes ?? []), ...noteOf(all, leftOut)];
  const made = { ...relation, columns: all, leftOut, notes };
  if (made.kind !== 'csv') return made;
  const layout = named.map((column, at) => column?.name ?? `${LEFT_OUT}${at + 1}`);
  return { ...made, layout };
}

/** How the columns were taken, for the log. */
function noteOf(columns: readonly SourceColumn[], leftOut: readonly string[]): readonly string[] {
  const renamed = columns.flatMap(({ constant, from, name }) => {
    if (constant !== undefined) return [`${name} is ${JSON.stringify(constant)} in each record`];
    return from === undefined ? [] : [`${from} is ${name}`];
  });
  const out = leftOut.map((name) => `${name} stays out`);
  const told = [...renamed, ...out];
  return told.length === 0 ? [] : [`columns: ${told.join(', ')}`];
}

interface Told {
  readonly columns: Map<string, string | null>;
  readonly constants: Map<string, string | number | boolean>;
}

/** With the columns as the file spells them: names differ in more than case. */
export function inFileSpelling(
  { columns, kind }: Relation,
  said: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string | null>> {
  const names = new Map(columns.map(({ name }) => [plain(name), name]));
  const found = Object.entries(said).flatMap(([column, property]) => {
    const name = names.get(plain(column));
    if (name !== undefined) return [[name, property] as const];
    // The records of a JSON file may all lack a member that others have.
    if (kind === 'json' || property === null) return [];
    const shown = columns.slice(0, COLUMNS_TOLD).map((one) => one.name);
    const there = `the file has ${shown.join(', ')}${columns.length > shown.length ? ', …' : ''}`;
    throw new Failure('InvalidBody', `columns: there is no column ${column}; ${there}`);
  });
  return Object.fromEntries(found);
}

const plain = (name: string): string => name.trim().toLowerCase();

/** What is said goes before what is guessed. */
function guessInto(
  { columns, constants }: Told,
  relation: Relation,
  usual: UsualColumns | undefined,
  vendor: string | undefined,
): void {
  if (usual === undefined) {
    throw new Failure('InvalidBody', 'guess: only inputs of the market in CORE have usual columns');
  }
  const open = relation.columns.map(({ name }) => name).filter((name) => !columns.has(name));
  const given = [...columns.values()].filter((property) => property !== null);
  const guessed = usual(open, [...given, ...constants.keys()], vendor);
  for (const [column, property] of Object.entries(guessed.columns)) columns.set(column, property);
  for (const [name, value] of Object.entries(guessed.constants)) constants.set(name, value);
}

function asSaid(
  column: SourceColumn,
  said: ReadonlyMap<string, string | null>,
): SourceColumn | undefined {
  const property = said.get(column.name);
  if (property === undefined || property === column.name) return column;
  return property === null ? undefined : { ...column, name: property, from: column.name };
}

const constantOf = (name: string, value: string | number | boolean): SourceColumn => ({
  name,
  constant: String(value),
  inferred: inferJsonType([value]),
  // It is a text that is cast, whatever the records of the file are spelled like.
  spelled: 'scalar',
  settled: true,
});

/** @param said columns of the load, which a hint repeats: a parameter has one value */
function refuseTwice(
  columns: readonly SourceColumn[],
  said: Readonly<Record<string, string | null>>,
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
      const members = JSON.stringify({ ...said, [name]: null });
      const hint = `say columns=${members} (--map ${quoteWord(`${name}=`)})`;
      throw new Failure('InvalidBody', `${what}; to leave column ${name} out, ${hint}`);
    }
    seen.set(column.name.toLowerCase(), column);
  }
}
