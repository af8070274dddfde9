// A file against its dataset: what of it fits, and what the dataset's contract makes of what does
// not. Nothing is changed here but files of the work folder, so that a dry run is the same thing.
import {
  checkPropertyNames,
  type Column,
  columnTypeOf,
  type PropertyType,
  UPDATED_COLUMN,
} from '../store/columns.ts';
import { USUAL_CONTRACT } from '../store/contracts.ts';
import { type Dataset, type RecordSchema, UNSAID } from '../store/datasets.ts';
import { columnsOf, type DatasetDraft } from '../store/datasetEdits.ts';
import { Failure } from '../store/failure.ts';
import type { Lake } from '../store/lake.ts';
import type { Table } from '../store/lakeRead.ts';
import { withOpenFiles } from '../store/tableFiles.ts';
import { visibleRows } from '../store/tableSql.ts';
import {
  type Batch,
  type BatchRequest,
  findMisfits,
  makeBatch,
  type Misfit,
  type Workbench,
} from './batch.ts';
import { askedOf, checksOf, looksBack, NO_CHECKS } from './expectations.ts';
import { guessMapping, schemaOf, wantedDates, widen } from './infer.ts';
import type { IngestEvents, IngestServices, Load } from './ingest.ts';
import { type Relation, saidOrder } from './relation.ts';
import { settle, settleMisfits, settleRejected } from './settle.ts';
import { uniqueIndexOf } from './uniqueIndex.ts';
import { refuseUnknown } from './unknownColumns.ts';

type Properties = Readonly<Record<string, PropertyType>>;

/** One load while it is looked at. */
interface Looking {
  readonly load: Load;
  readonly services: Pick<IngestServices, 'lake' | 'clock'>;
  readonly bench: Workbench;
  readonly events: Pick<IngestEvents, 'log'>;
}

/** How the schema of a dataset becomes wider with a load. */
export interface SchemaChange {
  readonly schema: RecordSchema;
  /** All columns of the table afterwards. */
  readonly columns: readonly Column[];
  readonly added: Properties;
  readonly widened: Properties;
}

/** A batch, and the dataset that it is for: one that is there, or one to be made. */
export type Conformed = {
  readonly batch: Batch;
  /** Columns of the file that the schema does not have and that stay out. */
  readonly leftOut: readonly string[];
} & (
  | { readonly kind: 'known'; readonly dataset: Dataset; readonly change: SchemaChange | undefined }
  | { readonly kind: 'new'; readonly draft: DatasetDraft }
);

/** @throws Failure InvalidBody for what the contract, or the index, does not let in. */
export async function conform(run: Looking, opened: Relation): Promise<Conformed> {
  const { load, services } = run;
  const known = services.lake.catalogue.dataset(load.workspace, load.dataset);
  const relation = await settle(settling(run), opened, known);
  if (known === undefined) return inferNew(run, relation);
  const dataset =
    load.accepted === true ? { ...known, contract: USUAL_CONTRACT, expectations: [] } : known;
  const table = await tableOf(services.lake, known);
  const against = { dataset, table };
  if (!looksBack(dataset) || table.files.length === 0) {
    return { kind: 'known', ...(await conformTo(run, relation, against)), dataset: known };
  }
  const { columns } = uniqueIndexOf(known, table);
  const conformed = await withOpenFiles(services.lake.files, table.files, ({ paths, pathOf }) => {
    const stored = visibleRows(table.files, columns, pathOf);
    const bench = { ...run.bench, files: paths };
    return conformTo({ ...run, bench }, relation, against, stored);
  });
  return { kind: 'known', ...conformed, dataset: known };
}

/**
 * A file against a dataset as it is, or as it is about to become.
 * @param stored a sub-select of its records' index, where they matter
 * @throws as `conform`.
 */
export async function conformTo(
  run: Looking,
  relation: Relation,
  { dataset, table }: Pick<Found, 'dataset' | 'table'>,
  stored?: string,
): Promise<Fitted & Pick<Conformed, 'leftOut'>> {
  checkColumns(dataset, relation);
  const unknown = relation.columns.filter(
    ({ name }) => !Object.hasOwn(dataset.schema.properties, name) && name !== UPDATED_COLUMN,
  );
  const found = { run, relation: lenientRelation(relation, dataset), dataset, table, unknown };
  const leftOut = await leftOutOf(found);
  return { ...(await conformKnown(found, stored)), leftOut };
}

