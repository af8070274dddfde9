// Searches securities by a fragment of their symbol or name (INTERFACE.md 1 "search").
import type { MarketServices } from '../inputReads.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import { textOf } from '../../request/parameters.ts';
import { answerFixed } from './fixedPrice.ts';
import { readCompanies, readSecuritySearch } from './securityDirectory.ts';
import { type Row, textIn } from '../../../market/derive/values.ts';
import { type Security, securityOf } from '../../../market/symbology/securities.ts';
import { EXAMPLE_DAY, EXAMPLE_SYMBOL, observeRow } from '../../../market/types/observed.ts';

const PRICE = { usageKey: 'ELASTIC_SEARCH_SYMBOL', weight: 1 } as const;

export function answerSearch(call: ReadRequest, services: MarketServices): Promise<Answer> {
  const fragment = call.path['fragment'] ?? textOf(call.query, 'fragment') ?? '';
  return answerFixed(call, services, PRICE, async () => {
    const { find } = await readSecuritySearch(call, services);
    const companies = await readCompanies(call, services);
    return find(fragment).map((security) =>
      toSearchResult(security, companies.get(security.symbol)),
    );
  });
}

const toSearchResult = (
  { currency, exchange, name, region, symbol, type }: Security,
  company: Row | undefined,
) => ({
  symbol,
  securityName: name,
  securityType: type,
  region,
  exchange,
  sector: textIn(company, 'sector'),
  currency,
});

export const SEARCH_RESULT_SHAPE = observeRow('FoundSecurity', (rows) =>
  rows('SYMBOLS').map((row) =>
    toSearchResult(securityOf(EXAMPLE_SYMBOL, row, EXAMPLE_DAY), rows('COMPANY').at(-1)),
  ),
);
