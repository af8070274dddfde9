// Records as they are written: of any dataset, and of those of CORE that the original streamed under names of
// their own.
import { runSeries } from '../../query/series/series.ts';
import type { Row } from '../../market/derive/values.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { momentText } from '../../store/lake/history/history.ts';
import { callerOf, wholeDatasetOf } from '../auth/access.ts';
import { momentNow } from '../read/moments.ts';
import { readDataset, sinceOf } from '../read/series.ts';
import type { Answer, Call, Services } from '../request/endpoint.ts';
import { listOf, refuse, truthOf, type Values } from '../request/parameters.ts';
import type { Newest } from '../sse/connection.ts';
import { Gathering } from '../sse/gathering.ts';
import {
  MORE,
  type RecordReader,
  type Stand,
  WRITTEN_MAX,
  type Written,
} from '../sse/recordWatches.ts';
import type { RecordShape } from '../sse/streamTable.ts';
import { deletedSince, RESET, tellsDeletions } from './deletions.ts';
import { openedStream, type Opening } from './opened.ts';
import type { StreamServices } from './entitled.ts';
import type { Past } from './storedTicks.ts';
import type { Subscription } from '../../store/bus/group.ts';
import { RECORD_SHAPES, type Told, WHOLE } from '../market/money/recordShapes.ts';

/** As the symbols of other streams. */
const KEYS_MAX = 50;

/** `/stream/{workspace}/{id}`: the records of a dataset, whole, as they are written. */
export async function answerRecords(call: Call, services: StreamServices): Promise<Answer> {
  const { id = '', workspace = '' } = call.path;
  const dataset = wholeDatasetOf(callerOf(call.caller), workspace, id, services);
  const usageKey = `${dataset.workspace}.${dataset.dataset}`;
  const price = { usageKey, weight: dataset.weight, datasets: () => [dataset] };
  const isAllowed = (): boolean => {
    const caller = callerOf(call.identified());
    return wholeDatasetOf(caller, workspace, id, services).tableId === dataset.tableId;
  };
  return openedStream(call, services, { price, isAllowed }, (ids, query) =>
    recordsOf(
      dataset,
      {
        keys: keysOf(query, dataset),
        ids,
        intervalMs: 0,
        shape: shapeOf(call, dataset),
        isRenewed: false,
      },
      call,
      services,
    ),
  );
}

/** @throws Failure InvalidParameter. */
function keysOf(query: Values, { mapping }: Dataset): readonly string[] | undefined {
  const keys = listOf(query, 'keys');
  if (keys !== undefined && mapping.key === undefined) {
    return refuse('keys', 'is for datasets with a key');
  }
  if ((keys?.length ?? 0) > KEYS_MAX) refuse('keys', `has at most ${KEYS_MAX} keys`);
  return keys;
}

/** @throws Failure InvalidParameter. */
function shapeOf({ query }: Pick<Call, 'query'>, dataset: Dataset): Shape {
  if (!truthOf(query, 'deletions')) return 'record';
  return tellsDeletions(dataset)
    ? 'change'
    : refuse('deletions', 'is for datasets with a unique index');
}

/** `change`: records, and those that were deleted. */
type Shape = RecordShape | 'change';

interface RecordsAsked {
  /** Undefined for all. */
  readonly keys: readonly string[] | undefined;
  readonly ids: boolean;
  readonly intervalMs: number;
  readonly shape: Shape;
  /** The stream was open before the dataset: it begins with all of its records. */
  readonly isRenewed: boolean;
}

export async function recordsOf(
  dataset: Dataset,
  { ids, intervalMs, isRenewed, keys, shape }: RecordsAsked,
  call: Call,
  services: StreamServices,
): Promise<Opening> {
  const told = shape === 'change' ? WHOLE : RECORD_SHAPES[shape];
  const written = writtenReader(dataset, told, call, services);
  const reader = shape === 'change' ? withDeletions(dataset, written, services) : written;
  // In the test environment other values are read: they are for its own subscribers.
  const { scrambleSeed } = callerOf(call.caller);
  const shown = scrambleSeed === undefined ? shape : `${shape}/${scrambleSeed}`;
  const { records } = services.streams;
  const topic = await records.watch(dataset.tableId, shown, reader);
  if (ids && intervalMs === 0) await records.keep(topic);
  const subscription = { topics: [topic], symbols: keys, intervalMs, ids };
  // What is told from that stand on comes behind what was newest at it.
  const begun = await records.between(topic, (stand) => {
    return { stand, gathering: new Gathering(services.streams.hub, subscription) };
  });
  try {
    const newest = await newestOf(dataset, told, keys ?? [], call, services, begun?.stand);
    const ofKey: Newest = (key) => [newest.get(key) ?? []].flat();
    const opening = { subscription, newest: ofKey, snapshot: keys ?? [] };
    const past = isRenewed ? { past: await writtenBefore(reader, begun?.stand, subscription) } : {};
    return { ...opening, ...past, gathering: begun?.gathering };
  } catch (error) {
    begun?.gathering.drop();
    throw error;
  }
}

