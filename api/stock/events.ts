// `upcoming-events`: what comes of several kinds at once (INTERFACE.md 1), each under the rights and at the
// price of its own type, as in a batch.
import type { Answer, Call } from '../request/endpoint.ts';
import { listOf, refuse } from '../request/parameters.ts';
import { type StockServices, symbolOf } from './knownSymbols.ts';
import { answerStockBatch } from './stockBatch.ts';
import { MARKET } from './stockTypes.ts';

export const EVENTS = 'upcoming-events';

/** Members of the answer, and the types that they are. */
const KINDS: readonly (readonly [member: string, type: string])[] = [
  ['ipos', 'upcoming-ipos'],
  ['earnings', 'upcoming-earnings'],
  ['dividends', 'upcoming-dividends'],
  ['splits', 'upcoming-splits'],
];

type Lists = Readonly<Record<string, readonly unknown[] | undefined>>;

/** @throws Failure InvalidParameter: of the market only with symbols. */
export async function answerEvents(call: Call, services: StockServices): Promise<Answer> {
  const isMarket = symbolOf(call.path['symbol'] ?? '') === MARKET;
  if (isMarket && (listOf(call.query, 'symbols') ?? []).length === 0) {
    return refuse('symbols', "must be given: which companies' events");
  }
  const types = KINDS.map(([, type]) => type);
  const answer = await answerStockBatch({ ...call, query: { ...call.query, types } }, services);
  if (answer.kind !== 'rows') return answer;
  const told = JSON.parse(Buffer.from(answer.body.bytes).toString('utf8')) as Lists;
  const of: readonly Lists[] = isMarket ? Object.values(told as unknown as Lists[]) : [told];
  const value = Object.fromEntries(
    KINDS.map(([member, type]) => [member, of.flatMap((lists) => lists[type] ?? [])]),
  );
  const bytes = Buffer.from(JSON.stringify(value));
  return { ...answer, body: { ...answer.body, bytes } };
}
