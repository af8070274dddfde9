// Refuses rules of symbols without data: such a rule would never fire.
import { distance } from 'fastest-levenshtein';
import { ANY_SYMBOL } from '../../jobs/rules/ruleEngine.ts';
import { Failure } from '../../store/base/failure.ts';
import { readSecurities } from '../../reads/market/reference/securityDirectory.ts';
import type { Call, Services } from '../request/endpoint.ts';
import { findKnownSymbols, type StockServices } from '../../reads/stock/knownSymbols.ts';

/** Maximum edit distance of a suggested symbol. */
const EDITS_MAX = 2;

/**
 * Refuses an unknown symbol, unless no securities are loaded yet: any symbol may still receive data then.
 * @param symbol '' for a rule of an index
 * @throws Failure InvalidParameter with the nearest symbol
 */
export async function refuseUnknownSymbol(
  symbol: string,
  call: Call,
  services: StockServices & Pick<Services, 'streams'>,
): Promise<void> {
  if (symbol === '' || symbol === ANY_SYMBOL) return;
  if (services.streams.board.get(symbol) !== undefined) return;
  if ((await findKnownSymbols([symbol], call, services)).has(symbol)) return;
  const securities = await readSecurities(call, services);
  if (securities.length === 0) return;
  const [near] = securities
    .map((one) => ({ symbol: one.symbol, edits: distance(one.symbol, symbol) }))
    .toSorted((one, other) => one.edits - other.edits);
  const isNear = near !== undefined && near.edits <= EDITS_MAX;
  throw new Failure(
    'InvalidParameter',
    `ruleSet must be a known symbol, or ${ANY_SYMBOL}; got ${symbol}.` +
      (isNear ? ` Did you mean ${near.symbol}?` : ''),
  );
}
