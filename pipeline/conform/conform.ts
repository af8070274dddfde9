// Fits a file to its dataset: which of its values fit, and how the contract handles the others. Changes only
// files of the work folder, so that a dry run takes the same path.
import { checkDuplicates, repeatHandling } from './duplicates.ts';
import {
  checkPropertyNames,
  type Column,
  toColumnType,
  isSystemColumn,
  ROW_COLUMN,
  type PropertyType,
} from '../../store/lake/versions/columns.ts';
import { DEFAULT_CONTRACT } from '../../store/lake/datasets/contracts.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { DatasetDefaults } from '../../store/lake/datasets/defaults.ts';
import type { DatasetDraft } from '../../store/lake/datasetEdits.ts';
import { isPlaceholder } from '../../store/lake/datasets/placeholders.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { findMisfits, makeBatch } from '../batch/batch.ts';
import { comparedProperties, compileChecks, dependsOnStored } from '../batch/expectations.ts';
import { withExpectedDates, widen } from '../values/infer.ts';
import { firstLoad } from './firstLoad.ts';
import { describeIndex } from './indexGuess.ts';
import { fitsNumbers, widenInferred } from './inferredTypes.ts';
import { checkColumns, ownProperty, logWidened, widenFor, describeType } from './typeConflicts.ts';
import type { Relation } from '../values/relation.ts';
import {
  resolveOpenColumns,
  resolveMisfits,
  resolveRejected,
  settleContext,
} from './wholeFileTypes.ts';
import { canShareRow, nextRow, buildUniqueIndex } from '../batch/uniqueIndex.ts';
import { addedProperties, isUndocumented, spellAsDocumented } from './placeColumns.ts';
import { refuseUnknown } from './unknownColumns.ts';
import type { Batch, BatchRequest, Misfit } from '../batch/batchRequest.ts';
import { listReadings } from './readings.ts';
import type {
  Conformed,
  Fit,
  ReplacedPlaceholder,
  Load,
  LoadLake,
  LoadContext,
  SchemaChange,
} from './load.ts';

type Properties = Readonly<Record<string, PropertyType>>;

/** Log lines of a load that also become notes. */
const LINES_NOTED_MAX = 100;

/** @throws Failure InvalidBody for a file that the contract, or the index, refuses. */
export async function conform(run: LoadContext, opened: Relation): Promise<Conformed> {
  const lines: string[] = [];
  const log = async (line: string): Promise<void> => {
    if (lines.length < LINES_NOTED_MAX) lines.push(line);
    await run.events.log(line);
  };
  const fit = await fitFile({ ...run, events: { ...run.events, log } }, opened);
  const target = fit.kind === 'new' ? fit.draft : fit.dataset;
  const change = fit.kind === 'known' ? fit.change : undefined;
  const { properties } = change?.schema ?? target.schema;
  const readings = await listReadings(fit.request.relation, properties, run.bench);
  for (const line of readings) await run.events.log(line);
  return { ...fit, inferred: [...lines, ...readings] };
}

async function fitFile(run: LoadContext, opened: Relation): Promise<Fit> {
  const { load, services } = run;
  const stored = services.lake.directory.dataset(load.workspace, load.dataset);
  const replaceable = await findReplaceable(load, stored, services.lake);
  const dataset = replaceable === undefined ? stored : undefined;
  const defaults = services.defaultsOf(load);
  const names = Object.keys(dataset?.schema.properties ?? {});
  // A caller that declares the index uses its own spelling of properties.
  const isOwn = dataset === undefined && load.mapping !== undefined;
  const spelled = isOwn ? opened : spellAsDocumented(opened, defaults, names);
  const settled = await resolveOpenColumns(settleContext(run), spelled, dataset);
  const relation = withCutTimes(withSymbols(settled, defaults?.symbols), defaults?.types);
  if (dataset === undefined) {
    const declared = withDeclared(relation, declaredNames(dataset, defaults));
    const created = await firstLoad(run, declared, replaceable?.firstId);
    if (replaceable === undefined) return created;
    const draft = withOwnerSettings(created.draft, replaceable.dataset);
    return { ...created, draft, instead: replaceable };
  }
  checkDuplicates(`${dataset.workspace}.${dataset.dataset}`, dataset, load.chosen);
  const governed =
    load.accepted === true ? { ...dataset, contract: DEFAULT_CONTRACT, expectations: [] } : dataset;
  const table = await tableOf(services.lake, dataset);
  const target = { dataset: governed, table };
  const index = describeIndex(dataset, dataset.inferred ? '' : 'as declared');
  if (!dependsOnStored(governed) || table.files.length === 0) {
    const fitted = await conformTo(run, relation, target);
    return { kind: 'known', ...fitted, dataset, index };
  }
  const { columns } = buildUniqueIndex(dataset, table);
  const conformed = await withOpenFiles(services.lake.files, table.files, ({ paths, pathOf }) => {
    const stored = visibleRows(table.files, columns, pathOf);
    const bench = { ...run.bench, files: paths };
    return conformTo({ ...run, bench }, relation, target, stored);
  });
  return { kind: 'known', ...conformed, dataset, index };
}

