// Defaults of a dataset of CORE with the id of an input.
import { lookupTable } from '../../store/base/lookupTable.ts';
import type { PropertyType } from '../../store/lake/versions/columns.ts';
import type { SchemaContract } from '../../store/lake/datasets/contracts.ts';
import type { DatasetDefaults, CrossCheck } from '../../store/lake/datasets/defaults.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import type { FactReader } from '../../store/lake/datasets/xbrlFacts.ts';
import { allStatementsReader } from '../reports/allStatements.ts';
import { STATEMENT_IDS } from '../reports/concepts.ts';
import { statementReader } from '../reports/statements.ts';
import type { InputId } from '../inputs/inputRow.ts';
import { PRICE_CHECK, SPLIT_CHECK } from './priceChecks.ts';
import { inputOf, propertyTypeOf } from '../inputs/inputs.ts';
import { fileRewrite } from './fileRewrites.ts';
import { usualColumns } from './usualColumns.ts';

/** `msft` in a file is found as MSFT. */
const SYMBOLS: readonly string[] = ['symbol'];

const ALL_STATEMENTS = allStatementsReader();
const FACT_READERS: ReadonlyMap<string, FactReader> = new Map([
  ...STATEMENT_IDS.map((id) => [id as string, statementReader(id)] as const),
  ...['FINANCIALS', 'FUNDAMENTALS'].map((id) => [id, ALL_STATEMENTS] as const),
]);

/** Undocumented columns are kept: no vendor data is lost. */
const CONTRACT: SchemaContract = { columns: 'evolve', types: 'discard_record' };

const CHECKS: Partial<Record<InputId, CrossCheck>> = {
  HISTORICAL_PRICES: PRICE_CHECK,
  SPLITS: SPLIT_CHECK,
};

/** Types of carried properties that are not numbers. */
const CARRIED_TYPES = lookupTable<PropertyType>({
  label: { type: 'string' },
  nanoseconds: { type: 'integer' },
});

/** Names in any case; undefined for other ids, and in other workspaces. */
export function inputDefaults({
  dataset,
  workspace,
}: Pick<Dataset, 'dataset' | 'workspace'>): DatasetDefaults | undefined {
  const input = workspace.toUpperCase() === CORE ? inputOf(dataset) : undefined;
  if (input === undefined) return undefined;
  const { carried = [], mapping, properties, title, weight } = input;
  // A list is JSON; in CSV it may be any text, which is kept unchanged.
  const scalars = properties.filter(({ type }) => type !== 'list');
  // A dataset of that name may also contain whole books: its property `side` distinguishes them.
  const documented = input.id === 'BOOK' ? [] : scalars.map(({ name }) => name);
  const types = Object.fromEntries([
    ...carried.map((name) => [name, CARRIED_TYPES[name] ?? { type: 'number' }] as const),
    ...scalars.map((one) => [one.name, propertyTypeOf(one)] as const),
  ]);
  const index = Object.values(mapping) as readonly string[];
  const mayMiss = properties
    .filter(({ name, required }) => index.includes(name) && required !== true)
    .map(({ name }) => name);
  const facts = FACT_READERS.get(input.id);
  const check = CHECKS[input.id];
  return {
    title,
    weight,
    mapping,
    optional: mayMiss,
    types,
    documented,
    contract: CONTRACT,
    symbols: SYMBOLS,
    guessColumns: usualColumns(input),
    rewrite: fileRewrite(input),
    ...(check === undefined ? {} : { check }),
    ...(facts === undefined ? {} : { factReader: facts }),
  };
}
