// Lists of reference data (INTERFACE.md 1 "ref-data"): symbols by kind, region and exchange,
// exchanges, venues, sectors and tags.
import { listIn, textIn } from '../../market/derive/values.ts';
import type { Security } from '../../market/symbology/securities.ts';
import { Failure } from '../../store/base/failure.ts';
import type { MarketServices } from '../market/reading.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { answerFixed } from './fixedPrice.ts';
import { cryptoSymbols, fxSymbols } from './moneyLists.ts';
import { companiesNow, rowsOfInput, securitiesNow } from './known.ts';

interface ReferenceList {
  readonly usageKey: string;
  /** Messages of a call (INTERFACE.md 0.3). */
  readonly weight: number;
  readonly values: (call: Call, services: MarketServices) => Promise<object>;
}

const symbolsThat = (usageKey: string, holds: (security: Security) => boolean): ReferenceList => ({
  usageKey,
  weight: 100,
  values: async (call, services) => (await securitiesNow(call, services)).filter(holds),
});

/** Mutual funds are open-end funds in INTERFACE.md's kinds of issues. */
const FUNDS = 'oef';
const OTC = 'OTC';

const LISTS: Readonly<Record<string, ReferenceList>> = {
  symbols: symbolsThat('REF_DATA', () => true),
  'iex/symbols': {
    ...{ usageKey: 'REF_DATA_IEX_SYMBOLS', weight: 0 },
    values: async (call, services) =>
      (await securitiesNow(call, services)).map(({ date, isEnabled, symbol }) => ({
        ...{ symbol, date, isEnabled },
      })),
  },
  'otc/symbols': symbolsThat('REF_DATA_OTC', ({ exchange }) => exchange?.toUpperCase() === OTC),
  'mutual-funds/symbols': symbolsThat('REF_DATA_MUTUAL_FUNDS', ({ type }) => type === FUNDS),
  exchanges: { usageKey: 'REF_DATA_EXCHANGES', weight: 1, values: exchanges },
  'market/us/exchanges': { usageKey: 'REF_DATA_EXCHANGES', weight: 1, values: venues },
  sectors: { usageKey: 'REF_DATA_SECTORS', weight: 1, values: sectors },
  tags: { usageKey: 'REF_DATA_TAGS', weight: 1, values: tags },
  'fx/symbols': { usageKey: 'REF_DATA_FX', weight: 1, values: fxSymbols },
  'crypto/symbols': { usageKey: 'REF_DATA_CRYPTO_SYMBOLS', weight: 1, values: cryptoSymbols },
};

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
  for (const { exchange, exchangeName, exchangeSuffix, region } of await securitiesNow(
    call,
    services,
  )) {
    if (exchange === null || known.has(exchange)) continue;
    known.set(exchange, {
      exchange,
      region,
      description: exchangeName,
      mic: null,
      exchangeSuffix,
    });
  }
  return sortedBy(known);
}

const sortedBy = (known: ReadonlyMap<string, object>): readonly object[] =>
  [...known].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);

async function venues(call: Call, services: MarketServices): Promise<readonly object[]> {
  const rows = await rowsOfInput(call, services, 'VENUES');
  return rows.map((row) => ({
    mic: textIn(row, 'mic'),
    name: textIn(row, 'name'),
    longName: textIn(row, 'longName'),
    tapeId: textIn(row, 'tapeId'),
    oatsId: textIn(row, 'oatsId'),
    refId: textIn(row, 'refId'),
    type: textIn(row, 'type'),
  }));
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
