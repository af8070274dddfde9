// Keys of linked datasets by any identifier of the security (INTERFACE.md 3.6): `AAPL` finds what is
// kept under its ISIN, and the ISIN what is kept under `AAPL`.
import { identifiersOf, looksLikeIdentifier } from '../../../market/symbology/identifiers.ts';
import { inputOf } from '../../../market/inputs/inputs.ts';
import { runSeries } from '../../../query/series/series.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import type { MarketServices } from '../reading.ts';
import { readDataset } from '../../read/series.ts';
import { separated } from '../../read/seriesParameters.ts';
import type { Call } from '../../request/endpoint.ts';
import { identifiersNow } from './known.ts';

/** The call with its keys as the dataset keeps them; a key that is there stays as it is. */
export async function linkedCall(
  call: Call,
  services: MarketServices,
  dataset: Dataset,
): Promise<Call> {
  if (!isLinkedCall(call, dataset)) return call;
  const keys = keysIn(call);
  const there = await keysThere(keys, call, services, dataset);
  const missing = keys.filter((key) => !there.has(key));
  if (missing.length === 0) return call;
  const known = await identifiersNow(call, services);
  const others = new Map(missing.map((key) => [key, identifiersOf(key, known)] as const));
  const found = await keysThere([...others.values()].flat(), call, services, dataset);
  const linked = keys.map((key) => others.get(key)?.find((one) => found.has(one)) ?? key);
  const separator = call.query['batchSeparator'] ?? ',';
  return { ...call, path: { ...call.path, key: linked.join(String(separator)) } };
}

const keysIn = ({ path, query }: Call): readonly string[] =>
  path['key'] === undefined ? [] : separated(path['key'], query);

/** Whether its keys are looked for under other names, where they are not there. */
export function isLinkedCall(call: Call, dataset: Dataset): boolean {
  const keys = keysIn(call);
  return keys.length > 0 && keys.length <= LINKED_MAX && isLinked(dataset, keys);
}

/** Keys of one request that are looked for under other names. */
const LINKED_MAX = 200;

/** By what its owner said; an input of the market where a key looks like no ticker. */
function isLinked(
  { dataset: id, mapping, smartLinks, workspace }: Dataset,
  keys: readonly string[],
): boolean {
  if (mapping.key === undefined) return false;
  if (smartLinks.some(({ attributeName }) => attributeName === mapping.key)) return true;
  const isInput = workspace === CORE && inputOf(id)?.mapping.key === SYMBOL;
  return isInput && keys.some((key) => looksLikeIdentifier(key.toUpperCase()));
}

const SYMBOL = 'symbol';

/** Those of some keys that the dataset has records of. */
async function keysThere(
  keys: readonly string[],
  call: Call,
  services: MarketServices,
  dataset: Dataset,
): Promise<ReadonlySet<string>> {
  const { key } = dataset.mapping;
  if (keys.length === 0 || key === undefined) return new Set();
  const { asOf } = call.query;
  const bare = { ...call, path: {}, query: asOf === undefined ? {} : { asOf } };
  const own = { keys: [...new Set(keys)], last: 1, filter: [key] };
  const { plan, remembered } = await readDataset(bare, services, dataset, 'data', { own });
  const { bytes } = await runSeries(plan, 'json', services.series, call, remembered);
  const records = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly object[];
  return new Set(records.map((record) => String(new Map(Object.entries(record)).get(key))));
}
