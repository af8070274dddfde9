// A tick of each kind that the channels of a book send.
import type { Tick } from '../../../market/live/tick.ts';

export function deepTicks(timeMs: number): readonly Tick[] {
  const of = { symbol: 'AAA', timeMs } as const;
  const state = (name: Extract<Tick, { kind: 'state' }>['state'], value: object): Tick =>
    ({ ...of, kind: 'state', state: name, value }) as Tick;
  return [
    { ...of, kind: 'level', side: 'bid', price: 9.99, size: 300 },
    { ...of, kind: 'level', side: 'ask', price: 10.01, size: 200 },
    { ...of, kind: 'trade', price: 10, size: 100, tradeId: '7' },
    { ...of, kind: 'break', price: 10, size: 100, tradeId: '7' },
    state('tradingStatus', { status: 'T', reason: '', timestamp: 1 }),
    state('opHaltStatus', { isHalted: false, timestamp: 1 }),
    state('ssrStatus', { isSSR: true, detail: 'N', timestamp: 1 }),
    state('securityEvent', { securityEvent: 'MarketOpen', timestamp: 1 }),
    state('officialPrice', { priceType: 'Open', price: 10, timestamp: 1 }),
    state('auction', { auctionType: 'Open' }),
    state('systemEvent', { systemEvent: 'R', timestamp: 1 }),
  ];
}
