// Creates the dataset of a first load. Types inferred from the head of the file are widened until all of it
// fits. Its index is unique where the caller or its place (a market input in CORE) declares it; otherwise
// it is inferred, orders the records and finds them, and every record is kept, now and later.
import { checkDuplicates, repeatHandling } from './duplicates.ts';
import { isDated, type PropertyType } from '../../store/lake/versions/columns.ts';
import {
  type ColumnMapping,
  type Dataset,
  type DatasetIndex,
  isMapped,
  listRequired,
  DATASET_DEFAULTS,
} from '../../store/lake/datasets/datasets.ts';
import { buildColumns, type DatasetDraft } from '../../store/lake/datasetEdits.ts';
import { INFERRED_CONTRACT } from '../../store/lake/datasets/contracts.ts';
import type { DatasetDefaults } from '../../store/lake/datasets/defaults.ts';
import { Failure } from '../../store/base/failure.ts';
import { makeBatch } from '../batch/batch.ts';
import { NO_CHECKS } from '../batch/expectations.ts';
import { describeIndex, likeliestIndex, otherIndexes, seriesOf } from './indexGuess.ts';
import {
  findLongTexts,
  findPossible,
  numberInFileOrder,
  type Proving,
  findRepeatingTexts,
  sortByIndex,
  dropEmptyLines,
} from './indexProof.ts';
import { widen, withExpectedDates } from '../values/infer.ts';
import {
  checkColumns,
  noDateFailure,
  ownProperty,
  widenFor,
  describeType,
  isSameType,
} from './typeConflicts.ts';
import type { Relation } from '../values/relation.ts';
import { resolveMisfits, settleContext } from './wholeFileTypes.ts';
import { isBlank, canShareRow, buildUniqueIndex } from '../batch/uniqueIndex.ts';
import type { BatchRequest, Batch, Misfit } from '../batch/batchRequest.ts';
import type { Fit, LoadContext, IngestServices } from './load.ts';

type Properties = Readonly<Record<string, PropertyType>>;

/** One load whose dataset does not exist yet. */
interface First {
  readonly run: FirstLooking;
  readonly relation: Relation;
  /** The defaults of the dataset's place. */
  readonly defaults: DatasetDefaults | undefined;
  /** Id of the first column. */
  readonly firstId: number;
  /** Properties that become null where their value does not fit. */
  readonly lenient?: ReadonlySet<string>;
}

/**
 * Types are guessed until all values fit. A value that does not fit a declared type is rejected, but only
 * after the guessed types are proved on every record, including the rejected ones.
 */
type Step = 'guess' | 'prove' | 'reject';

type FirstLooking = Omit<LoadContext, 'services'> & {
  readonly services: Pick<IngestServices, 'clock' | 'defaultsOf'>;
};

type NewFit = Extract<Fit, { readonly kind: 'new' }> & {
  /** Key, subkey and date distinguish all records of the file: they could be declared as the index. */
  readonly isProved: boolean;
};

/**
 * @param firstId of its columns, if they replace others
 * @throws Failure InvalidBody for properties that cannot be its index.
 */
export async function firstLoad(
  run: FirstLooking,
  relation: Relation,
  firstId = 1,
): Promise<NewFit> {
  const created = await createFit(run, relation, firstId);
  const fileColumns = new Set(relation.columns.map(({ name }) => name));
  const all = Object.keys(created.draft.schema.properties);
  return { ...created, lacking: all.filter((name) => !fileColumns.has(name)) };
}

type CreatedFit = Omit<NewFit, 'lacking'>;

async function createFit(
  run: FirstLooking,
  relation: Relation,
  firstId: number,
): Promise<CreatedFit> {
  const { load } = run;
  const defaults = run.services.defaultsOf(load);
  let first: First = { run, relation, defaults, firstId };
  const declared = declaredTypes(first);
  const inferred = withExpectedDates(relation.columns, load.mapping ?? defaultMapping(first));
  let properties: Properties = { ...inferred, ...declared };
  let step: Step = 'guess';
  for (;;) {
    const declaredIndex = findDeclaredIndex(first);
    const index = declaredIndex ?? inferredIndex(likeliestIndex(properties));
    const draft = draftOf(first, properties, index);
    checkColumns(draft, first.relation);
    checkDuplicates(`${load.workspace}.${load.dataset}`, draft, load.chosen);
    const repeats = declaredIndex === undefined ? 'prove' : 'drop';
    const candidate = step === 'prove' ? leniently(first, declared) : first;
    const request = requestFor(candidate, draft, repeats);
    const attempt = await makeBatch(request, run.bench, step !== 'reject');
    if (attempt.kind === 'batch' && step === 'prove') {
      step = 'reject';
      continue;
    }
    if (attempt.kind === 'batch') {
      if (draft.inferred && !isMapped(draft.mapping)) return proveIndex(first, properties);
      refuseRepeats(attempt.batch, first);
      return toFit(attempt.batch, request, draft, first, isMapped(draft.mapping));
    }
    if (attempt.kind === 'unproved') return proveIndex(first, properties);
    const { misfits } = attempt;
    const open = without(properties, declared);
    const settled = await resolveMisfits(
      settleContext(run),
      first.relation,
      open,
      misfits,
      declared,
    );
    const isReadDifferently = settled.relation !== first.relation;
    first = { ...first, relation: settled.relation };
    const rest = settled.rest.filter(({ column }) => !Object.hasOwn(declared, column));
    properties = await widenTypes(rest, { ...properties, ...settled.properties }, first);
    if (!isReadDifferently && rest.length === 0) step = 'prove';
  }
}

