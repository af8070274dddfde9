// Resolves keys of linked datasets by any identifier of the security (INTERFACE.md 3.6): `AAPL` finds records
// stored under its ISIN, and the ISIN finds records stored under `AAPL`.
import { identifiersOf, looksLikeIdentifier } from '../../../market/symbology/identifiers.ts';
import { inputOf } from '../../../market/inputs/inputs.ts';
import { runSeries } from '../../../query/series/series.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import type { MarketServices } from '../inputReads.ts';
import { readDataset } from '../../series/series.ts';
import { splitSegment } from '../../series/queryParameters.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import { readIdentifiers } from './securityDirectory.ts';

/** Replaces the keys of a call by those that the dataset stores; a key with records is unchanged. */
export async function resolveLinkedKeys(
  call: ReadRequest,
  services: MarketServices,
  dataset: Dataset,
): Promise<ReadRequest> {
  if (!isLinkedCall(call, dataset)) return call;
  const keys = keysIn(call);
  const storedKeys = await readStoredKeys(keys, call, services, dataset);
  const missing = keys.filter((key) => !storedKeys.has(key));
  if (missing.length === 0) return call;
  const identifiers = await readIdentifiers(call, services);
  const candidates = new Map(missing.map((key) => [key, identifiersOf(key, identifiers)] as const));
  const storedCandidates = await readStoredKeys(
    [...candidates.values()].flat(),
    call,
    services,
    dataset,
  );
  const linked = keys.map(
    (key) => candidates.get(key)?.find((one) => storedCandidates.has(one)) ?? key,
  );
  const separator = call.query['batchSeparator'] ?? ',';
  return { ...call, path: { ...call.path, key: linked.join(String(separator)) } };
}

const keysIn = ({ path, query }: ReadRequest): readonly string[] =>
  path['key'] === undefined ? [] : splitSegment(path['key'], query);

/** Whether missing keys of a call are resolved through other identifiers. */
export function isLinkedCall(call: ReadRequest, dataset: Dataset): boolean {
  const keys = keysIn(call);
  return keys.length > 0 && keys.length <= LINKED_MAX && isLinked(dataset, keys);
}

/** Maximum keys of a request that are resolved through other identifiers. */
const LINKED_MAX = 200;

/** By the owner's smart links; for an input of the market, if a key does not look like a ticker. */
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

/** Reads which of the keys have records in the dataset. */
async function readStoredKeys(
  keys: readonly string[],
  call: ReadRequest,
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
