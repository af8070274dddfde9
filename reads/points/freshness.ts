// Reads when the latest record of a symbol was written, and its date, free of charge.
import { runSeries } from '../../query/series/series.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { readDataset } from '../series/series.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { StockServices } from '../stock/knownSymbols.ts';

export interface Freshness {
  /** Epoch ms. */
  readonly writtenMs: number;
  /** The date of the record; undefined if its dataset has no date. */
  readonly date: unknown;
}

/** Reads the freshness of the latest record that the caller may see; undefined if there is none. */
export async function readFreshness(
  call: ReadRequest,
  services: StockServices,
  dataset: Dataset,
  symbol: string,
): Promise<Freshness | undefined> {
  const { date } = dataset.mapping;
  const filter = date === undefined ? [WRITTEN] : [WRITTEN, date];
  const bare = { ...call, path: {}, query: {} };
  const own = { keys: [symbol], last: 1, filter };
  const { plan, remembered } = await readDataset(bare, services, dataset, 'time-series', { own });
  const { bytes } = await runSeries(plan, 'json', services.series, call, remembered);
  const [newest] = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly Readonly<
    Record<string, unknown>
  >[];
  if (newest === undefined) return undefined;
  const writtenMs = Number(newest[WRITTEN]);
  return { writtenMs, date: date === undefined ? undefined : newest[date] };
}

/** The system property of each record of a time series (INTERFACE.md 3.5). */
const WRITTEN = 'updated';
