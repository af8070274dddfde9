// Finds the latest day of a dataset's records.
import type { Day } from '../../query/time/days.ts';
import { runSeries } from '../../query/series/series.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { readDataset } from '../series/series.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { StockServices } from './knownSymbols.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the latest day; undefined without records, or without a date. */
export async function readLatestDay(
  dataset: Dataset,
  call: ReadRequest,
  services: StockServices,
): Promise<Day | undefined> {
  const { date } = dataset.mapping;
  if (date === undefined) return undefined;
  const { asOf } = call.query;
  const bare = { ...call, path: {}, query: asOf === undefined ? {} : { asOf } };
  const own = { last: 1, filter: [date] };
  const { plan, remembered } = await readDataset(bare, services, dataset, 'data', { own });
  const { bytes } = await runSeries(plan, 'json', services.series, call, remembered);
  const [record = {}] = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly object[];
  const day = String(new Map(Object.entries(record)).get(date)).slice(0, 10);
  return DAY.test(day) ? day : undefined;
}
