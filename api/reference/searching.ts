// Securities by a fragment of their symbol or name (INTERFACE.md 1 "search").
import type { MarketServices } from '../market/reading.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { textOf } from '../request/parameters.ts';
import { answerFixed } from './fixedPrice.ts';
import { companiesNow, searchNow } from './known.ts';
import { textIn } from '../../market/derive/values.ts';

const PRICE = { usageKey: 'ELASTIC_SEARCH_SYMBOL', weight: 1 } as const;

export function answerSearch(call: Call, services: MarketServices): Promise<Answer> {
  const fragment = call.path['fragment'] ?? textOf(call.query, 'fragment') ?? '';
  return answerFixed(call, services, PRICE, async () => {
    const { find } = await searchNow(call, services);
    const companies = await companiesNow(call, services);
    return find(fragment).map(({ currency, exchange, name, region, symbol, type }) => ({
      symbol,
      securityName: name,
      securityType: type,
      region,
      exchange,
      sector: textIn(companies.get(symbol), 'sector'),
      currency,
    }));
  });
}