/** The types that the dataset's place declares for columns of the file. */
function declaredTypes({ defaults, relation }: First): Properties {
  const placeTypes = defaults?.types ?? {};
  const types = relation.columns.map(({ name }) => [name, ownProperty(placeTypes, name)] as const);
  return Object.fromEntries(
    types.flatMap(([name, type]) => (type === undefined ? [] : [[name, type]])),
  );
}

const leniently = (first: First, declared: Properties): First => ({
  ...first,
  lenient: new Set(Object.keys(declared)),
});

const without = (properties: Properties, some: Properties): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(some, name)));

/** The index declared by the load, or else by the dataset's place; undefined if neither declares one. */
function findDeclaredIndex(first: First): DatasetIndex | undefined {
  const { load } = first.run;
  const mapping = load.mapping ?? defaultMapping(first);
  if (load.numbered === true || (load.chosen === 'keep-all' && load.mapping !== undefined))
    return { mapping: load.mapping ?? {}, numbered: true, inferred: false };
  return mapping === undefined ? undefined : { mapping, numbered: false, inferred: false };
}

const inferredIndex = (mapping: ColumnMapping): DatasetIndex => ({
  mapping,
  numbered: true,
  inferred: true,
});

/** The index of the dataset's place, without optional parts that the file lacks. */
function defaultMapping({ defaults, relation }: First): ColumnMapping | undefined {
  if (defaults === undefined) return undefined;
  const names = new Set(relation.columns.map(({ name }) => name));
  const has = ([, name]: readonly [string, string]): boolean =>
    names.has(name) || !defaults.optional.includes(name);
  return Object.fromEntries(Object.entries(defaults.mapping).filter(has));
}

async function widenTypes(
  misfits: readonly Misfit[],
  properties: Properties,
  { relation, run }: Pick<First, 'relation' | 'run'>,
): Promise<Properties> {
  const wider: Record<string, PropertyType> = { ...properties };
  for (const misfit of misfits) {
    const { column, line, value } = misfit;
    const guessed = ownProperty(wider, column) ?? { type: 'string' };
    const own = relation.columns.find(({ name }) => name === column)?.inferred.own;
    const isWidest = own === undefined || isSameType(own, guessed);
    const isLost = isWidest && !isDated(widen(guessed, value));
    if (run.load.mapping?.date === column && guessed.format !== undefined && isLost) {
      const example = JSON.stringify(value.slice(0, 100));
      const was = describeType(column, guessed, relation);
      throw noDateFailure(column, `line ${line} has ${example}, no ${was}`);
    }
    wider[column] = await widenFor(misfit, guessed, { relation, run });
  }
  return wider;
}

/** Finds the first other index that distinguishes all records; else numbers the records of a series. */
async function proveIndex(first: First, properties: Properties): Promise<CreatedFit> {
  const { relation, run } = first;
  const { bench } = run;
  const plain = draftOf(first, properties, { mapping: {}, numbered: false, inferred: true });
  const attempt = await makeBatch(requestFor(first, plain, 'drop'), bench, true);
  if (attempt.kind !== 'batch') {
    throw new Failure('SystemError', 'types that fitted the file do not fit it any more');
  }
  const names = Object.keys(properties);
  const source = run.load.sourceNumber ?? 0;
  const read = { batch: attempt.batch, relation, bench, source };
  const batch = await dropEmptyLines(names, tableOf(plain, first).columns, read);
  const proving: Proving = { ...read, batch };
  const texts = names.filter((name) => isText(properties[name]));
  const long = await findLongTexts(texts, proving);
  const whole = (name: string): boolean => !isBlank(batch.stats, name) && !long.has(name);
  const repeating = await findRepeatingTexts(texts, proving);
  const candidates = otherIndexes(properties, whole, (name) => repeating.has(name));
  for (const mapping of await findPossible(candidates, proving)) {
    const draft = draftOf(first, properties, inferredIndex(mapping));
    const sorted = await sortByIndex(tableOf(draft, first), proving);
    if (sorted === undefined) continue;
    return toFit(sorted, requestFor(first, draft, 'drop'), draft, first, true);
  }
  const mapping = seriesOf(properties, whole, (name) => !long.has(name));
  const draft = draftOf(first, properties, inferredIndex(mapping));
  const sorted = await numberInFileOrder(tableOf(draft, first), proving);
  return toFit(sorted, requestFor(first, draft, 'drop'), draft, first, false);
}

