// Derives the shapes of stream states from an example symbol with all members.
import { ZERO_STATES } from '../../market/capture/messages.ts';
import { STATE_CHANNELS } from '../../market/live/deepMessages.ts';
import { bookOf, deepOf, deepTradeOf, lastOf, topsOf } from '../../market/live/liveMessages.ts';
import { type LiveSymbol, newSymbol } from '../../market/live/liveSymbol.ts';
import type { TradeTick } from '../../market/live/tick.ts';
import { EXAMPLE_SYMBOL } from '../../market/types/observed.ts';
import {
  listShape,
  mapShape,
  orNothing,
  type Shape,
  shapeOf,
  withMembers,
} from '../../market/types/shape.ts';
import { pascal } from '../../market/types/shapes.ts';

const TRADE: TradeTick = {
  kind: 'trade',
  symbol: EXAMPLE_SYMBOL,
  timeMs: 0,
  price: 1,
  size: 1,
  tradeId: '1',
};
/** Trade ids are numbers if possible. */
const TRADES = [TRADE, { ...TRADE, tradeId: 'a' }];
const LEVELS = new Map([[1, { size: 1, timeMs: 0 }]]);
const LIVE: LiveSymbol = {
  ...newSymbol(EXAMPLE_SYMBOL),
  trades: TRADES,
  breaks: TRADES,
  bids: LEVELS,
  asks: LEVELS,
  bookMs: 1,
};

const LEVEL_LIST = withMembers(shapeOf(bookOf(LIVE).bids), (level) => ({ $id: 'Level', ...level }));
const TRADE_LIST = withMembers(shapeOf(TRADES.map(deepTradeOf)), (trade) => ({
  $id: 'DeepTrade',
  ...trade,
}));

/** Shapes of states, which are empty before their first message. */
const STATES = new Map(
  [...ZERO_STATES].map(([name, value]) => {
    const [channel] = STATE_CHANNELS[name];
    return [name, { channel, shape: orNothing({ $id: pascal(channel), ...shapeOf(value) }) }];
  }),
);

const MEMBERS: ReadonlyMap<string, Shape> = new Map([
  ...[...STATES].map(([name, { shape }]): [string, Shape] => [name, shape]),
  ...['bids', 'asks'].map((name): [string, Shape] => [name, LEVEL_LIST]),
  ...['trades', 'tradeBreaks'].map((name): [string, Shape] => [name, TRADE_LIST]),
]);

const namedShape = ($id: string, value: unknown): Shape => ({
  $id,
  ...withMembers(shapeOf(value), (member, name) => MEMBERS.get(name ?? '') ?? member),
});

export const TOPS_SHAPE = listShape(namedShape('Tops', topsOf(LIVE)));
export const LAST_SHAPE = listShape(namedShape('Last', lastOf(LIVE)));
export const DEEP_SHAPE = orNothing(namedShape('Deep', deepOf(LIVE, {})));

const SYSTEM = 'system-event';

/** Shapes by channel; the system event belongs to the market, others are by symbol. */
export const CHANNEL_SHAPES: ReadonlyMap<string, Shape> = new Map(
  [
    ['book', namedShape('DeepBook', bookOf(LIVE))] as const,
    ...['trades', 'trade-breaks'].map((channel) => [channel, TRADE_LIST] as const),
    ...[...STATES.values()].map(({ channel, shape }) => [channel, shape] as const),
  ].map(([channel, shape]) => [channel, channel === SYSTEM ? shape : mapShape(shape)]),
);
