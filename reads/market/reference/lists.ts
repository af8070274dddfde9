// Answers lists of reference data (INTERFACE.md 1 "ref-data"): symbols by kind, region and exchange,
// exchanges, venues, sectors and tags.
import { listIn, type Row, textIn } from '../../../market/derive/values.ts';
import { type Security, securityOf } from '../../../market/symbology/securities.ts';
import { EXAMPLE_DAY, EXAMPLE_SYMBOL, observeRow } from '../../../market/types/observed.ts';
import { listShape, type Shape, shapeOf, withNullTypes } from '../../../market/types/shape.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { MarketServices } from '../inputReads.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import { answerFixed } from './fixedPrice.ts';
import {
  CRYPTO_SYMBOL_SHAPE,
  readCryptoSymbols,
  FX_SYMBOLS_SHAPE,
  readFxSymbols,
} from './currencyLists.ts';
import { readCompanies, readInputRows, readSecurities } from './securityDirectory.ts';

interface ReferenceList {
  readonly usageKey: string;
  /** Messages charged for a call (INTERFACE.md 0.3). */
  readonly weight: number;
  readonly values: (call: ReadRequest, services: MarketServices) => Promise<object>;
  readonly shape: Shape;
}

export const SECURITY_SHAPE = observeRow('Security', (rows) =>
  (['SYMBOLS', 'COMPANY'] as const).flatMap((input) =>
    rows(input).map((row) => securityOf(EXAMPLE_SYMBOL, row, EXAMPLE_DAY)),
  ),
);

export const VENUE_SHAPE = observeRow('Venue', (rows) => rows('VENUES').map(toVenue));

const listSymbols = (
  usageKey: string,
  matches: (security: Security) => boolean,
): ReferenceList => ({
  usageKey,
  weight: 100,
  values: async (call, services) => (await readSecurities(call, services)).filter(matches),
  shape: listShape(SECURITY_SHAPE),
});

/** The kind of issue of mutual funds in INTERFACE.md: open-end funds. */
const FUNDS = 'oef';
const OTC = 'OTC';

function toTradedSymbol({ date, isEnabled, symbol }: Security) {
  return { symbol, date, isEnabled };
}

function securityListShape($id: string, rowOf: (security: Security) => object): Shape {
  const security = (row: Row): Security => securityOf(EXAMPLE_SYMBOL, row, EXAMPLE_DAY);
  return listShape(observeRow($id, (rows) => rows('SYMBOLS').map(security).map(rowOf)));
}

const NAMES = listShape({ $id: 'Name', ...shapeOf({ name: '' }) });

const LISTS: Readonly<Record<string, ReferenceList>> = {
  symbols: listSymbols('REF_DATA', () => true),
  'iex/symbols': {
    usageKey: 'REF_DATA_IEX_SYMBOLS',
    weight: 0,
    values: async (call, services) => (await readSecurities(call, services)).map(toTradedSymbol),
    shape: securityListShape('TradedSymbol', toTradedSymbol),
  },
  'otc/symbols': listSymbols('REF_DATA_OTC', ({ exchange }) => exchange?.toUpperCase() === OTC),
  'mutual-funds/symbols': listSymbols('REF_DATA_MUTUAL_FUNDS', ({ type }) => type === FUNDS),
  exchanges: {
    usageKey: 'REF_DATA_EXCHANGES',
    weight: 1,
    values: readExchanges,
    shape: withNullTypes(securityListShape('Exchange', toExchange), ['mic'], 'string'),
  },
  'market/us/exchanges': {
    usageKey: 'REF_DATA_EXCHANGES',
    weight: 1,
    values: readVenues,
    shape: listShape(VENUE_SHAPE),
  },
  sectors: { usageKey: 'REF_DATA_SECTORS', weight: 1, values: readSectors, shape: NAMES },
  tags: { usageKey: 'REF_DATA_TAGS', weight: 1, values: readTags, shape: NAMES },
  'fx/symbols': {
    usageKey: 'REF_DATA_FX',
    weight: 1,
    values: readFxSymbols,
    shape: FX_SYMBOLS_SHAPE,
  },
  'crypto/symbols': {
    usageKey: 'REF_DATA_CRYPTO_SYMBOLS',
    weight: 1,
    values: readCryptoSymbols,
    shape: listShape(CRYPTO_SYMBOL_SHAPE),
  },
};

