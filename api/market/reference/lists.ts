// Lists of reference data (INTERFACE.md 1 "ref-data"): symbols by kind, region and exchange,
// exchanges, venues, sectors and tags.
import { listIn, type Row, textIn } from '../../../market/derive/values.ts';
import { type Security, securityOf } from '../../../market/symbology/securities.ts';
import { EXAMPLE_DAY, EXAMPLE_SYMBOL, observedRow } from '../../../market/types/observed.ts';
import { listShape, type Shape, shapeOf, withUntold } from '../../../market/types/shape.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { MarketServices } from '../reading.ts';
import type { Answer, Call } from '../../request/endpoint.ts';
import { answerFixed } from './fixedPrice.ts';
import { CRYPTO_SYMBOL_SHAPE, cryptoSymbols, FX_SYMBOLS_SHAPE, fxSymbols } from './moneyLists.ts';
import { companiesNow, rowsOfInput, securitiesNow } from './known.ts';

interface ReferenceList {
  readonly usageKey: string;
  /** Messages of a call (INTERFACE.md 0.3). */
  readonly weight: number;
  readonly values: (call: Call, services: MarketServices) => Promise<object>;
  readonly shape: Shape;
}

export const SECURITY_SHAPE = observedRow('Security', (rows) =>
  (['SYMBOLS', 'COMPANY'] as const).flatMap((input) =>
    rows(input).map((row) => securityOf(EXAMPLE_SYMBOL, row, EXAMPLE_DAY)),
  ),
);

export const VENUE_SHAPE = observedRow('Venue', (rows) => rows('VENUES').map(venueOf));

const symbolsThat = (usageKey: string, holds: (security: Security) => boolean): ReferenceList => ({
  usageKey,
  weight: 100,
  values: async (call, services) => (await securitiesNow(call, services)).filter(holds),
  shape: listShape(SECURITY_SHAPE),
});

/** Mutual funds are open-end funds in INTERFACE.md's kinds of issues. */
const FUNDS = 'oef';
const OTC = 'OTC';

function traded({ date, isEnabled, symbol }: Security) {
  return { symbol, date, isEnabled };
}

function ofSecurities($id: string, rowOf: (security: Security) => object): Shape {
  const security = (row: Row): Security => securityOf(EXAMPLE_SYMBOL, row, EXAMPLE_DAY);
  return listShape(observedRow($id, (rows) => rows('SYMBOLS').map(security).map(rowOf)));
}

const NAMES = listShape({ $id: 'Name', ...shapeOf({ name: '' }) });

const LISTS: Readonly<Record<string, ReferenceList>> = {
  symbols: symbolsThat('REF_DATA', () => true),
  'iex/symbols': {
    usageKey: 'REF_DATA_IEX_SYMBOLS',
    weight: 0,
    values: async (call, services) => (await securitiesNow(call, services)).map(traded),
    shape: ofSecurities('TradedSymbol', traded),
  },
  'otc/symbols': symbolsThat('REF_DATA_OTC', ({ exchange }) => exchange?.toUpperCase() === OTC),
  'mutual-funds/symbols': symbolsThat('REF_DATA_MUTUAL_FUNDS', ({ type }) => type === FUNDS),
  exchanges: {
    usageKey: 'REF_DATA_EXCHANGES',
    weight: 1,
    values: exchanges,
    shape: withUntold(ofSecurities('Exchange', exchangeOf), ['mic'], 'string'),
  },
  'market/us/exchanges': {
    usageKey: 'REF_DATA_EXCHANGES',
    weight: 1,
    values: venues,
    shape: listShape(VENUE_SHAPE),
  },
  sectors: { usageKey: 'REF_DATA_SECTORS', weight: 1, values: sectors, shape: NAMES },
  tags: { usageKey: 'REF_DATA_TAGS', weight: 1, values: tags, shape: NAMES },
  'fx/symbols': { usageKey: 'REF_DATA_FX', weight: 1, values: fxSymbols, shape: FX_SYMBOLS_SHAPE },
  'crypto/symbols': {
    usageKey: 'REF_DATA_CRYPTO_SYMBOLS',
    weight: 1,
    values: cryptoSymbols,
    shape: listShape(CRYPTO_SYMBOL_SHAPE),
  },
};

/** Each list by what stands below `/ref-data/`, as documents tell it. */
export const LIST_SHAPES: ReadonlyMap<string, Shape> = new Map(
  Object.entries(LISTS).map(([name, { shape }]) => [name, shape]),
);

/** A list by what stands below `/ref-data/`. @throws Failure NotFound. */
export function answerList(name: string, call: Call, services: MarketServices): Promise<Answer> {
  const list = Object.hasOwn(LISTS, name) ? LISTS[name] : undefined;
  if (list === undefined) throw new Failure('NotFound');
  return answerFixed(call, services, list, () => list.values(call, services));
}

/** Symbols of a region (`us`) or an exchange (`NAS`, by its name or code). @throws Failure NotFound. */
export function answerSymbolsOf(call: Call, services: MarketServices): Promise<Answer> {
  const wanted = (call.path['name'] ?? '').toUpperCase();
  const by: Readonly<Record<string, (security: Security) => boolean>> = {
    region: ({ region }) => region?.toUpperCase() === wanted,
    exchange: ({ exchange, exchangeName }) =>
      [exchange, exchangeName].some((one) => one?.toUpperCase() === wanted),
  };
  const kind = call.path['by'] ?? '';
  const holds = Object.hasOwn(by, kind) ? by[kind] : undefined;
  if (holds === undefined) throw new Failure('NotFound');
  const { usageKey, values, weight } = symbolsThat('REF_DATA', holds);
  return answerFixed(call, services, { usageKey, weight }, () => values(call, services));
}

async function exchanges(call: Call, services: MarketServices): Promise<readonly object[]> {
  const known = new Map<string, object>();
  for (const security of await securitiesNow(call, services)) {
    const { exchange } = security;
    if (exchange !== null && !known.has(exchange)) known.set(exchange, exchangeOf(security));
  }
  return sortedBy(known);
}

function exchangeOf({ exchange, exchangeName, exchangeSuffix, region }: Security) {
  return {
    exchange: exchange ?? '',
    region,
    description: exchangeName,
    mic: null,
    exchangeSuffix,
  };
}

const sortedBy = (known: ReadonlyMap<string, object>): readonly object[] =>
  [...known].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);

async function venues(call: Call, services: MarketServices): Promise<readonly object[]> {
  const rows = await rowsOfInput(call, services, 'VENUES');
  return rows.map(venueOf);
}

function venueOf(row: Row) {
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

async function sectors(call: Call, services: MarketServices): Promise<readonly object[]> {
  const companies = await companiesNow(call, services);
  return namesOf([...companies.values()].map((row) => textIn(row, 'sector')));
}

async function tags(call: Call, services: MarketServices): Promise<readonly object[]> {
  const companies = await companiesNow(call, services);
  return namesOf(
    [...companies.values()].flatMap((row) => {
      const own = listIn(row['tags']);
      return Array.isArray(own) ? own.map(String) : [];
    }),
  );
}

const namesOf = (names: readonly (string | null)[]): readonly object[] =>
  [...new Set(names.filter((name) => name !== null && name !== ''))]
    .sort()
    .map((name) => ({ name }));
