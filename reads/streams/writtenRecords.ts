// Reads the records of a dataset that were written since a position, as messages of a stream.
import type { Row } from '../../market/derive/values.ts';
import { runSeries } from '../../query/series/series.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { formatMoment } from '../../store/lake/history/history.ts';
import {
  type RecordReader,
  type WatchPosition,
  WRITTEN_MAX,
  type WrittenRecord,
} from '../live/recordWatches.ts';
import { type RecordRenderer, UNCHANGED_RECORD } from '../market/money/recordShapes.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { currentMoment } from '../series/moments.ts';
import { readDataset, readSince } from '../series/series.ts';
import type { StreamServices } from './streamAccess.ts';

/** Builds a request that belongs to the stream and outlives the one that opened it. */
const toLastingRequest = (call: ReadRequest): ReadRequest => ({
  ...call,
  query: {},
  path: {},
  departure: () => new AbortController().signal,
});

export function createWrittenReader(
  dataset: Dataset,
  render: RecordRenderer,
  call: ReadRequest,
  services: StreamServices,
): RecordReader {
  const bare = toLastingRequest(call);
  const { tableId } = dataset;
  return {
    begin: async () => currentMoment(services),
    since: async (before, until) => {
      const since = await readPosition(tableId, before, services);
      const at = until === undefined ? currentMoment(services) : undefined;
      // The dataset was dropped, or the position has expired: only later records are published.
      const current = services.lake.directory.datasetById(tableId);
      if (since === undefined || current === undefined) {
        return { records: [], moment: until ?? currentMoment(services), isExpired: true };
      }
      const own = { limit: WRITTEN_MAX, sort: 'asc' } as const;
      const options = { own, at, since, rowsMax: WRITTEN_MAX };
      const readCall =
        until === undefined ? bare : { ...bare, query: { asOf: formatMoment(until) } };
      const { moment, plan } = await readDataset(readCall, services, current, 'data', options);
      const { bytes } = await runSeries(plan, 'jsonl', services.series, bare);
      return { records: toWritten(bytes, current, render), moment };
    },
  };
}

/** Reads a position; undefined if the dataset was dropped, or the position has expired. */
async function readPosition(
  tableId: number,
  position: WatchPosition,
  services: StreamServices,
): ReturnType<typeof readSince> {
  if (position !== 'nothing') return readSince(tableId, position, services);
  const table = await services.lake.table(tableId);
  return table && { table: { ...table, files: [] }, visibleRecords: () => [] };
}

function toWritten(
  bytes: Uint8Array,
  { mapping: { key } }: Dataset,
  render: RecordRenderer,
): readonly WrittenRecord[] {
  const lines = Buffer.from(bytes).toString('utf8').split('\n');
  return lines.flatMap((json): readonly WrittenRecord[] => {
    if (json === '') return [];
    if (key === undefined && render === UNCHANGED_RECORD) return [{ key, json }];
    const record = JSON.parse(json) as Row;
    const ofKey = key === undefined ? key : String(record[key]);
    return [{ key: ofKey, json: render(record, json) }];
  });
}

/** Reads the latest record of each key as of a moment, with the caller's own rights. */
export async function readLatest(
  dataset: Dataset,
  render: RecordRenderer,
  keys: readonly string[],
  call: ReadRequest,
  services: StreamServices,
  position: WatchPosition | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (keys.length === 0 || position === 'nothing') return new Map();
  const bare = toLastingRequest(call);
  const own = { keys, last: 1 };
  const now = formatMoment(currentMoment(services));
  const asOf = position === undefined ? now : formatMoment(position);
  // The cache has only current data.
  const readCall = asOf === now ? bare : { ...bare, query: { asOf } };
  const { plan } = await readDataset(readCall, services, dataset, 'data', { own });
  const { bytes } = await runSeries(plan, 'jsonl', services.series, bare);
  return new Map(toWritten(bytes, dataset, render).map(({ json, key = '' }) => [key, json]));
}
