// Lists options (INTERFACE.md 1 "ref-data"): expiration months by symbol, and contracts of a symbol.
import { toContracts, unexpiredOn } from '../../../market/derive/optionChain.ts';
import { textIn } from '../../../market/derive/values.ts';
import { dayAt } from '../../../market/derive/exchangeTime.ts';
import { newest } from '../../../market/types/typeRequest.ts';
import { CONTRACTS_MAX } from '../../../market/types/chains.ts';
import { observeRow } from '../../../market/types/observed.ts';
import { parseExpiration } from '../options.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import { truthOf } from '../../request/parameters.ts';
import { refuseUnknown, normalizeSymbol } from '../../stock/knownSymbols.ts';
import { resolveTickers } from '../../stock/symbology.ts';
import { answerFixed } from './fixedPrice.ts';
import { findReadableInput, readInputRows } from './securityDirectory.ts';
import { aggregateInput, type AggregateServices } from '../aggregates.ts';

const PRICE = { usageKey: 'REF_DATA_OPTIONS', weight: 100 } as const;

/** Answers the months, YYYYMM, in which contracts of each symbol expire, without past ones. */
export function answerOptionMonths(
  call: ReadRequest,
  services: AggregateServices,
): Promise<Answer> {
  // Clients send the filter `symbol` although the members are symbols: the filter is ignored.
  const { filter: _all, ...query } = call.query;
  return answerFixed({ ...call, query }, services, PRICE, async () => {
    const today = dayAt(services.clock());
    const rows = await aggregateInput(call, services, 'OPTIONS', (spell) => {
      const [symbol, day] = [spell('symbol'), spell('expirationDate')];
      const month = `left(CAST(${day} AS CHAR), 7)`;
      return (
        `SELECT ${symbol} AS symbol, ${month} AS month FROM ${spell('OPTIONS')} ` +
        `WHERE ${day} >= '${today}' GROUP BY ${symbol}, ${month}`
      );
    });
    return groupMonths(
      rows.map((row) => [textIn(row, 'symbol') ?? '', textIn(row, 'month') ?? '']),
    );
  });
}

function groupMonths(
  pairs: readonly (readonly [symbol: string, month: string])[],
): Readonly<Record<string, readonly string[]>> {
  const months = new Map<string, string[]>();
  for (const [symbol, month] of [...pairs].sort(comparePairs)) {
    const plain = month.replace('-', '');
    const symbolMonths = months.get(symbol);
    if (symbolMonths === undefined) months.set(symbol, [plain]);
    else symbolMonths.push(plain);
  }
  return Object.fromEntries(months);
}

const comparePairs = (one: readonly string[], other: readonly string[]): number =>
  one.join() < other.join() ? -1 : 1;

/** Answers contracts of a symbol, optionally of one expiration. */
export async function answerOptionSymbols(
  call: ReadRequest,
  services: AggregateServices,
): Promise<Answer> {
  const { expiration: pathExpiration } = call.path;
  const expiration = pathExpiration === undefined ? '' : parseExpiration(pathExpiration);
  const named = normalizeSymbol(call.path['symbol'] ?? '');
  const [symbol = named] = await resolveTickers([named], call, services);
  // Without the input the answer is refused before anything is charged.
  if (findReadableInput(call, services, 'OPTIONS') === undefined) {
    await refuseUnknown(symbol, call, services);
  }
  return answerFixed(call, services, PRICE, async () => {
    const need = newest('OPTIONS', symbol, CONTRACTS_MAX);
    const all = toContracts(await readInputRows(call, services, 'OPTIONS', need));
    if (all.length === 0) await refuseUnknown(symbol, call, services);
    const today = dayAt(services.clock());
    const some = truthOf(call.query, 'includeExpired') ? all : unexpiredOn(all, today);
    return some
      .filter(({ expirationDate }) => expirationDate.startsWith(expiration))
      .map(toListedOption);
  });
}

const toListedOption = (one: ReturnType<typeof toContracts>[number]) => ({
  symbol: one.id,
  underlying: one.symbol,
  expirationDate: one.expirationDate,
  strikePrice: one.strikePrice,
  side: one.side,
  type: one.type,
  contractSize: one.contractSize,
  isAdjusted: one.isAdjusted,
});

export const OPTION_SYMBOL_SHAPE = observeRow('OptionSymbol', (rows) =>
  toContracts(rows('OPTIONS')).map(toListedOption),
);