/** All records that were written by a moment; of a stream with an interval the latest of each symbol. */
async function writtenBefore(
  reader: RecordReader,
  stand: Stand | undefined,
  { intervalMs, symbols }: Pick<Subscription, 'intervalMs' | 'symbols'>,
): Promise<readonly Past[]> {
  if (stand === undefined || stand === 'nothing') return [];
  const { records } = await reader.since('nothing', stand);
  const wanted = records
    .map(({ json, key = '' }) => ({ symbol: key, json }))
    .filter(({ symbol }) => symbols === undefined || symbol === '' || symbols.includes(symbol));
  const more = records.length < WRITTEN_MAX ? [] : [{ symbol: '', json: MORE }];
  if (intervalMs === 0) return [...wanted, ...more];
  return [...new Map(wanted.map((past) => [past.symbol, past])).values()];
}

type Reading = Pick<Services, 'lake' | 'pending' | 'series'> & StreamServices;

/** They are the stream's, not those of the request that opened it: that one may be gone. */
const lasting = (call: Call): Call => ({
  ...call,
  query: {},
  path: {},
  departure: () => new AbortController().signal,
});

/** What was deleted comes first: a record that is written again after it is there. */
function withDeletions(
  { tableId }: Dataset,
  written: RecordReader,
  services: Reading,
): RecordReader {
  return {
    begin: written.begin,
    since: async (before, until) => {
      const change = await written.since(before, until);
      const { moment, records } = change;
      const current = services.lake.directory.datasetById(tableId);
      if (current === undefined || before === 'nothing') return change;
      try {
        const gone = await deletedSince(current, before, services);
        return { ...change, records: [...gone, ...records] };
      } catch (error) {
        if (!(error instanceof Failure) || error.type !== 'Gone') throw error;
        return { moment, records: [RESET, ...records] };
      }
    },
  };
}

export function writtenReader(
  dataset: Dataset,
  told: Told,
  call: Call,
  services: Reading,
): RecordReader {
  const bare = lasting(call);
  const { tableId } = dataset;
  return {
    begin: async () => momentNow(services),
    since: async (before, until) => {
      const since = await standing(tableId, before, services);
      const at = until === undefined ? momentNow(services) : undefined;
      // It was dropped, or what was told is not known any more: what comes from now on is told.
      const current = services.lake.directory.datasetById(tableId);
      if (since === undefined || current === undefined) {
        return { records: [], moment: until ?? momentNow(services), isUnknown: true };
      }
      const own = { limit: WRITTEN_MAX, sort: 'asc' } as const;
      const options = { own, at, since, rowsMax: WRITTEN_MAX };
      const asked = until === undefined ? bare : { ...bare, query: { asOf: momentText(until) } };
      const { moment, plan } = await readDataset(asked, services, current, 'data', options);
      const { bytes } = await runSeries(plan, 'jsonl', services.series, bare);
      return { records: writtenOf(bytes, current, told), moment };
    },
  };
}

/** Undefined where it was dropped, or what was told is not known any more. */
async function standing(
  tableId: number,
  stand: Stand,
  services: Reading,
): ReturnType<typeof sinceOf> {
  if (stand !== 'nothing') return sinceOf(tableId, stand, services);
  const table = await services.lake.table(tableId);
  return table && { table: { ...table, files: [] }, told: () => [] };
}

function writtenOf(
  bytes: Uint8Array,
  { mapping: { key } }: Dataset,
  told: Told,
): readonly Written[] {
  const lines = Buffer.from(bytes).toString('utf8').split('\n');
  return lines.flatMap((json): readonly Written[] => {
    if (json === '') return [];
    if (key === undefined && told === WHOLE) return [{ key, json }];
    const record = JSON.parse(json) as Row;
    const ofKey = key === undefined ? key : String(record[key]);
    return [{ key: ofKey, json: told(record, json) }];
  });
}

/** The newest record of each key at a moment, by the caller's own rights. */
async function newestOf(
  dataset: Dataset,
  told: Told,
  keys: readonly string[],
  call: Call,
  services: Reading,
  stand: Stand | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (keys.length === 0 || stand === 'nothing') return new Map();
  const bare = lasting(call);
  const own = { keys, last: 1 };
  const now = momentText(momentNow(services));
  const asOf = stand === undefined ? now : momentText(stand);
  // Memory has only what is there now.
  const asked = asOf === now ? bare : { ...bare, query: { asOf } };
  const { plan } = await readDataset(asked, services, dataset, 'data', { own });
  const { bytes } = await runSeries(plan, 'jsonl', services.series, bare);
  return new Map(writtenOf(bytes, dataset, told).map(({ json, key = '' }) => [key, json]));
}