const toFit = (
  batch: Batch,
  request: BatchRequest,
  draft: DatasetDraft,
  first: First,
  isProved: boolean,
): CreatedFit => ({
  isProved,
  kind: 'new',
  batch,
  request,
  draft,
  leftOut: [],
  index: describeNewIndex(draft, first),
});

const isText = (property: PropertyType | undefined): boolean =>
  property?.type === 'string' && property.format === undefined;

/** Columns and index of a dataset that does not exist yet. */
function tableOf(
  draft: DatasetDraft,
  { firstId }: Pick<First, 'firstId'>,
): Pick<BatchRequest, 'columns' | 'index' | 'sharesRow'> {
  const columns = buildColumns(draft, firstId);
  const dataset: Dataset = { ...draft, tableId: 0, createdMs: 0, updatedMs: 0 };
  const table = { tableId: 0, snapshot: 0, folder: '', columns, files: [], records: 0, bytes: 0 };
  const index = buildUniqueIndex(dataset, table);
  return { columns, index, sharesRow: canShareRow(table, index) };
}

const requestFor = (
  { firstId, lenient = new Set<string>(), relation, run: { load, services } }: First,
  draft: DatasetDraft,
  repeats: BatchRequest['repeats'],
): BatchRequest => ({
  relation,
  ...tableOf(draft, { firstId }),
  duplicates: repeatHandling(load),
  nowMs: services.clock(),
  lenient,
  refused: [],
  checks: NO_CHECKS,
  firstRow: 1,
  source: load.sourceNumber ?? 0,
  repeats,
});

function draftOf(
  { defaults, run: { load } }: First,
  properties: Properties,
  index: DatasetIndex,
): DatasetDraft {
  const { title = DATASET_DEFAULTS.title, weight = DATASET_DEFAULTS.weight } = defaults ?? {};
  return {
    workspace: load.workspace,
    dataset: load.dataset,
    ...DATASET_DEFAULTS,
    title,
    weight,
    contract: INFERRED_CONTRACT,
    ...load.standIn,
    source: load.source ?? '',
    ...(defaults === undefined ? {} : { contract: defaults.contract }),
    schema: {
      type: 'object',
      properties: {
        ...properties,
        ...missingProperties(defaults, properties),
      },
      required: listRequired(index),
    },
    ...index,
  };
}

/** Documented properties that the file lacks; a later file may have them. Names ignore case. */
function missingProperties(
  defaults: DatasetDefaults | undefined,
  properties: Properties,
): Properties {
  const names = new Set(Object.keys(properties).map((name) => name.toLowerCase()));
  const { documented = [], types = {} } = defaults ?? {};
  const missing = documented.filter((name) => !names.has(name.toLowerCase()));
  return Object.fromEntries(missing.map((name) => [name, ownProperty(types, name) ?? TEXT]));
}

const TEXT: PropertyType = { type: 'string' };

/** @throws Failure InvalidBody if the load must not leave out records that repeat an index value. */
function refuseRepeats({ duplicates, repeated }: Batch, { run: { load } }: First): void {
  if (load.refusesRepeats !== true || duplicates === 0) return;
  const examples = repeated === undefined ? '' : `, such as ${repeated.examples.join(', ')}`;
  const what = `${duplicates} records repeat an index value${examples}`;
  const ways =
    'name more of its parts (subkey, date), keep all with uniqueIndex=false (--no-index),';
  const drop =
    'or choose which one stays: duplicates=keep-first (--duplicates keep-first) or duplicates=replace ' +
    '(--duplicates replace)';
  throw new Failure('InvalidBody', `${what}: ${ways} ${drop}`);
}

/** Describes the index of the dataset and its origin for the caller of the load. */
function describeNewIndex(draft: DatasetDraft, { defaults, run: { load } }: First): string {
  const isDeclared = load.mapping !== undefined || load.numbered === true;
  if (isDeclared) return describeIndex(draft, 'as declared');
  if (defaults !== undefined && !draft.inferred) return describeIndex(draft, 'as its id declares');
  return describeIndex(draft, '');
}