/** The shape of each list by its path below `/ref-data/`, for the OpenAPI document. */
export const LIST_SHAPES: ReadonlyMap<string, Shape> = new Map(
  Object.entries(LISTS).map(([name, { shape }]) => [name, shape]),
);

/** Answers a list by its path below `/ref-data/`. @throws Failure NotFound. */
export function answerList(
  name: string,
  call: ReadRequest,
  services: MarketServices,
): Promise<Answer> {
  const list = Object.hasOwn(LISTS, name) ? LISTS[name] : undefined;
  if (list === undefined) throw new Failure('NotFound');
  return answerFixed(call, services, list, () => list.values(call, services));
}

/** Names of regions, to recognize codes of regions without symbols. */
const REGION_NAMES = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const isRegionCode = (name: string): boolean =>
  /^[A-Z]{2}$/.test(name) && REGION_NAMES.of(name) !== undefined;

/**
 * Answers symbols of a region (`us`) or an exchange (`NAS`, its name or code).
 * @throws Failure NotFound; InvalidKey, as recorded (INTERFACE.md 0.1), for a region or an exchange that does
 * not exist.
 */
export function answerSymbolsBy(call: ReadRequest, services: MarketServices): Promise<Answer> {
  const upperName = (call.path['name'] ?? '').toUpperCase();
  const by: Readonly<Record<string, (security: Security) => boolean>> = {
    region: ({ region }) => region?.toUpperCase() === upperName,
    exchange: ({ exchange, exchangeName }) =>
      [exchange, exchangeName].some((one) => one?.toUpperCase() === upperName),
  };
  const kind = call.path['by'] ?? '';
  const matches = Object.hasOwn(by, kind) ? by[kind] : undefined;
  if (matches === undefined) throw new Failure('NotFound');
  const { usageKey, values, weight } = listSymbols('REF_DATA', matches);
  return answerFixed(call, services, { usageKey, weight }, async () => {
    const securities = await readSecurities(call, services);
    const isKnown = securities.length === 0 || securities.some(matches);
    if (!isKnown && !(kind === 'region' && isRegionCode(upperName)))
      throw new Failure('InvalidKey');
    return values(call, services);
  });
}

async function readExchanges(
  call: ReadRequest,
  services: MarketServices,
): Promise<readonly object[]> {
  const byExchange = new Map<string, object>();
  for (const security of await readSecurities(call, services)) {
    const { exchange } = security;
    if (exchange !== null && !byExchange.has(exchange))
      byExchange.set(exchange, toExchange(security));
  }
  return sortByKey(byExchange);
}

function toExchange({ exchange, exchangeName, exchangeSuffix, region }: Security) {
  return {
    exchange: exchange ?? '',
    region,
    description: exchangeName,
    mic: null,
    exchangeSuffix,
  };
}

const sortByKey = (byExchange: ReadonlyMap<string, object>): readonly object[] =>
  [...byExchange].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);

async function readVenues(call: ReadRequest, services: MarketServices): Promise<readonly object[]> {
  const rows = await readInputRows(call, services, 'VENUES');
  return rows.map(toVenue);
}

function toVenue(row: Row) {
  return {
    mic: textIn(row, 'mic'),
    name: textIn(row, 'name'),
    longName: textIn(row, 'longName'),
    tapeId: textIn(row, 'tapeId'),
    oatsId: textIn(row, 'oatsId'),
    refId: textIn(row, 'refId'),
    type: textIn(row, 'type'),
  };
}

async function readSectors(
  call: ReadRequest,
  services: MarketServices,
): Promise<readonly object[]> {
  const companies = await readCompanies(call, services);
  return toNames([...companies.values()].map((row) => textIn(row, 'sector')));
}

async function readTags(call: ReadRequest, services: MarketServices): Promise<readonly object[]> {
  const companies = await readCompanies(call, services);
  return toNames(
    [...companies.values()].flatMap((row) => {
      const own = listIn(row['tags']);
      return Array.isArray(own) ? own.map(String) : [];
    }),
  );
}

const toNames = (names: readonly (string | null)[]): readonly object[] =>
  [...new Set(names.filter((name) => name !== null && name !== ''))]
    .sort()
    .map((name) => ({ name }));
