// The data points of a symbol, with price and last change of each (SPEC.md "Data point list entry").
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import { callerOf, readableDatasets } from '../../auth/access.ts';
import type { Answer, Call } from '../../request/endpoint.ts';
import { refuseUnknown, type StockServices, symbolOf } from '../../stock/knownSymbols.ts';
import { tickersOf } from '../../stock/symbology.ts';
import { freshnessOf } from './freshness.ts';
import { type Point, pointsIn } from './points.ts';

interface Listed {
  readonly key: string;
  readonly weight: number;
  readonly description: string;
  /** ISO 8601. */
  readonly lastUpdated: string;
}

/** Free: no value is told. */
export async function listPoints(call: Call, services: StockServices): Promise<Answer> {
  const named = symbolOf(call.path['symbol'] ?? '');
  const [symbol = named] = await tickersOf([named], call, services);
  const readable = new Set(
    readableDatasets(callerOf(call.caller), services.lake, CORE).map(({ tableId }) => tableId),
  );
  const points = [...pointsIn(services.lake).values()];
  const datasets = new Set(points.flatMap(({ source }) => source.datasets));
  const written = new Map<Dataset, number>();
  for (const dataset of datasets) {
    if (!readable.has(dataset.tableId)) continue;
    const freshness = await freshnessOf(call, services, dataset, symbol);
    if (freshness !== undefined) written.set(dataset, freshness.writtenMs);
  }
  if (written.size === 0) await refuseUnknown(symbol, call, services);
  const listed = points.flatMap((point) => listedOf(point, written));
  listed.sort((one, other) => (one.key < other.key ? -1 : 1));
  return { kind: 'json', value: listed, metering: 'free' };
}

/** A point that the symbol has: its newest record is of the type's datasets. */
function listedOf(
  { description, key, source, weight }: Point,
  written: ReadonlyMap<Dataset, number>,
): readonly Listed[] {
  const times = source.datasets.flatMap((dataset) => written.get(dataset) ?? []);
  if (times.length === 0) return [];
  return [{ key, weight, description, lastUpdated: isoSeconds(Math.max(...times)) }];
}

/** To the second, with the offset as clients of the original know it. */
export const isoSeconds = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