/**
 * Finds the placeholder that a load replaces; undefined if it replaces none.
 * @throws Failure Conflict if the dataset has real data and the load has placeholder records.
 */
async function findReplaceable(
  load: Load,
  stored: Dataset | undefined,
  lake: LoadLake,
): Promise<ReplacedPlaceholder | undefined> {
  if (stored === undefined || isPlaceholder(stored) === (load.standIn !== undefined))
    return undefined;
  if (load.standIn === undefined) {
    return { dataset: stored, firstId: await lake.nextColumnId(stored.tableId) };
  }
  const place = `${stored.workspace}.${stored.dataset}`;
  throw new Failure(
    'Conflict',
    `${place} has data of its owner: placeholder records cannot replace it`,
  );
}

/** Carries the owner's settings of a placeholder over to the dataset that replaces it: above all, access. */
const withOwnerSettings = (
  draft: DatasetDraft,
  { access, smartLinks, title, weight }: Dataset,
): DatasetDraft => ({
  ...draft,
  access,
  title,
  weight,
  smartLinks: smartLinks.filter(({ attributeName }) =>
    Object.hasOwn(draft.schema.properties, attributeName),
  ),
});

/** Marks properties whose texts are symbols: they are stored in the spelling of symbols. */
export const withSymbols = (relation: Relation, symbols: readonly string[] = []): Relation => ({
  ...relation,
  columns: relation.columns.map((column) =>
    symbols.includes(column.name) ? { ...column, symbols: true } : column,
  ),
});

/** Marks times with nanoseconds for which a market input declares microseconds. */
const withCutTimes = (relation: Relation, types: DatasetDefaults['types'] = {}): Relation => ({
  ...relation,
  columns: relation.columns.map((column) => {
    const declared = Object.hasOwn(types, column.name) ? types[column.name] : undefined;
    const { numeric, own, property, spelling } = column.inferred;
    const hasNanoseconds =
      (spelling ?? numeric)?.hasNanoseconds ?? (own ?? property).format === 'date-time-ns';
    return declared?.format === 'date-time' && hasNanoseconds
      ? { ...column, cutsNanoseconds: true }
      : column;
  }),
});

/** Properties with a declared type, rather than an inferred one. */
function declaredNames(
  dataset: Dataset | undefined,
  defaults: DatasetDefaults | undefined,
): ReadonlySet<string> {
  const own = dataset?.contract.inferred === true ? {} : dataset?.schema.properties;
  return new Set(Object.keys({ ...defaults?.types, ...own }));
}

/** Marks columns whose types were not inferred from the file. */
const withDeclared = (relation: Relation, names: ReadonlySet<string>): Relation => ({
  ...relation,
  columns: relation.columns.map((column) =>
    names.has(column.name) ? { ...column, isDeclared: true } : column,
  ),
});

/**
 * Fits a file to a dataset as it is, or as it will be after a change.
 * @param stored a sub-select of the stored records' index, where it matters
 * @throws as `conform`.
 */
export async function conformTo(
  run: LoadContext,
  relation: Relation,
  { dataset, table }: Pick<Governed, 'dataset' | 'table'>,
  stored?: string,
): Promise<Fitted & Pick<Conformed, 'leftOut'>> {
  checkColumns(dataset, relation);
  const unknown = relation.columns.filter(
    ({ name }) => !Object.hasOwn(dataset.schema.properties, name) && !isSystemColumn(name),
  );
  const declared = declaredNames(dataset, run.services.defaultsOf(run.load));
  const governed = { run, relation: withDeclared(relation, declared), dataset, table, unknown };
  const leftOut = await handleUnknown(governed);
  return { ...(await conformKnown(governed, stored)), leftOut };
}

/** A load into an existing dataset. */
interface Governed {
  readonly run: LoadContext;
  readonly relation: Relation;
  /** With the contract and the expectations in force for the load. */
  readonly dataset: Dataset;
  readonly table: Table;
  readonly unknown: Relation['columns'];
}

/**
 * Applies the contract to columns that the schema does not have; returns those that are left out.
 * @throws Failure InvalidBody where the contract freezes the columns.
 */
