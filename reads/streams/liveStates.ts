// Answers the current states of streams by REST (INTERFACE.md 1 "tops", "last", "deep").
import {
  bookOf,
  deepOf,
  deepTradeOf,
  lastOf,
  stateOf,
  topsOf,
} from '../../market/live/liveMessages.ts';
import { STATE_CHANNELS } from '../../market/live/deepMessages.ts';
import { type LiveSymbol, TRADES_SHOWN } from '../../market/live/liveSymbol.ts';
import { STATES } from '../../market/live/tick.ts';
import { Failure } from '../../store/base/failure.ts';
import { answerFixed } from '../market/reference/fixedPrice.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { findChannel, type StreamRow } from '../live/streamTable.ts';
import {
  DEEP,
  findEntitledInputs,
  isSilent,
  LAST,
  type StreamServices,
  selectSymbols,
  TOPS,
} from './streamAccess.ts';
import { applySandboxValues } from './sandboxValues.ts';
import { restore } from './boardRecovery.ts';

const freePrice = (usageKey: string) => ({ usageKey, weight: 0 });

export const answerTops = (call: ReadRequest, services: StreamServices): Promise<Answer> =>
  answerFixed(call, services, freePrice('TOPS'), async () =>
    applySandboxValues((await readStates(TOPS, call, services)).map(topsOf), call),
  );

export const answerLast = (call: ReadRequest, services: StreamServices): Promise<Answer> =>
  answerFixed(call, services, freePrice('LAST'), async () => {
    const all = await readStates(LAST, call, services);
    return applySandboxValues(all.filter(({ last }) => last !== undefined).map(lastOf), call);
  });

/** Answers `/deep` of one symbol with all channels. */
export const answerDeep = (call: ReadRequest, services: StreamServices): Promise<Answer> =>
  answerFixed(call, services, freePrice('IEX_DEEP'), async () => {
    const [live] = await readStates(DEEP, call, services);
    const { systemEvent } = services.streams.board;
    return live === undefined ? {} : applySandboxValues(deepOf(live, systemEvent), call);
  });

type Part = (live: LiveSymbol) => unknown;

const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['book', bookOf],
  ['trades', ({ trades }) => trades.slice(-TRADES_SHOWN).map(deepTradeOf).toReversed()],
  ['trade-breaks', ({ breaks }) => breaks.slice(-TRADES_SHOWN).map(deepTradeOf).toReversed()],
  ...STATES.map((name): [string, Part] => {
    const [channel] = STATE_CHANNELS[name];
    return [channel, (live) => stateOf(live, name)];
  }),
]);

/** Answers one channel of `/deep`, by symbol; the system event belongs to the market. */
export async function answerDeepPart(call: ReadRequest, services: StreamServices): Promise<Answer> {
  const channel = findChannel(call.path['channel'] ?? '') ?? '';
  const part = PARTS.get(channel);
  if (part === undefined) throw new Failure('NotFound');
  return answerFixed(call, services, freePrice('IEX_DEEP'), async () => {
    if (channel === 'system-event') {
      await services.streams.feeds.wake();
      const readable = findEntitledInputs(DEEP, call, services);
      if (isSilent(readable, call, services)) return {};
      return applySandboxValues(services.streams.board.systemEvent, call);
    }
    const all = await readStates({ ...DEEP, kind: 'ticks' }, call, services);
    return Object.fromEntries(
      all.map((live) => [live.symbol, applySandboxValues(part(live), call)]),
    );
  });
}

/** Reads the states of the requested symbols, or of all symbols on the board. */
async function readStates(
  row: Pick<StreamRow, 'inputs' | 'kind'>,
  call: ReadRequest,
  services: StreamServices,
): Promise<readonly LiveSymbol[]> {
  const readable = findEntitledInputs(row, call, services);
  const symbols = await selectSymbols(row, call, services);
  if (isSilent(readable, call, services)) return [];
  const { board, feeds } = services.streams;
  await feeds.wake();
  await restore(symbols, services);
  return (symbols ?? board.symbols()).flatMap((symbol) => board.get(symbol) ?? []);
}