/** A load into a dataset that is there. */
interface Found {
  readonly run: Looking;
  readonly relation: Relation;
  /** With the contract and the expectations that are in force for the load. */
  readonly dataset: Dataset;
  readonly table: Table;
  readonly unknown: Relation['columns'];
}

/** DuckDB would refuse a line for a value that is to become null. */
const lenientRelation = (relation: Relation, { contract }: Dataset): Relation =>
  contract.types === 'discard_value' && relation.kind === 'csv'
    ? { ...relation, texts: true }
    : relation;

/** @throws Failure InvalidBody where the contract freezes the columns. */
async function leftOutOf({ dataset, relation, run, unknown }: Found): Promise<readonly string[]> {
  const { columns } = dataset.contract;
  const names = unknown.map(({ name }) => name);
  if (names.length === 0 || columns === 'evolve') return [];
  if (columns === 'freeze') return refuseUnknown(names, relation, run.bench);
  if (columns === 'discard_record') return names;
  const list = names.slice(0, 20).join(', ');
  await run.events.log(`columns that the schema does not have are left out: ${list}`);
  return names;
}

/** Of a batch and what the schema becomes for it. */
interface Fitted {
  readonly batch: Batch;
  readonly change: SchemaChange | undefined;
}

/**
 * Types of new properties are widened until the whole file fits, as if all of it was read; those of
 * known ones too, where the contract says so.
 * @param stored a sub-select of the stored records' index, where it matters
 */
async function conformKnown(asked: Found, stored: string | undefined): Promise<Fitted> {
  let found = asked;
  const { dataset, table, unknown } = found;
  const { contract, schema } = dataset;
  const added: Record<string, PropertyType> =
    contract.columns === 'evolve' ? { ...wantedDates(unknown, undefined) } : {};
  const widened: Record<string, PropertyType> = {};
  const firstId = await firstIdOf(found, added);
  const guessing = Object.keys(added).length > 0 || /^(evolve|freeze)$/.test(contract.types);
  for (let guessed = guessing; ;) {
    const columns = columnsAfter(table.columns, added, widened, firstId);
    const request = requestFor(found, columns, stored);
    const attempt = await makeBatch(request, found.run.bench, guessed);
    if (attempt.kind === 'batch') {
      const { run } = found;
      const again = await settleRejected(settling(run), found.relation, dataset, attempt.batch);
      if (again !== undefined) {
        found = { ...found, relation: again };
        continue;
      }
      await tellDiscarded(found, request);
      return { batch: attempt.batch, change: changeOf(dataset, columns, added, widened) };
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
      if (into === widened && !mayWiden(dataset, column, was)) continue;
      into[column] = await widenFor(misfit, was, found);
    }
    guessed = readOtherwise || JSON.stringify([added, widened]) !== before;
  }
}

/** @throws Failure InvalidBody for a new property that can not stand beside those there are. */
async function firstIdOf({ dataset, run, table }: Found, added: Properties): Promise<number> {
  if (Object.keys(added).length === 0) return 0;
  checkPropertyNames('the schema', Object.keys({ ...dataset.schema.properties, ...added }));
  // A table that is about to become has columns that the catalog does not know yet.
  const newest = Math.max(...table.columns.map(({ id }) => id));
  return Math.max(newest + 1, await run.services.lake.nextColumnId(table.tableId));
}

const ownOf = (properties: Properties, name: string): PropertyType | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/** Never an indexed property, and none into what an expectation could not compare any more. */
function mayWiden(
  { contract, expectations, mapping }: Dataset,
  name: string,
  property: PropertyType,
): boolean {
  if (contract.types !== 'evolve' || Object.values(mapping).includes(name)) return false;
  return !askedOf(expectations).has(name) || widen(property).type === 'number';
}

async function widenFor(
  misfit: Misfit,
  guessed: PropertyType,
  { relation, run }: Pick<Found, 'relation' | 'run'>,
): Promise<PropertyType> {
  const { column, line, value } = misfit;
  const wider = widen(guessed);
  const was = wordOf(column, guessed, relation);
  const shown = JSON.stringify(value.slice(0, 100));
  await run.events.log(`${column} becomes ${wider.type}: line ${line} has ${shown}, no ${was}`);
  return wider;
}

/** What a value should have been. */
function wordOf(name: string, property: PropertyType, relation: Relation): string {
  const order = saidOrder(relation, { name, type: columnTypeOf(property) });
  const word = property.format ?? property.type;
  return order === undefined ? word : `${word} in the order ${order}`;
}