async function handleUnknown({
  dataset,
  relation,
  run,
  unknown,
}: Governed): Promise<readonly string[]> {
  const { columns } = dataset.contract;
  const { defaultsOf } = run.services;
  const types = defaultsOf(run.load)?.types ?? {};
  const all = unknown.map(({ name }) => name);
  if (all.length === 0 || columns === 'evolve') return [];
  const isKept = (name: string): boolean =>
    columns === 'discard_value' && Object.hasOwn(types, name);
  const names = all.filter((name) => !isKept(name));
  if (names.length === 0) return [];
  if (columns === 'freeze') return refuseUnknown(names, relation, run.bench);
  if (columns === 'discard_record') return names;
  const list = names.slice(0, 20).join(', ');
  await run.events.log(`columns that the schema does not have are left out: ${list}`);
  return names;
}

/** A batch, and the schema change that it needs. */
interface Fitted {
  readonly batch: Batch;
  readonly request: BatchRequest;
  readonly change: SchemaChange | undefined;
}

/** Each round settles the reading of a column, or widens its type: integer, number, decimal, text. */
const ROUNDS_PER_COLUMN = 6;

/**
 * Widens the types of new properties until the whole file fits, as if all of it had been sampled; those of
 * existing ones too, where the contract allows it.
 * @param stored a sub-select of the stored records' index, where it matters
 */
async function conformKnown(initial: Governed, stored: string | undefined): Promise<Fitted> {
  let governed = initial;
  const { dataset, table, unknown } = governed;
  const { contract, schema } = dataset;
  const defaults = governed.run.services.defaultsOf(governed.run.load);
  const inferred = withExpectedDates(unknown, undefined);
  const added: Record<string, PropertyType> = addedProperties(contract, defaults, inferred);
  const isOpen = (name: string): boolean => isUndocumented(defaults, name);
  const widens = governed.relation.columns.some(
    ({ name }) => isOpen(name) && Object.hasOwn(schema.properties, name),
  );
  const widened: Record<string, PropertyType> = {};
  const firstId = await firstNewId(governed, added);
  const isStrict = contract.types === 'evolve' || contract.types === 'freeze';
  const isInferred = contract.inferred === true;
  const guessing = Object.keys(added).length > 0 || widens || isStrict || isInferred;
  const roundsMax = ROUNDS_PER_COLUMN * (governed.relation.columns.length + 1);
  let guessed = guessing;
  for (let round = 0; round < roundsMax; round += 1) {
    const columns = columnsAfter(table.columns, added, widened, firstId);
    const request = requestFor(governed, columns, stored);
    const attempt = await makeBatch(request, governed.run.bench, guessed);
    if (attempt.kind === 'unproved')
      throw new Failure('SystemError', 'no proof of an index was requested');
    if (attempt.kind === 'batch') {
      const { run } = governed;
      const again = await resolveRejected(
        settleContext(run),
        governed.relation,
        dataset,
        attempt.batch,
      );
      if (again !== undefined) {
        governed = { ...governed, relation: again };
        continue;
      }
      await logDiscarded(governed, request);
      const change = changeOf(dataset, columns, added, widened);
      return { batch: attempt.batch, request, change };
    }
    const before = JSON.stringify([added, widened]);
    const { misfits } = attempt;
    const how = settleContext(governed.run);
    const settled = await resolveMisfits(how, governed.relation, added, misfits, schema.properties);
    const isReadDifferently = settled.relation !== governed.relation;
    governed = { ...governed, relation: settled.relation };
    Object.assign(added, settled.properties);
    for (const misfit of settled.rest) {
      const { column } = misfit;
      const into = Object.hasOwn(added, column) ? added : widened;
      const was = ownProperty(into, column) ??
        ownProperty(schema.properties, column) ?? { type: 'string' };
      if (into === widened && contract.types === 'freeze')
        throw frozen(misfit, was, governed.relation);
      if (into === added && defaults !== undefined && !isOpen(column)) continue;
      if (into === added || mayWiden(dataset, misfit, was, isOpen(column))) {
        const isExact = into === added || fitsNumbers(column, table);
        into[column] = await widenFor(misfit, was, governed, isExact);
        continue;
      }
      const wider = await widenInferred(misfit, was, toInto(governed));
      if (wider === undefined) continue;
      into[column] = wider.property;
      await logWidened(wider.misfit, wider.property, was, governed);
    }
    guessed = isReadDifferently || JSON.stringify([added, widened]) !== before;
  }
  throw new Failure('SystemError', `the types do not settle in ${roundsMax} rounds`);
}

