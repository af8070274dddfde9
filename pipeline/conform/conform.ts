// A file against its dataset: what of it fits, and what the dataset's contract makes of what does
// not. Nothing is changed here but files of the work folder, so that a dry run is the same thing.
import { checkDuplicates, keptRepeat } from './duplicates.ts';
import {
  checkPropertyNames,
  type Column,
  columnTypeOf,
  isSystemColumn,
  ROW_COLUMN,
  type PropertyType,
} from '../../store/lake/versions/columns.ts';
import { USUAL_CONTRACT } from '../../store/lake/datasets/contracts.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { DatasetDefaults } from '../../store/lake/datasets/defaults.ts';
import type { DatasetDraft } from '../../store/lake/datasetEdits.ts';
import { isStandIn } from '../../store/lake/datasets/standIns.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { findMisfits, makeBatch } from '../batch/batch.ts';
import { askedOf, checksOf, looksBack } from '../batch/expectations.ts';
import { wantedDates, widen } from '../values/infer.ts';
import { firstLoad } from './firstLoad.ts';
import { describeIndex } from './indexGuess.ts';
import { fitsNumbers, widenInferred } from './inferredTypes.ts';
import { checkColumns, ownOf, tellWidened, widenFor, wordOf } from './misfits.ts';
import type { Relation } from '../values/relation.ts';
import { settle, settleMisfits, settleRejected, settling } from './settle.ts';
import { mayShareRow, nextRow, uniqueIndexOf } from '../batch/uniqueIndex.ts';
import { addedProperties, isUndocumented, spellAsDocumented } from './placeColumns.ts';
import { refuseUnknown } from './unknownColumns.ts';
import type { Batch, BatchRequest, Misfit } from '../batch/batchRequest.ts';
import { listReadings } from './readings.ts';
import type { Conformed, Fit, Instead, Load, LoadLake, Looking, SchemaChange } from './load.ts';

type Properties = Readonly<Record<string, PropertyType>>;

/** Lines of a load's log that are notes too. */
const LINES_NOTED_MAX = 100;

/** @throws Failure InvalidBody for what the contract, or the index, does not let in. */
export async function conform(run: Looking, opened: Relation): Promise<Conformed> {
  const lines: string[] = [];
  const log = async (line: string): Promise<void> => {
    if (lines.length < LINES_NOTED_MAX) lines.push(line);
    await run.events.log(line);
  };
  const fit = await fitFile({ ...run, events: { ...run.events, log } }, opened);
  const made = fit.kind === 'new' ? fit.draft : fit.dataset;
  const change = fit.kind === 'known' ? fit.change : undefined;
  const { properties } = change?.schema ?? made.schema;
  const readings = await listReadings(fit.request.relation, properties, run.bench);
  for (const line of readings) await run.events.log(line);
  return { ...fit, inferred: [...lines, ...readings] };
}

async function fitFile(run: Looking, opened: Relation): Promise<Fit> {
  const { load, services } = run;
  const there = services.lake.directory.dataset(load.workspace, load.dataset);
  const instead = await insteadOf(load, there, services.lake);
  const known = instead === undefined ? there : undefined;
  const defaults = services.defaultsOf(load);
  const names = Object.keys(known?.schema.properties ?? {});
  // Who names the index spells its properties.
  const isOwn = known === undefined && load.mapping !== undefined;
  const spelled = isOwn ? opened : spellAsDocumented(opened, defaults, names);
  const settled = await settle(settling(run), spelled, known);
  const relation = withSymbols(settled, defaults?.symbols);
  if (known === undefined) {
    const declared = withDeclared(relation, declaredNames(known, defaults));
    const made = await firstLoad(run, declared, instead?.firstId);
    if (instead === undefined) return made;
    return { ...made, draft: withSaid(made.draft, instead.dataset), instead };
  }
  checkDuplicates(`${known.workspace}.${known.dataset}`, known, load.chosen);
  const dataset =
    load.accepted === true ? { ...known, contract: USUAL_CONTRACT, expectations: [] } : known;
  const table = await tableOf(services.lake, known);
  const against = { dataset, table };
  const index = describeIndex(known, known.inferred ? '' : 'as declared');
  if (!looksBack(dataset) || table.files.length === 0) {
    const fitted = await conformTo(run, relation, against);
    return { kind: 'known', ...fitted, dataset: known, index };
  }
  const { columns } = uniqueIndexOf(known, table);
  const conformed = await withOpenFiles(services.lake.files, table.files, ({ paths, pathOf }) => {
    const stored = visibleRows(table.files, columns, pathOf);
    const bench = { ...run.bench, files: paths };
    return conformTo({ ...run, bench }, relation, against, stored);
  });
  return { kind: 'known', ...conformed, dataset: known, index };
}

