// Reads the current directory of securities from the inputs of CORE that the caller may read.
import { BOARD_DAYS } from '../../../market/board/board.ts';
import { dayAt } from '../../../market/derive/exchangeTime.ts';
import { dayIn, type Row, textIn } from '../../../market/derive/values.ts';
import type { InputId } from '../../../market/inputs/inputRow.ts';
import { identifiersTogether } from '../../../market/symbology/identifiers.ts';
import { type Security, buildSecurities } from '../../../market/symbology/securities.ts';
import { type SecuritySearch, securitySearch } from '../../../market/symbology/securitySearch.ts';
import { between, type Need, newest, allRecords } from '../../../market/types/typeRequest.ts';
import { addDays } from '../../../query/time/days.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import { isPlaceholder } from '../../../store/lake/datasets/placeholders.ts';
import { Failure } from '../../../store/base/failure.ts';
import { findDataset, accessDelayMs } from '../../rights/access.ts';
import { ACCESS_FAILURES } from '../market.ts';
import { isCurrentRead, type MarketServices, planNeeds, runReadPlan } from '../inputReads.ts';
import { currentMoment } from '../../series/moments.ts';
import type { ReadRequest } from '../../request/readRequest.ts';

const NONE: readonly Row[] = [];

/** Finds an input; undefined if it does not exist. @throws Failure if the caller may not read it. */
export function findReadableInput(
  { caller }: ReadRequest,
  { lake }: Pick<MarketServices, 'lake'>,
  input: InputId,
): Dataset | undefined {
  if (lake.directory.dataset(CORE, input) === undefined) return undefined;
  return findDataset(caller, CORE, input, lake);
}

/** Finds an optional input; undefined also if the caller may not read it. */
function findOptionalInput(
  call: ReadRequest,
  services: MarketServices,
  input: InputId,
): Dataset | undefined {
  try {
    return findReadableInput(call, services, input);
  } catch (error) {
    if (error instanceof Failure && ACCESS_FAILURES.has(error.type)) return undefined;
    throw error;
  }
}

async function readRows(
  call: ReadRequest,
  services: MarketServices,
  input: InputId,
  dataset: Dataset | undefined,
  need: Need = allRecords(input, ''),
): Promise<readonly Row[]> {
  if (dataset === undefined) return NONE;
  const bare = { ...call, path: {}, query: {} };
  const inputs = new Map([[input, dataset] as const]);
  const planned = await planNeeds(bare, services, inputs, [need], currentMoment(services));
  return (await runReadPlan(planned, services, call))(need);
}

/**
 * Reads all records of an input, or those of a need; none if the input does not exist.
 * @throws Failure if the caller may not read it.
 */
export const readInputRows = (
  call: ReadRequest,
  services: MarketServices,
  input: InputId,
  need: Need = allRecords(input, ''),
): Promise<readonly Row[]> =>
  readRows(call, services, input, findReadableInput(call, services, input), need);

/** Caches a value that is computed from whole datasets, until one of them is written or the day ends. */
async function cacheDerived<T extends object>(
  name: string,
  call: ReadRequest,
  services: MarketServices,
  datasets: readonly (Dataset | undefined)[],
  make: (call: ReadRequest) => Promise<T>,
): Promise<T> {
  const { lake, market } = services;
  const existing = datasets.filter((dataset) => dataset !== undefined);
  const isWhole = existing.every((one) => accessDelayMs(call.caller, one, lake) === 0);
  if (!isWhole || !isCurrentRead(call)) return make(call);
  const tableIds = existing.map(({ tableId }) => tableId);
  const cacheKey = [name, dayAt(services.clock()), ...tableIds].join(' ');
  const cached = market.lists.find(cacheKey, services) as Promise<T> | undefined;
  if (cached !== undefined) return cached;
  const stamps = market.stampsOf(tableIds, services);
  // Others wait for the same value: the disconnect of the first caller must not end their read.
  const fresh = make({ ...call, departure: () => new AbortController().signal });
  market.lists.keep(cacheKey, fresh, stamps);
  return fresh.catch((error: unknown) => {
    market.lists.drop(cacheKey);
    throw error;
  });
}

/** Selects the inputs of securities; prices, which change all day, only if no input describes securities. */
function selectSources(call: ReadRequest, services: MarketServices) {
  const symbols = findReadableInput(call, services, 'SYMBOLS');
  const companies = findOptionalInput(call, services, 'COMPANY');
  const prices = findOptionalInput(call, services, 'HISTORICAL_PRICES');
  // Placeholder securities are ignored if real prices are loaded.
  const isReal = (one: Dataset | undefined): boolean =>
    one !== undefined && (prices === undefined || isPlaceholder(prices) || !isPlaceholder(one));
  if (isReal(symbols)) return { symbols, companies: undefined, prices: undefined };
  return { symbols: undefined, companies: isReal(companies) ? companies : undefined, prices };
}

/** Reads securities in the order of their symbols. @throws Failure if the caller may not read an input. */
export function readSecurities(
  call: ReadRequest,
  services: MarketServices,
): Promise<readonly Security[]> {
  const { companies, prices, symbols } = selectSources(call, services);
  return cacheDerived(
    'securities',
    call,
    services,
    [symbols, companies, prices],
    async (shared) => {
      const rows = await readRows(shared, services, 'SYMBOLS', symbols);
      const others = await readRows(shared, services, 'COMPANY', companies);
      const priced = await readPricedDays(shared, services, prices);
      return buildSecurities([rows, others, priced], dayAt(services.clock()));
    },
  );
}

/** Reads the last days of all symbols. */
async function readPricedDays(
  call: ReadRequest,
  services: MarketServices,
  prices: Dataset | undefined,
): Promise<readonly Row[]> {
  const input = 'HISTORICAL_PRICES';
  const [newestRow] = await readRows(call, services, input, prices, newest(input, '', 1));
  if (newestRow === undefined) return NONE;
  const to = dayIn(newestRow, 'date');
  return readRows(call, services, input, prices, between(input, '', addDays(to, -BOARD_DAYS), to));
}

/** Builds the search over all securities. @throws Failure if the caller may not read an input. */
export function readSecuritySearch(
  call: ReadRequest,
  services: MarketServices,
): Promise<SecuritySearch> {
  const { companies, prices, symbols } = selectSources(call, services);
  return cacheDerived('search', call, services, [symbols, companies, prices], async (shared) =>
    securitySearch(await readSecurities(shared, services)),
  );
}

/** Reads the latest record of each company, by symbol; empty if the caller may not read COMPANY. */
export function readCompanies(
  call: ReadRequest,
  services: MarketServices,
): Promise<ReadonlyMap<string, Row>> {
  const companies = findOptionalInput(call, services, 'COMPANY');
  return cacheDerived('companies', call, services, [companies], async (shared) => {
    const rows = await readRows(shared, services, 'COMPANY', companies);
    return new Map(rows.map((row) => [textIn(row, 'symbol')?.toUpperCase() ?? '', row]));
  });
}

/** Reads the identifiers that name one security today; empty if the caller may not read SYMBOLS. */
export function readIdentifiers(
  call: ReadRequest,
  services: MarketServices,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const symbols = findOptionalInput(call, services, 'SYMBOLS');
  return cacheDerived('identifiers', call, services, [symbols], async (shared) =>
    identifiersTogether(
      await readRows(shared, services, 'SYMBOLS', symbols),
      dayAt(services.clock()),
    ),
  );
}
