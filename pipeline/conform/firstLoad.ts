// The dataset that a file makes: types guessed from its head are widened until all of it fits, and its
// index is what its owner says, or what is proved to tell all of its records apart. Where nothing does
// there is no unique index, and every record is kept.
import type { PropertyType } from '../../store/versions/columns.ts';
import {
  type ColumnMapping,
  type Dataset,
  isMapped,
  requiredOf,
  UNSAID,
} from '../../store/datasets/datasets.ts';
import { columnsOf, type DatasetDraft } from '../../store/lake/datasetEdits.ts';
import { Failure } from '../../store/base/failure.ts';
import { makeBatch } from '../batch/batch.ts';
import { NO_CHECKS } from '../batch/expectations.ts';
import { indexTold, likeliestIndex, otherIndexes, seriesOf } from './indexGuess.ts';
import {
  longTexts,
  possible,
  provedBy,
  type Proving,
  repeatingTexts,
  withoutEmpty,
} from './indexProof.ts';
import { wantedDates } from '../values/infer.ts';
import { checkColumns, noDate, ownOf, widenFor, wordOf } from './misfits.ts';
import type { Relation } from '../values/relation.ts';
import { settleMisfits, settling } from './settle.ts';
import { isBlank, uniqueIndexOf } from '../batch/uniqueIndex.ts';
import type { BatchRequest, Batch, Misfit } from '../batch/batchRequest.ts';
import type { Conformed, Looking, IngestServices } from './load.ts';

type Properties = Readonly<Record<string, PropertyType>>;

/** Which properties order the records, and whether they tell them apart. */
interface Index {
  readonly mapping: ColumnMapping;
  readonly numbered: boolean;
}

/** One load while its dataset is not there yet. */
interface First {
  readonly run: FirstLooking;
  readonly relation: Relation;
}

type FirstLooking = Omit<Looking, 'services'> & {
  readonly services: Pick<IngestServices, 'clock'>;
};

type MadeNew = Extract<Conformed, { readonly kind: 'new' }>;

/** @throws Failure InvalidBody for what can not be its index. */
export async function firstLoad(run: FirstLooking, relation: Relation): Promise<MadeNew> {
  const { load } = run;
  let first: First = { run, relation };
  let properties: Properties = { ...wantedDates(relation.columns, load.mapping) };
  for (;;) {
    const asked = askedIndex(first);
    const index = asked ?? { mapping: likeliestIndex(properties), numbered: false };
    const draft = draftOf(first, properties, index);
    checkColumns(draft, first.relation);
    const repeats = asked === undefined ? 'tell' : 'drop';
    const attempt = await makeBatch(requestFor(first, draft, repeats), run.bench, true);
    if (attempt.kind === 'batch') {
      if (asked === undefined && !isMapped(draft.mapping)) return proved(first, properties);
      refuseRepeats(attempt.batch, first);
      return { kind: 'new', batch: attempt.batch, draft, leftOut: [], index: told(draft, first) };
    }
    if (attempt.kind === 'unproved') return proved(first, properties);
    const { misfits } = attempt;
    const settled = await settleMisfits(settling(run), first.relation, properties, misfits);
    first = { run, relation: settled.relation };
    properties = await widened(settled.rest, { ...properties, ...settled.properties }, first);
  }
}

/** What the load says of the index; undefined when it says nothing. */
function askedIndex({ run: { load } }: First): Index | undefined {
  if (load.mapping === undefined && load.numbered !== true) return undefined;
  return { mapping: load.mapping ?? {}, numbered: load.numbered ?? false };
}

async function widened(
  misfits: readonly Misfit[],
  properties: Properties,
  { relation, run }: First,
): Promise<Properties> {
  const wider: Record<string, PropertyType> = { ...properties };
  for (const misfit of misfits) {
    const { column, line, value } = misfit;
    const guessed = ownOf(wider, column) ?? { type: 'string' };
    if (run.load.mapping?.date === column && guessed.format !== undefined) {
      const shown = JSON.stringify(value.slice(0, 100));
      const was = wordOf(column, guessed, relation);
      throw noDate(column, `line ${line} has ${shown}, no ${was}`);
    }
    wider[column] = await widenFor(misfit, guessed, { relation, run });
  }
  return wider;
}

