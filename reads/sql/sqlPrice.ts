// Prices a query: one charge order for each dataset of others, and one for all other data.
import { maxItemObjects, type Tariff, buildTariff } from '../../query/sql/run/price.ts';
import type { Restriction } from '../../query/sql/pricing/references.ts';
import type { Level } from '../../query/sql/pricing/sourceColumns.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import { paysPremium } from '../rights/access.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { type Fare, type Price, sumPrices, buildPriceRefusal } from '../answer/metering.ts';

/** The price of a stored query. */
interface Stored {
  readonly weight: number | undefined;
  readonly usageKey: string;
}

interface PricedQuery {
  /** The workspace of the query. */
  readonly workspace: string;
  readonly stored?: Stored;
  readonly restrictions?: readonly Restriction[];
  readonly folds?: boolean;
}

export interface SqlFare {
  readonly tariff: Tariff;
  readonly fares: readonly Fare[];
  /** Some data belong to others: their price is estimated from the catalog's statistics alone. */
  readonly foreign: boolean;
}

/** Builds the fare of a query. @param rows the maximum rows of the answer */
export function buildSqlFare(
  call: ReadRequest,
  caller: Caller,
  level: Level,
  { lake }: Pick<ReadServices, 'lake'>,
  { folds, restrictions, stored, workspace }: PricedQuery,
  rows: number,
): SqlFare {
  const owner = (name: string): string | undefined => lake.directory.workspace(name)?.accountId;
  const account = owner(workspace);
  const tariff = buildTariff(level, {
    weight: stored?.weight,
    isSold: ({ dataset }) => owner(dataset.workspace) === account,
    ...(restrictions === undefined ? {} : { restrictions }),
    ...(folds === undefined ? {} : { folds }),
  });
  const most = maxItemObjects(tariff, rows, 0);
  const fares = tariff.items.map(({ bounds, least, weight }, at): Fare => {
    const dataset = bounds[0]?.dataset;
    const key =
      dataset === undefined ? `${workspace}.SQL` : `${dataset.workspace}.${dataset.dataset}`;
    const order = {
      // Journal lines are identified by request id: the orders of one request need different ids.
      requestId: at === 0 ? call.requestId : `${call.requestId}.${at + 1}`,
      endpoint: call.endpoint,
      usageKey: stored?.usageKey ?? key,
      weight,
      premium: bounds.some((one) => paysPremium(caller, one.dataset, lake)),
    };
    const objects = most[at] ?? 0;
    return { order, most: objects, least, upperBound: least > 0 ? () => objects : undefined };
  });
  return { tariff, fares, foreign: tariff.items.some(({ least }) => least > 0) };
}

/** Whether a part is charged by the bytes of the answer. */
export const isPaidByBytes = ({ tariff }: SqlFare): boolean =>
  tariff.items.some(({ byRecords }) => !byRecords);

/** The maximum price of a query. */
export function computeMaxPrice({ fares, tariff }: SqlFare, rows: number, bytes: number): Price {
  const objects = maxItemObjects(tariff, rows, bytes);
  return sumPrices(fares.map(({ order }, at) => ({ order, objects: objects[at] ?? 0 })));
}

/**
 * Refuses a query before anything is read: an exact number of rows would reveal data free of charge.
 * @throws Failure PriceTooHigh.
 */
export function refuseExpensive(
  fare: SqlFare,
  rows: number,
  bytes: number,
  most: number | undefined,
): void {
  if (most === undefined) return;
  const { messages, premiumMessages } = computeMaxPrice(fare, rows, bytes);
  const all = messages + premiumMessages;
  if (all <= most) return;
  const advice =
    fare.tariff.shares.length > 0 ? 'conditions on the unique index make' : 'a LIMIT makes';
  const price = `${all} messages: ${describeParts(fare, rows, bytes)}`;
  throw new Failure(
    'PriceTooHigh',
    `"maxMessages" is ${most}, and the query may cost ${price}; ${advice} it less`,
  );
}

/** The refusal of a query over only the caller's own data that costs more than was allowed. */
export function buildOwnRefusal(
  { fares, foreign }: SqlFare,
  objects: readonly number[],
  most: number | undefined,
): Failure | undefined {
  if (foreign) return undefined;
  const price = sumPrices(fares.map(({ order }, at) => ({ order, objects: objects[at] ?? 0 })));
  return buildPriceRefusal(price, most, 'costs');
}

function describeParts({ fares, tariff }: SqlFare, rows: number, bytes: number): string {
  const objects = maxItemObjects(tariff, rows, bytes);
  const parts = fares.map(({ order }, at) => {
    const count = objects[at] ?? 0;
    const isByBytes = tariff.items[at]?.byRecords === false && count > rows;
    const byRecords = tariff.items[at]?.byRecords === true ? 'records' : 'rows';
    const what = isByBytes ? `times 1,000 bytes of ${rows} rows` : byRecords;
    return `${count} ${what} of weight ${order.weight}`;
  });
  return parts.join(', ');
}