/**
 * The stand-in that gives way to a load; undefined where nothing does.
 * @throws Failure Conflict where there is real data, and the load itself stands in.
 */
async function insteadOf(
  load: Load,
  there: Dataset | undefined,
  lake: LoadLake,
): Promise<Instead | undefined> {
  if (there === undefined || isStandIn(there) === (load.standIn !== undefined)) return undefined;
  if (load.standIn === undefined) {
    return { dataset: there, firstId: await lake.nextColumnId(there.tableId) };
  }
  const place = `${there.workspace}.${there.dataset}`;
  throw new Failure(
    'Conflict',
    `${place} has data of its owner: nothing invented stands in for it`,
  );
}

/** What its owner said of a stand-in holds of what takes its place: above all, who may read it. */
const withSaid = (
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

/** What the texts of some properties are: they are kept as symbols are spelled. */
export const withSymbols = (relation: Relation, symbols: readonly string[] = []): Relation => ({
  ...relation,
  columns: relation.columns.map((column) =>
    symbols.includes(column.name) ? { ...column, symbols: true } : column,
  ),
});

/** Properties whose types somebody declared: an inferred one holds what it was inferred to be. */
function declaredNames(
  known: Dataset | undefined,
  defaults: DatasetDefaults | undefined,
): ReadonlySet<string> {
  const own = known?.contract.inferred === true ? {} : known?.schema.properties;
  return new Set(Object.keys({ ...defaults?.types, ...own }));
}

/** Columns whose types were not inferred from the file. */
const withDeclared = (relation: Relation, names: ReadonlySet<string>): Relation => ({
  ...relation,
  columns: relation.columns.map((column) =>
    names.has(column.name) ? { ...column, isDeclared: true } : column,
  ),
});

/**
 * A file against a dataset as it is, or as it is about to become.
 * @param stored a sub-select of its records' index, where they matter
 * @throws as `conform`.
 */
export async function conformTo(
  run: Looking,
  relation: Relation,
  { dataset, table }: Pick<Governed, 'dataset' | 'table'>,
  stored?: string,
): Promise<Fitted & Pick<Conformed, 'leftOut'>> {
  checkColumns(dataset, relation);
  const unknown = relation.columns.filter(
    ({ name }) => !Object.hasOwn(dataset.schema.properties, name) && !isSystemColumn(name),
  );
  const declared = declaredNames(dataset, run.services.defaultsOf(run.load));
  const found = { run, relation: withDeclared(relation, declared), dataset, table, unknown };
  const leftOut = await leftOutOf(found);
  return { ...(await conformKnown(found, stored)), leftOut };
}

/** A load into a dataset that is there. */
interface Governed {
  readonly run: Looking;
  readonly relation: Relation;
  /** With the contract and the expectations that are in force for the load. */
  readonly dataset: Dataset;
  readonly table: Table;
  readonly unknown: Relation['columns'];
}

/** @throws Failure InvalidBody where the contract freezes the columns. */
async function leftOutOf({
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

/** Of a batch and what the schema becomes for it. */
interface Fitted {
  readonly batch: Batch;
  readonly request: BatchRequest;
  readonly change: SchemaChange | undefined;
}

/**
 * Types of new properties are widened until the whole file fits, as if all of it was read; those of
 * known ones too, where the contract says so.
 * @param stored a sub-select of the stored records' index, where it matters
 */
async function conformKnown(asked: Governed, stored: string | undefined): Promise<Fitted> {
  let found = asked;
  const { dataset, table, unknown } = found;
  const { contract, schema } = dataset;
  const defaults = found.run.services.defaultsOf(found.run.load);
  const inferred = wantedDates(unknown, undefined);
  const added: Record<string, PropertyType> = addedProperties(contract, defaults, inferred);
  const isOpen = (name: string): boolean => isUndocumented(defaults, name);
  const widens = found.relation.columns.some(
    ({ name }) => isOpen(name) && Object.hasOwn(schema.properties, name),
  );
  const widened: Record<string, PropertyType> = {};
  const firstId = await firstIdOf(found, added);
  const isStrict = contract.types === 'evolve' || contract.types === 'freeze';
  const isInferred = contract.inferred === true;
  const guessing = Object.keys(added).length > 0 || widens || isStrict || isInferred;
  for (let guessed = guessing; ;) {
    const columns = columnsAfter(table.columns, added, widened, firstId);
    const request = requestFor(found, columns, stored);
    const attempt = await makeBatch(request, found.run.bench, guessed);
    if (attempt.kind === 'unproved') throw new Failure('SystemError', 'an index was not asked for');
    if (attempt.kind === 'batch') {
      const { run } = found;
      const again = await settleRejected(settling(run), found.relation, dataset, attempt.batch);
      if (again !== undefined) {
        found = { ...found, relation: again };
        continue;
      }
      await tellDiscarded(found, request);
      const change = changeOf(dataset, columns, added, widened);
      return { batch: attempt.batch, request, change };
    }
    const before = JSON.stringify([added, widened]);
    const { misfits } = attempt;
    const how = settling(found.run);
    const settled = await settleMisfits(how, found.relation, added, misfits, schema.properties);
    const readOtherwise = settled.relation !== found.relation;
    found = { ...found, relation: settled.relation };
    Object.assign(added, settled.properties);
    for (const misfit of settled.rest) {
      const { column } = misfit;
      const into = Object.hasOwn(added, column) ? added : widened;
      const was = ownOf(into, column) ?? ownOf(schema.properties, column) ?? { type: 'string' };
      if (into === widened && contract.types === 'freeze')
        throw frozen(misfit, was, found.relation);
      if (into === added && defaults !== undefined && !isOpen(column)) continue;
      if (into === added || mayWiden(dataset, misfit, was, isOpen(column))) {
        const isExact = into === added || fitsNumbers(column, table);
        into[column] = await widenFor(misfit, was, found, isExact);
        continue;
      }
      const wider = await widenInferred(misfit, was, intoOf(found));
      if (wider === undefined) continue;
      into[column] = wider.property;
      await tellWidened(wider.misfit, wider.property, was, found);
    }
    guessed = readOtherwise || JSON.stringify([added, widened]) !== before;
  }
}

/** @throws Failure InvalidBody for a new property that can not stand beside those there are. */
async function firstIdOf({ dataset, run, table }: Governed, added: Properties): Promise<number> {
  if (Object.keys(added).length === 0) return 0;
  checkPropertyNames('the schema', Object.keys({ ...dataset.schema.properties, ...added }));
  // A table that is about to become has columns that the catalog does not know yet.
  const newest = Math.max(...table.columns.map(({ id }) => id));
  return Math.max(newest + 1, await run.services.lake.nextColumnId(table.tableId));
}

/** Never an indexed property, and none into what an expectation could not compare any more. */
function mayWiden(
  { contract, expectations, mapping }: Dataset,
  { column, value }: Misfit,
  property: PropertyType,
  isOpen: boolean,
): boolean {
  const widens = contract.types === 'evolve' || (isOpen && contract.types === 'discard_record');
  if (!widens || Object.values(mapping).includes(column)) return false;
  return !askedOf(expectations).has(column) || widen(property, value).type === 'number';
}

const intoOf = ({
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
  const shown = JSON.stringify(value.slice(0, 100));
  const told = `line ${line} has ${shown} for '${column}', no ${wordOf(column, property, relation)}`;
  return new Failure('InvalidBody', `the schema is frozen: ${told}`);
}

/** Columns keep their ids; new ones come after all that the table ever had. */
const columnsAfter = (
  columns: readonly Column[],
  added: Properties,
  widened: Properties,
  firstId: number,
): readonly Column[] => [
  ...columns.map((column) => {
    const wider = Object.hasOwn(widened, column.name) ? widened[column.name] : undefined;
    return wider === undefined ? column : { ...column, type: columnTypeOf(wider) };
  }),
  ...Object.entries(added).map(([name, property], at) => ({
    id: firstId + at,
    name,
    type: columnTypeOf(property),
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
  const index = uniqueIndexOf(dataset, table);
  const own = Object.keys(dataset.schema.properties);
  const indexed = new Set(Object.values(mapping));
  const lenient = contract.types === 'discard_value' ? own.filter((one) => !indexed.has(one)) : [];
  return {
    relation,
    columns,
    index,
    duplicates: keptRepeat(run.load),
    nowMs: run.services.clock(),
    lenient: new Set(lenient),
    refused: contract.columns === 'discard_record' ? unknown.map(({ name }) => name) : [],
    checks: checksOf(dataset, columns, stored),
    firstRow: run.load.firstRow ?? nextRow(table),
    source: run.load.sourceNumber ?? 0,
    sharesRow: mayShareRow(table, index) && !bringsRow(relation),
    repeats: 'drop',
  };
}

const bringsRow = ({ columns }: Relation): boolean =>
  columns.some(({ name }) => name === ROW_COLUMN);

/** Reports what became null: nothing is lost in silence. */
async function tellDiscarded({ run }: Governed, request: BatchRequest): Promise<void> {
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
