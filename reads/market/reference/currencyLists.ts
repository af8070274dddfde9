// Lists currencies and crypto currencies (INTERFACE.md 1 "ref-data").
import { dayIn, type Row, textIn } from '../../../market/derive/values.ts';
import { parseCurrencies } from '../../../market/money/crossRates.ts';
import { observeShape, observeRow } from '../../../market/types/observed.ts';
import type { Shape } from '../../../market/types/shape.ts';
import type { MarketServices } from '../inputReads.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import { readInputRows } from './securityDirectory.ts';

/** Lists the stored currency pairs, and their currencies. */
export const readFxSymbols = async (call: ReadRequest, services: MarketServices): Promise<object> =>
  listCurrencies(await readInputRows(call, services, 'FX_RATES'));

function listCurrencies(rows: readonly Row[]): object {
  const names = new Intl.DisplayNames('en', { type: 'currency', fallback: 'code' });
  const symbols = [...new Set(rows.map((row) => textIn(row, 'symbol') ?? ''))].sort();
  const pairs = symbols.flatMap((symbol) => {
    const pair = parseCurrencies(symbol);
    if (pair === undefined) return [];
    return [{ fromCurrency: pair[0], toCurrency: pair[1], symbol: pair.join('') }];
  });
  const codes = new Set(
    pairs.flatMap(({ fromCurrency, toCurrency }) => [fromCurrency, toCurrency]),
  );
  const currencies = [...codes].sort().map((code) => ({ code, name: names.of(code) ?? code }));
  return { currencies, pairs };
}

export async function readCryptoSymbols(
  call: ReadRequest,
  services: MarketServices,
): Promise<readonly object[]> {
  return listCryptos(await readInputRows(call, services, 'CRYPTO_QUOTES'));
}

function listCryptos(rows: readonly Row[]): readonly object[] {
  const newest = new Map<string, Row>();
  for (const row of rows) newest.set(textIn(row, 'symbol') ?? '', row);
  return [...newest]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([symbol, row]) => ({
      symbol,
      name: formatCryptoName(symbol),
      exchange: null,
      date: dayIn(row, 'latestUpdate'),
      type: 'crypto',
      region: 'US',
      currency: symbol.slice(-3),
      isEnabled: true,
    }));
}

/** Turns `BTCUSD` into `BTC to USD`. */
const formatCryptoName = (symbol: string): string =>
  symbol.length > 3 ? `${symbol.slice(0, -3)} to ${symbol.slice(-3)}` : symbol;

export const FX_SYMBOLS_SHAPE: Shape = {
  $id: 'FxSymbols',
  ...observeShape((rows) => listCurrencies(rows('FX_RATES'))),
};
export const CRYPTO_SYMBOL_SHAPE = observeRow('CryptoSymbol', (rows) =>
  listCryptos(rows('CRYPTO_QUOTES')),
);