/** @throws Failure InvalidBody for a new property whose name conflicts with an existing one. */
async function firstNewId({ dataset, run, table }: Governed, added: Properties): Promise<number> {
  if (Object.keys(added).length === 0) return 0;
  checkPropertyNames('the schema', Object.keys({ ...dataset.schema.properties, ...added }));
  // The table of a pending schema change has columns that the catalog does not have yet.
  const newest = Math.max(...table.columns.map(({ id }) => id));
  return Math.max(newest + 1, await run.services.lake.nextColumnId(table.tableId));
}

/** Refuses an indexed property, and a type that breaks a comparison of an expectation. */
function mayWiden(
  { contract, expectations, mapping }: Dataset,
  { column, value }: Misfit,
  property: PropertyType,
  isOpen: boolean,
): boolean {
  const widens = contract.types === 'evolve' || (isOpen && contract.types === 'discard_record');
  if (!widens || Object.values(mapping).includes(column)) return false;
  return !comparedProperties(expectations).has(column) || widen(property, value).type === 'number';
}

const toInto = ({
  dataset,
  relation,
  run,
  table,
}: Governed): Parameters<typeof widenInferred>[2] => {
  const { types = {} } = run.services.defaultsOf(run.load) ?? {};
  return { dataset, table, relation, bench: run.bench, declared: new Set(Object.keys(types)) };
};

function frozen(misfit: Misfit, property: PropertyType, relation: Relation): Failure {
  const { column, line, value } = misfit;
  const example = JSON.stringify(value.slice(0, 100));
  const type = describeType(column, property, relation);
  const mismatch = `line ${line} has ${example} for '${column}', no ${type}`;
  return new Failure('InvalidBody', `the schema is frozen: ${mismatch}`);
}

/** Keeps the ids of columns; new columns get ids above all that the table ever had. */
const columnsAfter = (
  columns: readonly Column[],
  added: Properties,
  widened: Properties,
  firstId: number,
): readonly Column[] => [
  ...columns.map((column) => {
    const wider = Object.hasOwn(widened, column.name) ? widened[column.name] : undefined;
    return wider === undefined ? column : { ...column, type: toColumnType(wider) };
  }),
  ...Object.entries(added).map(([name, property], at) => ({
    id: firstId + at,
    name,
    type: toColumnType(property),
    nullable: true,
  })),
];

function changeOf(
  { schema }: Dataset,
  columns: readonly Column[],
  added: Properties,
  widened: Properties,
): SchemaChange | undefined {
  if (Object.keys(added).length + Object.keys(widened).length === 0) return undefined;
  const properties = { ...schema.properties, ...widened, ...added };
  return { schema: { ...schema, properties }, columns, added, widened };
}

function requestFor(
  { dataset, relation, run, table, unknown }: Governed,
  columns: readonly Column[],
  stored: string | undefined,
): BatchRequest {
  const { contract, mapping } = dataset;
  const index = buildUniqueIndex(dataset, table);
  const own = Object.keys(dataset.schema.properties);
  const indexed = new Set(Object.values(mapping));
  const lenient = contract.types === 'discard_value' ? own.filter((one) => !indexed.has(one)) : [];
  return {
    relation,
    columns,
    index,
    duplicates: repeatHandling(run.load),
    nowMs: run.services.clock(),
    lenient: new Set(lenient),
    refused: contract.columns === 'discard_record' ? unknown.map(({ name }) => name) : [],
    checks: compileChecks(dataset, columns, stored),
    firstRow: run.load.firstRow ?? nextRow(table),
    source: run.load.sourceNumber ?? 0,
    sharesRow: canShareRow(table, index) && !hasRowNumber(relation),
    repeats: 'drop',
  };
}

const hasRowNumber = ({ columns }: Relation): boolean =>
  columns.some(({ name }) => name === ROW_COLUMN);

/** Logs values that became null, so that no loss is silent. */
async function logDiscarded({ run }: Governed, request: BatchRequest): Promise<void> {
  const { lenient } = request;
  if (lenient.size === 0) return;
  const columns = request.columns.filter(({ name }) => lenient.has(name));
  const some = await findMisfits({ relation: request.relation, columns }, run.bench);
  for (const { column, line, records, value } of some) {
    const first = `line ${line} has ${JSON.stringify(value.slice(0, 100))}`;
    await run.events.log(`${records} values of ${column} did not fit and are null: ${first}`);
  }
}

/** The table of a dataset as it is now. @throws Failure NotFound. */
export async function tableOf(lake: Pick<LoadLake, 'table'>, { tableId }: Dataset): Promise<Table> {
  const table = await lake.table(tableId);
  if (table === undefined) throw new Failure('NotFound');
  return table;
}
