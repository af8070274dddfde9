// What is known of all securities that a caller may know of, as CORE has them now.
import { dayAt } from '../../market/derive/words.ts';
import { type Row, textIn } from '../../market/derive/values.ts';
import type { InputId } from '../../market/inputs/inputRow.ts';
import { identifiersTogether } from '../../market/symbology/identifiers.ts';
import { type Security, securitiesOf } from '../../market/symbology/securities.ts';
import { type SecuritySearch, securitySearch } from '../../market/symbology/securitySearch.ts';
import { wholeOf } from '../../market/types/ask.ts';
import { CORE, type Dataset } from '../../store/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { callerOf, datasetOf, delayOf } from '../auth/access.ts';
import { LACKING } from '../market/market.ts';
import { isOfNow, type MarketServices, planNeeds, readPlanned } from '../market/reading.ts';
import { momentNow } from '../read/moments.ts';
import type { Call } from '../request/endpoint.ts';

const NONE: readonly Row[] = [];

/** Undefined where an input is not there. @throws Failure of what the caller lacks to read it. */
function readable({ caller }: Call, { lake }: MarketServices, input: InputId): Dataset | undefined {
  if (lake.directory.dataset(CORE, input) === undefined) return undefined;
  return datasetOf(callerOf(caller), CORE, input, lake);
}

/** Undefined also where the caller may not read it: others are told without it. */
function readableIfAny(call: Call, services: MarketServices, input: InputId): Dataset | undefined {
  try {
    return readable(call, services, input);
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
): Promise<readonly Row[]> {
  if (dataset === undefined) return NONE;
  const need = wholeOf(input, '');
  const bare = { ...call, path: {}, query: {} };
  const inputs = new Map([[input, dataset] as const]);
  const planned = await planNeeds(bare, services, inputs, [need], momentNow(services));
  return (await readPlanned(planned, services, call))(need);
}

/** All records of an input, none where it is not there. @throws Failure of what the caller lacks. */
export const rowsOfInput = (
  call: Call,
  services: MarketServices,
  input: InputId,
): Promise<readonly Row[]> => rowsOf(call, services, input, readable(call, services, input));

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

/** By their symbols. @throws Failure of what the caller lacks. */
export function securitiesNow(call: Call, services: MarketServices): Promise<readonly Security[]> {
  const symbols = readable(call, services, 'SYMBOLS');
  const companies = readableIfAny(call, services, 'COMPANY');
  return made('securities', call, services, [symbols, companies], async () => {
    const rows = await rowsOf(call, services, 'SYMBOLS', symbols);
    const others = rows.length > 0 ? NONE : await rowsOf(call, services, 'COMPANY', companies);
    return securitiesOf(rows, others, dayAt(services.clock()));
  });
}

/** @throws Failure of what the caller lacks. */
export function searchNow(call: Call, services: MarketServices): Promise<SecuritySearch> {
  const symbols = readable(call, services, 'SYMBOLS');
  const companies = readableIfAny(call, services, 'COMPANY');
  return made('search', call, services, [symbols, companies], async () =>
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