const noDate = (name: string, why: string): Failure =>
  new Failure('InvalidBody', `property '${name}' can not be the date: ${why}`);

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
  { dataset, relation, run, table, unknown }: Found,
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
    duplicates: run.load.duplicates,
    nowMs: run.services.clock(),
    lenient: new Set(lenient),
    refused: contract.columns === 'discard_record' ? unknown.map(({ name }) => name) : [],
    checks: checksOf(dataset, columns, stored),
  };
}

/** What became null is told: nothing is lost in silence. */
async function tellDiscarded({ run }: Found, request: BatchRequest): Promise<void> {
  const { lenient } = request;
  if (lenient.size === 0) return;
  const columns = request.columns.filter(({ name }) => lenient.has(name));
  const some = await findMisfits({ relation: request.relation, columns }, run.bench);
  for (const { column, line, records, value } of some) {
    const first = `line ${line} has ${JSON.stringify(value.slice(0, 100))}`;
    await run.events.log(`${records} values of ${column} did not fit and are null: ${first}`);
  }
}

const settling = ({ bench, events, load }: Looking) => ({ bench, events, order: load.dateOrder });

/** The dataset that a file makes: types guessed from its head are widened until all of it fits. */
async function inferNew(run: Looking, opened: Relation): Promise<Conformed> {
  const { load, services, bench } = run;
  let relation = opened;
  const properties: Record<string, PropertyType> = {
    ...wantedDates(relation.columns, load.mapping),
  };
  for (;;) {
    const draft = draftOf(load, properties);
    checkColumns(draft, relation);
    const table = { tableId: 0, snapshot: 0, folder: '', columns: columnsOf(draft), files: [] };
    const dataset = { ...draft, tableId: 0, createdMs: 0, updatedMs: 0 };
    const request = {
      relation,
      columns: table.columns,
      index: uniqueIndexOf(dataset, { ...table, records: 0, bytes: 0 }),
      duplicates: load.duplicates,
      nowMs: services.clock(),
      lenient: new Set<string>(),
      refused: [],
      checks: NO_CHECKS,
    };
    const attempt = await makeBatch(request, bench, true);
    if (attempt.kind === 'batch') return { kind: 'new', batch: attempt.batch, draft, leftOut: [] };
    const settled = await settleMisfits(settling(run), relation, properties, attempt.misfits);
    relation = settled.relation;
    Object.assign(properties, settled.properties);
    for (const misfit of settled.rest) {
      const { column, line, value } = misfit;
      const guessed = ownOf(properties, column) ?? { type: 'string' };
      if (load.mapping?.date === column && guessed.format !== undefined) {
        const shown = JSON.stringify(value.slice(0, 100));
        const was = wordOf(column, guessed, relation);
        throw noDate(column, `line ${line} has ${shown}, no ${was}`);
      }
      properties[column] = await widenFor(misfit, guessed, { relation, run });
    }
  }
}

function draftOf(load: Load, properties: Properties): DatasetDraft {
  const mapping = load.mapping ?? guessMapping(properties);
  return {
    workspace: load.workspace,
    dataset: load.dataset,
    ...UNSAID,
    source: load.source ?? '',
    schema: schemaOf(properties, mapping),
    mapping,
  };
}

/** @throws Failure InvalidBody when an indexed property is not in the file or can't be one. */
function checkColumns(dataset: DatasetDraft, relation: Relation): void {
  const names = new Set(relation.columns.map(({ name }) => name));
  for (const [part, name] of Object.entries(dataset.mapping)) {
    const property = dataset.schema.properties[name];
    if (!names.has(name) || property === undefined) {
      throw new Failure(
        'InvalidBody',
        `validation failed: should have required property '${name}'`,
      );
    }
    const date = property.format !== undefined;
    if (part === 'date' && !date) {
      throw noDate(name, 'it holds no dates');
    }
    if (columnTypeOf(property) === 'json') {
      throw new Failure('InvalidBody', `property '${name}' can not be indexed: it is no scalar`);
    }
  }
}

/** The table of a dataset as it is now. @throws Failure NotFound. */
export async function tableOf(lake: Lake, { tableId }: Dataset): Promise<Table> {
  const table = await lake.table(tableId);
  if (table === undefined) throw new Failure('NotFound');
  return table;
}
