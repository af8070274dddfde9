// Lists futures contracts (INTERFACE.md 1 "ref-data").
import { dayIn, numberIn, type Row, textIn } from '../../../market/derive/values.ts';
import { dayAt } from '../../../market/derive/exchangeTime.ts';
import { observeRow } from '../../../market/types/observed.ts';
import type { MarketServices } from '../inputReads.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import { truthOf } from '../../request/parameters.ts';
import { normalizeSymbol } from '../../stock/knownSymbols.ts';
import { answerFixed } from './fixedPrice.ts';
import { readInputRows } from './securityDirectory.ts';

const PRICE = { usageKey: 'REF_DATA_FUTURES', weight: 100 } as const;

/** Answers all traded contracts, or those of one underlying. */
export function answerFutures(call: ReadRequest, services: MarketServices): Promise<Answer> {
  const underlying = normalizeSymbol(call.path['underlying'] ?? '');
  return answerFixed(call, services, PRICE, async () => {
    const today = dayAt(services.clock());
    const withExpired = truthOf(call.query, 'includeExpired');
    const isOpen = (row: Row): boolean =>
      textIn(row, 'expirationDate') === null || dayIn(row, 'expirationDate') >= today;
    const isOf = (row: Row): boolean =>
      underlying === '' || normalizeSymbol(textIn(row, 'underlying') ?? '') === underlying;
    return (await readInputRows(call, services, 'FUTURES'))
      .filter((row) => isOf(row) && (withExpired || isOpen(row)))
      .map(toFuture);
  });
}

const toFuture = (row: Row) => ({
  symbol: textIn(row, 'symbol'),
  underlying: textIn(row, 'underlying'),
  description: textIn(row, 'description'),
  exchange: textIn(row, 'exchange'),
  region: textIn(row, 'region'),
  currency: textIn(row, 'currency'),
  contractSize: numberIn(row, 'contractSize'),
  unit: textIn(row, 'unit'),
  expirationDate: textIn(row, 'expirationDate'),
});

export const FUTURE_SHAPE = observeRow('Future', (rows) => rows('FUTURES').map(toFuture));
