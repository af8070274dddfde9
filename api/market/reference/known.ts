// What is known of all securities that a caller may know of, as CORE has them now.
import { BOARD_DAYS } from '../../../market/board/board.ts';
import { dayAt } from '../../../market/derive/words.ts';
import { dayIn, type Row, textIn } from '../../../market/derive/values.ts';
import type { InputId } from '../../../market/inputs/inputRow.ts';
import { identifiersTogether } from '../../../market/symbology/identifiers.ts';
import { type Security, securitiesOf } from '../../../market/symbology/securities.ts';
import { type SecuritySearch, securitySearch } from '../../../market/symbology/securitySearch.ts';
import { between, type Need, newest, wholeOf } from '../../../market/types/ask.ts';
import { addDays } from '../../../query/time/days.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import { isStandIn } from '../../../store/lake/datasets/standIns.ts';
import { Failure } from '../../../store/base/failure.ts';
import { callerOf, datasetOf, delayOf } from '../../auth/access.ts';
import { LACKING } from '../market.ts';
import { isOfNow, type MarketServices, planNeeds, readPlanned } from '../reading.ts';
import { momentNow } from '../../read/moments.ts';
import type { Call } from '../../request/endpoint.ts';

const NONE: readonly Row[] = [];

/** Undefined where an input is not there. @throws Failure of what the caller lacks to read it. */
export function readableInput(
  { caller }: Call,
  { lake }: Pick<MarketServices, 'lake'>,
  input: InputId,
): Dataset | undefined {
  if (lake.directory.dataset(CORE, input) === undefined) return undefined;
  return datasetOf(callerOf(caller), CORE, input, lake);
}

/** Undefined also where the caller may not read it: others are told without it. */
function readableIfAny(call: Call, services: MarketServices, input: InputId): Dataset | undefined {
  try {
    return readableInput(call, services, input);
  } catch (error) {
    if (error instanceof Failure && LACKING.has(error.type)) return undefined;
    throw error;
  }
}

async function rowsOf(
  call: Call,
  services: MarketServices,
  input: InputId,
  dataset: Dataset | undefined,
  need: Need = wholeOf(input, ''),
): Promise<readonly Row[]> {
  if (dataset === undefined) return NONE;
  const bare = { ...call, path: {}, query: {} };
  const inputs = new Map([[input, dataset] as const]);
  const planned = await planNeeds(bare, services, inputs, [need], momentNow(services));
  return (await readPlanned(planned, services, call))(need);
}

/**
 * All records of an input, or those needed; none where it is not there.
 * @throws Failure of what the caller lacks.
 */
export const rowsOfInput = (
  call: Call,
  services: MarketServices,
  input: InputId,
  need: Need = wholeOf(input, ''),
): Promise<readonly Row[]> =>
  rowsOf(call, services, input, readableInput(call, services, input), need);

/** What is made of whole datasets, once as long as nothing is written in them and the day is the same. */
async function made<T extends object>(
  name: string,
  call: Call,
  services: MarketServices,
  datasets: readonly (Dataset | undefined)[],
  make: () => Promise<T>,
): Promise<T> {
  const { lake, market } = services;
  const there = datasets.filter((dataset) => dataset !== undefined);
  const isWhole = there.every((one) => delayOf(callerOf(call.caller), one, lake) === 0);
  if (!isWhole || !isOfNow(call)) return make();
  const tableIds = there.map(({ tableId }) => tableId);
  const whole = [name, dayAt(services.clock()), ...tableIds].join(' ');
  const known = market.lists.find(whole, services) as Promise<T> | undefined;
  if (known !== undefined) return known;
  const stamps = market.stampsOf(tableIds, services);
  const fresh = make();
  market.lists.keep(whole, fresh, stamps);
  return fresh.catch((error: unknown) => {
    market.lists.drop(whole);
    throw error;
  });
}

/** What securities are told from; prices, which change all day, only where nobody described any. */
function sourcesOf(call: Call, services: MarketServices) {
  const symbols = readableInput(call, services, 'SYMBOLS');
  const companies = readableIfAny(call, services, 'COMPANY');
  const prices = readableIfAny(call, services, 'HISTORICAL_PRICES');
  // Invented securities are none of those whose real prices were loaded.
  const isReal = (one: Dataset | undefined): boolean =>
    one !== undefined && (prices === undefined || isStandIn(prices) || !isStandIn(one));
  if (isReal(symbols)) return { symbols, companies: undefined, prices: undefined };
  return { symbols: undefined, companies: isReal(companies) ? companies : undefined, prices };
}

/** By their symbols. @throws Failure of what the caller lacks. */
export function securitiesNow(call: Call, services: MarketServices): Promise<readonly Security[]> {
  const { companies, prices, symbols } = sourcesOf(call, services);
  return made('securities', call, services, [symbols, companies, prices], async () => {
    const rows = await rowsOf(call, services, 'SYMBOLS', symbols);
    const others = await rowsOf(call, services, 'COMPANY', companies);
    const priced = await pricedNow(call, services, prices);
    return securitiesOf([rows, others, priced], dayAt(services.clock()));
  });
}

/** The last days of all symbols. */
async function pricedNow(
  call: Call,
  services: MarketServices,
  prices: Dataset | undefined,
): Promise<readonly Row[]> {
  const input = 'HISTORICAL_PRICES';
  const [newestRow] = await rowsOf(call, services, input, prices, newest(input, '', 1));
  if (newestRow === undefined) return NONE;
  const to = dayIn(newestRow, 'date');
  return rowsOf(call, services, input, prices, between(input, '', addDays(to, -BOARD_DAYS), to));
}

/** @throws Failure of what the caller lacks. */
export function searchNow(call: Call, services: MarketServices): Promise<SecuritySearch> {
  const { companies, prices, symbols } = sourcesOf(call, services);
  return made('search', call, services, [symbols, companies, prices], async () =>
    securitySearch(await securitiesNow(call, services)),
  );
}

/** The newest record of each company that the caller may read, by symbol. */
export function companiesNow(
  call: Call,
  services: MarketServices,
): Promise<ReadonlyMap<string, Row>> {
  const companies = readableIfAny(call, services, 'COMPANY');
  return made('companies', call, services, [companies], async () => {
    const rows = await rowsOf(call, services, 'COMPANY', companies);
    return new Map(rows.map((row) => [textIn(row, 'symbol')?.toUpperCase() ?? '', row]));
  });
}

/** Which identifiers name one security today; none where the caller may not read SYMBOLS. */
export function identifiersNow(
  call: Call,
  services: MarketServices,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const symbols = readableIfAny(call, services, 'SYMBOLS');
  return made('identifiers', call, services, [symbols], async () =>
    identifiersTogether(await rowsOf(call, services, 'SYMBOLS', symbols), dayAt(services.clock())),
  );
}
