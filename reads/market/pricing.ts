// Prices answers of market types before anything is read.
import type { TypeRequest } from '../../market/types/typeRequest.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { isForeign, paysPremium } from '../rights/access.ts';
import type { Fare } from '../answer/metering.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import {
  type MarketServices,
  type ReadPlan,
  type ReadableInputs,
  maxReadRows,
  maxWindowRows,
} from './inputReads.ts';
import { normalizeKey } from '../../market/types/inputRows.ts';

/** Builds the fare of one type for all symbols of a call. */
export function buildTypeFare(
  { endpoint, requestId }: Pick<ReadRequest, 'endpoint' | 'requestId'>,
  caller: Caller,
  type: MarketType,
  asks: readonly TypeRequest[],
  maxObjects: (foreign: boolean) => number,
  readable: ReadableInputs,
  { lake }: Pick<MarketServices, 'lake'>,
): Fare {
  const main = type.of.flatMap((input) => readable.get(input) ?? []);
  const foreign = main.some((dataset) => isForeign(caller, dataset, lake));
  const premium = main.some((dataset) => paysPremium(caller, dataset, lake));
  const most = maxObjects(foreign);
  const order = { requestId, endpoint, premium, ...selectWeight(type, asks, readable) };
  return {
    order,
    most,
    least: foreign ? 1 : 0,
    upperBound: foreign ? () => Math.max(1, most) : undefined,
  };
}

function selectWeight(
  { charge }: MarketType,
  [ask]: readonly TypeRequest[],
  readable: ReadableInputs,
): { readonly usageKey: string; readonly weight: number } {
  if (charge.kind === 'answer') return charge;
  const dataset = ask === undefined ? undefined : readable.get(charge.of(ask));
  if (ask === undefined || dataset === undefined) return { usageKey: 'CORE', weight: 0 };
  const weight = Math.ceil(dataset.weight * charge.share(ask));
  return { usageKey: `${dataset.workspace}.${dataset.dataset}`, weight };
}

/**
 * The maximum number of charged objects. Over data of others it is computed from the catalog alone, even if
 * rows are cached: this bound may be shown free of charge.
 */
export function countMaxObjects(
  { charge }: MarketType,
  asks: readonly TypeRequest[],
  { groups, cachedRecords, reads }: ReadPlan,
  foreign: boolean,
): number {
  if (charge.kind === 'answer') return asks.length;
  const [ask] = asks;
  const input = ask === undefined ? undefined : charge.of(ask);
  const chargedGroups = [...groups].filter(
    ([, group]) => group.input === input && group.window.kind !== 'at',
  );
  const rows = chargedGroups.reduce((sum, [name, group]) => {
    const read = reads.find((one) => one.name === name);
    const cachedEntries = asks.flatMap(
      ({ symbol }) => cachedRecords.get(name)?.get(normalizeKey(symbol)) ?? [],
    );
    const uncachedRecords = Math.max(0, asks.length - cachedEntries.length) * maxWindowRows(group);
    return (
      sum +
      cachedEntries.reduce((all, one) => all + (foreign ? one.most : one.count), 0) +
      (read === undefined ? 0 : Math.min(maxReadRows(read), uncachedRecords))
    );
  }, 0);
  return Math.min(rows, charge.most * asks.length);
}
