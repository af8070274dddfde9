// Messages of the deep channels (INTERFACE.md 2.3): each as it happens, and the latest ones of a symbol.
import { bookOf, deepTradeOf } from './liveMessages.ts';
import type { LiveSymbol } from './liveSymbol.ts';
import type { StateName } from './tick.ts';

/** Channel of `/deep` and its message type, for each state. */
export const STATE_CHANNELS: Readonly<Record<StateName, readonly [channel: string, type: string]>> =
  {
    tradingStatus: ['trading-status', 'tradingstatus'],
    opHaltStatus: ['op-halt-status', 'ophaltstatus'],
    ssrStatus: ['ssr-status', 'ssr'],
    securityEvent: ['security-event', 'securityevent'],
    officialPrice: ['official-price', 'officialprice'],
    auction: ['auction', 'auction'],
    systemEvent: ['system-event', 'systemevent'],
  };

export const deepTopic = (channel: string): string => `deep/${channel}`;

export const deepJson = (
  { seq, symbol }: Pick<LiveSymbol, 'seq' | 'symbol'>,
  messageType: string,
  data: object,
): string => JSON.stringify({ symbol, messageType, data, seq });

/** The latest message of each requested channel that has one. */
export function newestDeep(live: LiveSymbol, channels: readonly string[]): readonly string[] {
  const isRequested = (channel: string): boolean =>
    channels.includes(channel) || channels.includes('deep');
  const book = bookOf(live);
  const newest: readonly (readonly [channel: string, type: string, data: object | undefined])[] = [
    ...Object.entries(STATE_CHANNELS).map(
      ([name, [channel, type]]) => [channel, type, live.states.get(name as StateName)] as const,
    ),
    ['book', 'book', book.bids.length + book.asks.length > 0 ? book : undefined],
    ['trades', 'trades', live.trades.slice(-1).map(deepTradeOf)[0]],
    ['trade-breaks', 'tradebreak', live.breaks.slice(-1).map(deepTradeOf)[0]],
  ];
  return newest.flatMap(([channel, type, data]) =>
    data === undefined || !isRequested(channel) ? [] : [deepJson(live, type, data)],
  );
}
