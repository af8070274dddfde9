// What answers of market types cost: known before anything is read.
import type { Ask } from '../../market/types/ask.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import { recordsMost } from '../../query/series/seriesRecords.ts';
import { numberOfDay } from '../../query/time/days.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { isForeign, paysPremium } from '../auth/access.ts';
import type { Fare } from '../read/metering.ts';
import { objectsMax } from '../read/series.ts';
import type { Call } from '../request/endpoint.ts';
import type { MarketServices, Planned, PlannedRead, Readable } from './reading.ts';

/** The fare of one type for all symbols of a call. */
export function fareOfType(
  { endpoint, requestId }: Pick<Call, 'endpoint' | 'requestId'>,
  caller: Caller,
  type: MarketType,
  asks: readonly Ask[],
  { reads }: Planned,
  readable: Readable,
  { lake }: Pick<MarketServices, 'lake'>,
): Fare {
  const main = type.of.flatMap((input) => readable.get(input) ?? []);
  const foreign = main.some((dataset) => isForeign(caller, dataset, lake));
  const premium = main.some((dataset) => paysPremium(caller, dataset, lake));
  const most = mostOf(type, asks, reads);
  const order = { requestId, endpoint, premium, ...weightOf(type, asks, readable) };
  return {
    order,
    most,
    least: foreign ? 1 : 0,
    told: foreign ? () => Math.max(1, most) : undefined,
  };
}

function weightOf(
  { charge }: MarketType,
  [ask]: readonly Ask[],
  readable: Readable,
): { readonly usageKey: string; readonly weight: number } {
  if (charge.kind === 'answer') return charge;
  const dataset = ask === undefined ? undefined : readable.get(charge.of(ask));
  if (ask === undefined || dataset === undefined) return { usageKey: 'CORE', weight: 0 };
  const weight = Math.ceil(dataset.weight * charge.share(ask));
  return { usageKey: `${dataset.workspace}.${dataset.dataset}`, weight };
}

function mostOf(
  { charge }: MarketType,
  asks: readonly Ask[],
  reads: readonly PlannedRead[],
): number {
  if (charge.kind === 'answer') return asks.length;
  const [ask] = asks;
  const input = ask === undefined ? undefined : charge.of(ask);
  const rows = reads
    .filter(({ group }) => group.input === input && group.window.kind !== 'at')
    .reduce((sum, read) => sum + rowsMost(read), 0);
  return Math.min(rows, charge.most * asks.length);
}

/** Minutes of a day that are paid. */
const MINUTES_PAID = 50;

/** By the catalog's statistics, and by the days there are. */
function rowsMost({ group, plan }: PlannedRead): number {
  const { window } = group;
  const records = Math.min(objectsMax(plan), recordsMost(plan));
  if (window.kind !== 'days' || window.from === undefined || window.to === undefined)
    return records;
  const days = numberOfDay(window.to) - numberOfDay(window.from) + 1;
  const aDay = group.input === 'INTRADAY_PRICES' ? MINUTES_PAID : 1;
  return Math.min(records, Math.max(0, days) * aDay * Math.max(1, group.keys.length));
}
