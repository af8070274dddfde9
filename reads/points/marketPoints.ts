// Answers data points of the whole market: the latest value of each series of rates, energy and the economy,
// by the id of the series (SPEC.md "Data points").
import { MARKET_SERIES } from '../../market/inputs/moneyInputs.ts';
import { numberIn } from '../../market/derive/values.ts';
import { newest } from '../../market/types/typeRequest.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { readableDatasets } from '../rights/access.ts';
import { planNeeds, runReadPlan } from '../market/inputReads.ts';
import { currentMoment } from '../series/moments.ts';
import { answerFixed } from '../market/reference/fixedPrice.ts';
import { readInputRows } from '../market/reference/securityDirectory.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { StockServices } from '../stock/knownSymbols.ts';
import { readFreshness } from './freshness.ts';
import { isoSeconds } from './pointList.ts';

/** The path segment that replaces a symbol. */
const MARKET = 'MARKET';
/** Maximum listed series. */
const POINTS_MAX = 500;

type SeriesInput = (typeof MARKET_SERIES)[number];

export const isMarketPoint = ({ path }: ReadRequest): boolean =>
  path['symbol']?.toUpperCase() === MARKET;

/** Selects the inputs that the caller may read, in their order. */
function listReadableInputs(
  call: ReadRequest,
  { lake }: StockServices,
): readonly (readonly [SeriesInput, Dataset])[] {
  const readable = readableDatasets(call.caller, lake, CORE);
  return MARKET_SERIES.flatMap((input) => {
    const dataset = readable.find(({ dataset: id }) => id.toUpperCase() === input);
    return dataset?.mapping.key === undefined ? [] : [[input, dataset] as const];
  });
}

/** Lists the points, free of charge, because no value is returned. */
export async function listMarketPoints(
  call: ReadRequest,
  services: StockServices,
): Promise<Answer> {
  const entries: object[] = [];
  for (const [input, dataset] of listReadableInputs(call, services)) {
    const rows = await readInputRows(call, services, input);
    const keys = [...new Set(rows.map((row) => String(row['key'])))].sort();
    for (const key of keys.slice(0, POINTS_MAX - entries.length)) {
      const freshness = await readFreshness(call, services, dataset, key);
      if (freshness === undefined) continue;
      const description = `Latest value of ${key}, of ${dataset.title || input}.`;
      const lastUpdated = isoSeconds(freshness.writtenMs);
      entries.push({ key, weight: dataset.weight, description, lastUpdated });
    }
  }
  return { kind: 'json', value: entries, metering: 'free' };
}

/** @throws Failure NotFound for a series that no input has. */
export async function answerMarketPoint(
  call: ReadRequest,
  services: StockServices,
): Promise<Answer> {
  const key = (call.path['key'] ?? '').toUpperCase();
  const bare = { ...call, path: {}, query: {} };
  for (const [input, dataset] of listReadableInputs(call, services)) {
    const need = newest(input, key, 1);
    const inputs = new Map([[input, dataset] as const]);
    const planned = await planNeeds(bare, services, inputs, [need], currentMoment(services));
    const [row] = (await runReadPlan(planned, services, call))(need);
    if (row === undefined) continue;
    const price = { usageKey: `${CORE}.${input}`, weight: dataset.weight };
    const answer = await answerFixed(
      call,
      services,
      price,
      async () => numberIn(row, 'value') ?? '',
    );
    return answer.kind === 'rows' ? { ...answer, datasets: [dataset], plain: true } : answer;
  }
  throw new Failure('NotFound');
}
