// Determines the columns of a file for an input of the market, from the command line and a dry run, and fixes
// them for the following files.
import type { Input } from '../../market/inputs/inputRow.ts';
import type { Reading } from '../../pipeline/bytes/reading.ts';
import { Failure } from '../../store/base/failure.ts';
import { type ReadingOptions, buildReading } from '../data/readingOptions.ts';
import type { DryRun } from './corePreview.ts';

export interface CoreOptions extends Omit<ReadingOptions, 'as' | 'wide'> {
  /** The input. */
  readonly as: string;
  readonly symbol?: string;
  readonly adjusted?: true;
  /** The property of the cells of a file with a column for each symbol. */
  readonly wide?: string;
}

/** Fixes the guessed mapping, so that further files are read the same way. */
export function explicitReading(guessed: Reading, declared: Reading, run: DryRun): Reading {
  const { guess: _, ...shape } = guessed;
  // The dry run does not list the ignored columns of a wide file.
  const columns =
    guessed.wide === undefined
      ? renamedColumns(run.columns)
      : { ...guessed.columns, ...repeatedColumns(run, guessed.wide) };
  return { ...shape, columns, constants: { ...run.constants, ...declared.constants } };
}

/** Returns the columns of a wide file that are repeated in each record. */
const repeatedColumns = (
  { columns }: DryRun,
  { names, values }: NonNullable<Reading['wide']>,
): DryRun['columns'] =>
  Object.fromEntries(
    Object.entries(columns).filter(([column]) => column !== names && column !== values),
  );

/** A column name of a wide file that may be a symbol. */
const TICKER = /^(?=.*[A-Z])[A-Z0-9.^=/ -]{1,12}$/;

/** Detects a wide file: one column of days, all others symbols. Undefined for any other file. */
export function wideReading(input: Input, reading: Reading, run: DryRun): Reading | undefined {
  const lacking = findMissing(input, run);
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

/** Returns the reading of the options. @throws Failure for a property that the input does not have */
export function buildInputReading(input: Input, options: CoreOptions): Reading {
  const { adjusted, symbol, wide } = options;
  const has = (name: string): boolean => input.properties.some((one) => one.name === name);
  const provided = { ...options.set, ...(symbol === undefined ? {} : { symbol }) };
  if (symbol !== undefined && !has('symbol')) {
    throw new Failure('InvalidParameter', `--symbol: records of ${input.id} have no symbol`);
  }
  if (adjusted === true && !has('isSplitAdjusted')) {
    throw new Failure('InvalidParameter', '--adjusted is for HISTORICAL_PRICES');
  }
  if (wide !== undefined && (!has('symbol') || !has(wide))) {
    throw new Failure('InvalidParameter', `--wide: ${input.id} has no symbol and ${wide}`);
  }
  const constants = { ...provided, ...(adjusted === true ? { isSplitAdjusted: true } : {}) };
  const cells = wide === undefined ? {} : { wide: { names: 'symbol', values: wide } };
  return { ...buildReading(withoutAs(options)), constants, ...cells };
}

const renamedColumns = (columns: DryRun['columns']): DryRun['columns'] =>
  Object.fromEntries(Object.entries(columns).filter(([column, property]) => column !== property));

export function findMissing(
  { properties }: Input,
  { columns, constants }: DryRun,
): readonly string[] {
  const provided = new Set([
    ...Object.values(columns).flatMap((property) => property?.split('+') ?? []),
    ...Object.keys(constants),
  ]);
  return properties
    .filter(({ name, required }) => required === true && !provided.has(name))
    .map(nameOf);
}

const nameOf = ({ name }: { readonly name: string }): string => name;

export function missingFailure(names: readonly string[], { columns }: DryRun): Failure {
  const there = `columns are ${Object.keys(columns).join(', ')}`;
  const ways = names.map((name) =>
    name === 'symbol'
      ? '--symbol AAPL sets the symbol of all records, --map COLUMN=symbol maps a column'
      : `--map COLUMN=${name} maps a column, --set ${name}=VALUE sets it for all records`,
  );
  if (names.includes('close')) ways.push('--wide close: a column for each symbol');
  const message = `no column or value for ${names.join(', ')} (${there})`;
  return new Failure('InvalidBody', `${message}: ${ways.join('; ')}`);
}
