// Which currencies and crypto currencies there are (INTERFACE.md 1 "ref-data").
import { dayIn, type Row, textIn } from '../../../market/derive/values.ts';
import { currenciesOf } from '../../../market/money/crossRates.ts';
import { observed, observedRow } from '../../../market/types/observed.ts';
import type { Shape } from '../../../market/types/shape.ts';
import type { MarketServices } from '../reading.ts';
import type { Call } from '../../request/endpoint.ts';
import { rowsOfInput } from './known.ts';

/** Pairs as they are stored, and the currencies in them. */
export const fxSymbols = async (call: Call, services: MarketServices): Promise<object> =>
  currenciesIn(await rowsOfInput(call, services, 'FX_RATES'));

function currenciesIn(rows: readonly Row[]): object {
  const names = new Intl.DisplayNames('en', { type: 'currency', fallback: 'code' });
  const symbols = [...new Set(rows.map((row) => textIn(row, 'symbol') ?? ''))].sort();
  const pairs = symbols.flatMap((symbol) => {
    const pair = currenciesOf(symbol);
    if (pair === undefined) return [];
    return [{ fromCurrency: pair[0], toCurrency: pair[1], symbol: pair.join('') }];
  });
  const codes = new Set(
    pairs.flatMap(({ fromCurrency, toCurrency }) => [fromCurrency, toCurrency]),
  );
  const currencies = [...codes].sort().map((code) => ({ code, name: names.of(code) ?? code }));
  return { currencies, pairs };
}

export async function cryptoSymbols(
  call: Call,
  services: MarketServices,
): Promise<readonly object[]> {
  return cryptosIn(await rowsOfInput(call, services, 'CRYPTO_QUOTES'));
}

function cryptosIn(rows: readonly Row[]): readonly object[] {
  const newest = new Map<string, Row>();
  for (const row of rows) newest.set(textIn(row, 'symbol') ?? '', row);
  return [...newest]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([symbol, row]) => ({
      symbol,
      name: nameOf(symbol),
      exchange: null,
      date: dayIn(row, 'latestUpdate'),
      type: 'crypto',
      region: 'US',
      currency: symbol.slice(-3),
      isEnabled: true,
    }));
}

/** `BTCUSD` as `BTC to USD`. */
const nameOf = (symbol: string): string =>
  symbol.length > 3 ? `${symbol.slice(0, -3)} to ${symbol.slice(-3)}` : symbol;

export const FX_SYMBOLS_SHAPE: Shape = {
  $id: 'FxSymbols',
  ...observed((rows) => currenciesIn(rows('FX_RATES'))),
};
export const CRYPTO_SYMBOL_SHAPE = observedRow('CryptoSymbol', (rows) =>
  cryptosIn(rows('CRYPTO_QUOTES')),
);