/** The first of the other indexes that all records prove, or none and numbers for all records. */
async function proved(first: First, properties: Properties): Promise<MadeNew> {
  const { relation, run } = first;
  const { bench } = run;
  const plain = draftOf(first, properties, { mapping: {}, numbered: false });
  const attempt = await makeBatch(requestFor(first, plain, 'drop'), bench, true);
  if (attempt.kind !== 'batch') {
    throw new Failure('SystemError', 'types that fitted the file do not fit it any more');
  }
  const names = Object.keys(properties);
  const read = { batch: attempt.batch, relation, bench };
  const batch = await withoutEmpty(names, tableOf(plain).columns, read);
  const proving: Proving = { batch, relation, bench };
  const texts = names.filter((name) => isText(properties[name]));
  const long = await longTexts(texts, proving);
  const whole = (name: string): boolean => !isBlank(batch.stats, name) && !long.has(name);
  const repeating = await repeatingTexts(texts, proving);
  const candidates = otherIndexes(properties, whole, (name) => repeating.has(name));
  for (const mapping of await possible(candidates, proving)) {
    const draft = draftOf(first, properties, { mapping, numbered: false });
    const sorted = await provedBy(tableOf(draft), proving);
    if (sorted === undefined) continue;
    return { kind: 'new', batch: sorted, draft, leftOut: [], index: told(draft, first) };
  }
  const mapping = seriesOf(properties, whole, (name) => !long.has(name));
  const draft = draftOf(first, properties, { mapping, numbered: true });
  const sorted = await provedBy(tableOf(draft), proving);
  if (sorted === undefined) throw new Failure('SystemError', 'numbered records repeat a number');
  return { kind: 'new', batch: sorted, draft, leftOut: [], index: told(draft, first) };
}

const isText = (property: PropertyType | undefined): boolean =>
  property?.type === 'string' && property.format === undefined;

/** Columns and index of a dataset that is not there yet. */
function tableOf(draft: DatasetDraft): Pick<BatchRequest, 'columns' | 'index'> {
  const columns = columnsOf(draft);
  const dataset: Dataset = { ...draft, tableId: 0, createdMs: 0, updatedMs: 0 };
  const table = { tableId: 0, snapshot: 0, folder: '', columns, files: [], records: 0, bytes: 0 };
  return { columns, index: uniqueIndexOf(dataset, table) };
}

const requestFor = (
  { relation, run: { load, services } }: First,
  draft: DatasetDraft,
  repeats: BatchRequest['repeats'],
): BatchRequest => ({
  relation,
  ...tableOf(draft),
  duplicates: load.duplicates,
  nowMs: services.clock(),
  lenient: new Set<string>(),
  refused: [],
  checks: NO_CHECKS,
  firstRow: 1,
  repeats,
});

function draftOf(
  { run: { load } }: First,
  properties: Properties,
  { mapping, numbered }: Index,
): DatasetDraft {
  return {
    workspace: load.workspace,
    dataset: load.dataset,
    ...UNSAID,
    source: load.source ?? '',
    schema: { type: 'object', properties, required: requiredOf(mapping, numbered) },
    mapping,
    numbered,
  };
}

/** @throws Failure InvalidBody where the load is not to leave out what repeats an index value. */
function refuseRepeats({ duplicates, repeated }: Batch, { run: { load } }: First): void {
  if (load.refusesRepeats !== true || duplicates === 0) return;
  const shown = repeated === undefined ? '' : `, such as ${repeated.examples.join(', ')}`;
  const what = `${duplicates} records repeat an index value${shown}`;
  const ways = 'name more of its parts (subkey, date), keep all (uniqueIndex=false, --no-index)';
  const drop = 'or say which one stays (duplicateKeyHandling, --duplicates ignore or replace)';
  throw new Failure('InvalidBody', `${what}: ${ways} ${drop}`);
}

/** Which index the dataset has and why, for who loads. */
function told(draft: DatasetDraft, { run: { load } }: First): string {
  const isAsked = load.mapping !== undefined || load.numbered === true;
  if (isAsked) return indexTold(draft, 'as asked');
  if (!draft.numbered) return indexTold(draft, 'proved on all records');
  const why = indexTold(draft, 'nothing that looks like one tells all records apart');
  return `${why}; key, subkey and date (--key, --subkey, --date) name one`;
}
