// Streams records as they are written: of any dataset, and of those of CORE that the original streamed under
// names of their own.
import type { ReadRequest } from '../../reads/request/readRequest.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { requireCaller, findWholeDataset } from '../../reads/rights/access.ts';
import type { Call } from '../request/endpoint.ts';
import type { Answer } from '../../reads/request/answer.ts';
import { listOf, refuse, truthOf, type Values } from '../../reads/request/parameters.ts';
import type { LatestMessages } from '../sse/connection.ts';
import { SnapshotBuffer } from '../../reads/live/snapshotBuffer.ts';
import {
  MORE,
  type RecordReader,
  type WatchPosition,
  WRITTEN_MAX,
} from '../../reads/live/recordWatches.ts';
import type { RecordShape } from '../../reads/live/streamTable.ts';
import { readDeletions, RESET, canReportDeletions } from '../../reads/streams/deletions.ts';
import { createWrittenReader, readLatest } from '../../reads/streams/writtenRecords.ts';
import { openStream, type Opening } from './openStream.ts';

import type { OpenStreamServices } from './streamServices.ts';
import type { Past } from '../../reads/streams/storedTicks.ts';
import type { Subscription } from '../../store/bus/group.ts';
import { RECORD_SHAPES, UNCHANGED_RECORD } from '../../reads/market/money/recordShapes.ts';

/** Maximum keys, the same as for symbols of other streams. */
const KEYS_MAX = 50;

/** Answers `/stream/{workspace}/{id}`: whole records of a dataset as they are written. */
export async function answerRecords(call: Call, services: OpenStreamServices): Promise<Answer> {
  const { id = '', workspace = '' } = call.path;
  const dataset = findWholeDataset(call.caller, workspace, id, services);
  const usageKey = `${dataset.workspace}.${dataset.dataset}`;
  const price = { usageKey, weight: dataset.weight, datasets: () => [dataset] };
  const isAllowed = (): boolean => {
    const caller = requireCaller(call.identifyCaller());
    return findWholeDataset(caller, workspace, id, services).tableId === dataset.tableId;
  };
  return openStream(call, services, { price, isAllowed }, (ids, query) =>
    openRecords(
      dataset,
      {
        keys: parseKeys(query, dataset),
        ids,
        intervalMs: 0,
        shape: parseShape(call, dataset),
        isRenewed: false,
      },
      call,
      services,
    ),
  );
}

/** @throws Failure InvalidParameter. */
function parseKeys(query: Values, { mapping }: Dataset): readonly string[] | undefined {
  const keys = listOf(query, 'keys');
  if (keys !== undefined && mapping.key === undefined) {
    return refuse('keys', 'is for datasets with a key');
  }
  if ((keys?.length ?? 0) > KEYS_MAX) refuse('keys', `has at most ${KEYS_MAX} keys`);
  return keys;
}

/** @throws Failure InvalidParameter. */
function parseShape({ query }: Pick<Call, 'query'>, dataset: Dataset): Shape {
  if (!truthOf(query, 'deletions')) return 'record';
  return canReportDeletions(dataset)
    ? 'change'
    : refuse('deletions', 'is for datasets with a unique index');
}

/** `change`: written records, and deletions. */
type Shape = RecordShape | 'change';

interface RecordsRequest {
  /** Undefined for all keys. */
  readonly keys: readonly string[] | undefined;
  readonly ids: boolean;
  readonly intervalMs: number;
  readonly shape: Shape;
  /** The stream was open before the dataset existed: it starts with all of its records. */
  readonly isRenewed: boolean;
}

export async function openRecords(
  dataset: Dataset,
  { ids, intervalMs, isRenewed, keys, shape }: RecordsRequest,
  call: ReadRequest,
  services: OpenStreamServices,
): Promise<Opening> {
  const render = shape === 'change' ? UNCHANGED_RECORD : RECORD_SHAPES[shape];
  const written = createWrittenReader(dataset, render, call, services);
  const reader = shape === 'change' ? withDeletions(dataset, written, services) : written;
  // The test environment reads replaced values, so it has topics of its own.
  const { scrambleSeed } = call.caller;
  const topicShape = scrambleSeed === undefined ? shape : `${shape}/${scrambleSeed}`;
  const { records } = services.streams;
  const topic = await records.watch(dataset.tableId, topicShape, reader);
  if (ids && intervalMs === 0) await records.keep(topic);
  const subscription = { topics: [topic], symbols: keys, intervalMs, ids };
  // Messages after that position are sent after the latest records as of it.
  const started = await records.between(topic, (position) => {
    return { position, gathering: new SnapshotBuffer(services.streams.hub, subscription) };
  });
  try {
    const newest = await readLatest(dataset, render, keys ?? [], call, services, started?.position);
    const ofKey: LatestMessages = (key) => [newest.get(key) ?? []].flat();
    const opening = { subscription, newest: ofKey, snapshot: keys ?? [] };
    const past = isRenewed
      ? { past: await readWrittenBefore(reader, started?.position, subscription) }
      : {};
    return { ...opening, ...past, gathering: started?.gathering };
  } catch (error) {
    started?.gathering.drop();
    throw error;
  }
}

/** Reads all records written by a moment; for a stream with an interval only the latest of each symbol. */
async function readWrittenBefore(
  reader: RecordReader,
  position: WatchPosition | undefined,
  { intervalMs, symbols }: Pick<Subscription, 'intervalMs' | 'symbols'>,
): Promise<readonly Past[]> {
  if (position === undefined || position === 'nothing') return [];
  const { records } = await reader.since('nothing', position);
  const messages = records
    .map(({ json, key = '' }) => ({ symbol: key, json }))
    .filter(({ symbol }) => symbols === undefined || symbol === '' || symbols.includes(symbol));
  const more = records.length < WRITTEN_MAX ? [] : [{ symbol: '', json: MORE }];
  if (intervalMs === 0) return [...messages, ...more];
  return [...new Map(messages.map((past) => [past.symbol, past])).values()];
}

/** Adds deletions before written records, so that a record that is written again exists afterwards. */
function withDeletions(
  { tableId }: Dataset,
  written: RecordReader,
  services: OpenStreamServices,
): RecordReader {
  return {
    begin: written.begin,
    since: async (before, until) => {
      const change = await written.since(before, until);
      const { moment, records } = change;
      const current = services.lake.directory.datasetById(tableId);
      if (current === undefined || before === 'nothing') return change;
      try {
        const deletions = await readDeletions(current, before, services);
        return { ...change, records: [...deletions, ...records] };
      } catch (error) {
        if (!(error instanceof Failure) || error.type !== 'Gone') throw error;
        return { moment, records: [RESET, ...records] };
      }
    },
  };
}
