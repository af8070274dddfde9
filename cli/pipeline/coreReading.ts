// What the columns of a file are for an input of the market: what the command line says, what a dry run told,
// and what is said of each file from then on.
import type { Input } from '../../market/inputs/inputRow.ts';
import type { Reading } from '../../pipeline/bytes/reading.ts';
import { Failure } from '../../store/base/failure.ts';
import { type ReadingOptions, readingOf } from '../data/readingOptions.ts';
import type { DryRun } from './corePreview.ts';

export interface CoreOptions extends Omit<ReadingOptions, 'as' | 'wide'> {
  /** The input. */
  readonly as: string;
  readonly symbol?: string;
  readonly adjusted?: true;
  /** The property that the cells of a file with a column for each symbol are. */
  readonly wide?: string;
}

/** Nothing is guessed any more: what else is read is read alike. */
export function explicitReading(asked: Reading, said: Reading, run: DryRun): Reading {
  const { guess: _, ...shape } = asked;
  // What stays out of a wide file is not in what is told of it.
  const columns =
    asked.wide === undefined
      ? changed(run.columns)
      : { ...asked.columns, ...keptOf(run, asked.wide) };
  return { ...shape, columns, constants: { ...run.constants, ...said.constants } };
}

/** Columns of a wide file that stay in each record. */
const keptOf = (
  { columns }: DryRun,
  { names, values }: NonNullable<Reading['wide']>,
): DryRun['columns'] =>
  Object.fromEntries(
    Object.entries(columns).filter(([column]) => column !== names && column !== values),
  );

/** What may be a symbol above a column of a wide file. */
const TICKER = /^(?=.*[A-Z])[A-Z0-9.^=/ -]{1,12}$/;

/** Days, and beside them nothing but symbols: undefined for any other file. */
export function wideReading(input: Input, reading: Reading, run: DryRun): Reading | undefined {
  const lacking = missing(input, run);
  if (!lacking.includes('symbol') || !lacking.includes('close')) return undefined;
  const all = Object.entries(run.columns).filter(([, property]) => property !== null);
  const days = all.filter(([, property]) => property === 'date');
  const others = all.filter(([, property]) => property !== 'date');
  const isWide = days.length === 1 && others.every(([column]) => TICKER.test(column));
  if (!isWide || others.length === 0) return undefined;
  const columns = { ...reading.columns, ...Object.fromEntries(days) };
  return { ...reading, columns, wide: { names: 'symbol', values: 'close' } };
}

const withoutAs = ({ as: _, wide: __, ...options }: CoreOptions): ReadingOptions => options;

/** What the command line says of columns. @throws Failure for what the input does not have. */
export function readingSaid(input: Input, options: CoreOptions): Reading {
  const { adjusted, symbol, wide } = options;
  const has = (name: string): boolean => input.properties.some((one) => one.name === name);
  const given = { ...options.set, ...(symbol === undefined ? {} : { symbol }) };
  if (symbol !== undefined && !has('symbol')) {
    throw new Failure('InvalidParameter', `--symbol: records of ${input.id} have no symbol`);
  }
  if (adjusted === true && !has('isSplitAdjusted')) {
    throw new Failure('InvalidParameter', '--adjusted is for HISTORICAL_PRICES');
  }
  if (wide !== undefined && (!has('symbol') || !has(wide))) {
    throw new Failure('InvalidParameter', `--wide: ${input.id} has no symbol and ${wide}`);
  }
  const constants = { ...given, ...(adjusted === true ? { isSplitAdjusted: true } : {}) };
  const cells = wide === undefined ? {} : { wide: { names: 'symbol', values: wide } };
  return { ...readingOf(withoutAs(options)), constants, ...cells };
}

const changed = (columns: DryRun['columns']): DryRun['columns'] =>
  Object.fromEntries(Object.entries(columns).filter(([column, property]) => column !== property));

export function missing({ properties }: Input, { columns, constants }: DryRun): readonly string[] {
  const given = new Set([
    ...Object.values(columns).flatMap((property) => property?.split('+') ?? []),
    ...Object.keys(constants),
  ]);
  return properties
    .filter(({ name, required }) => required === true && !given.has(name))
    .map(nameOf);
}

const nameOf = ({ name }: { readonly name: string }): string => name;

export function lacks(names: readonly string[], { columns }: DryRun): Failure {
  const there = `columns are ${Object.keys(columns).join(', ')}`;
  const ways = names.map((name) =>
    name === 'symbol'
      ? '--symbol AAPL names the symbol of all records, --map COLUMN=symbol a column'
      : `--map COLUMN=${name} names a column, --set ${name}=VALUE a value for all records`,
  );
  if (names.includes('close')) ways.push('--wide close: a column for each symbol');
  const told = `nothing gives ${names.join(', ')} (${there})`;
  return new Failure('InvalidBody', `${told}: ${ways.join('; ')}`);
}
