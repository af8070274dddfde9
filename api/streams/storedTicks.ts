// Ticks of stored days, as a feed told them.
import { type Publish, LiveBoard } from '../../market/live/liveBoard.ts';
import type { InputId } from '../../market/inputs/inputRow.ts';
import type { Tick } from '../../market/live/tick.ts';
import { between } from '../../market/types/ask.ts';
import { dayAt } from '../../market/derive/words.ts';
import type { Dataset } from '../../store/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { planNeeds, readPlanned } from '../market/reading.ts';
import { momentNow } from '../read/moments.ts';
import type { Call } from '../request/endpoint.ts';
import type { StreamServices } from './entitled.ts';
import { quoteTick, tradeTick } from './restored.ts';

const TICKS_MAX = 1_000_000;
/** Records of one symbol and input: as many as one read gives. */
const ROWS_MAX = 30_000;
/** Messages of the past that a stream begins with: the newest of them. */
const PAST_MAX = 10_000;

interface Asked {
  readonly from: string;
  readonly to: string;
  readonly readable: ReadonlyMap<string, Dataset>;
  readonly call: Call;
  readonly services: StreamServices;
}

/** In the order of their times; a best offer comes before a trade of its instant. */
export async function ticksOf(
  symbols: readonly string[],
  { call, from, readable, services, to }: Asked,
): Promise<readonly Tick[]> {
  const inputs = (['TRADES', 'QUOTES'] as const).flatMap((input) => {
    const dataset = readable.get(input);
    return dataset === undefined ? [] : [[input, dataset] as const];
  });
  const needOf = (input: InputId, symbol: string) => between(input, symbol, from, to);
  const bare = { ...call, query: {}, path: {} };
  const ticks: Tick[] = [];
  for (const symbol of symbols) {
    const needs = inputs.map(([input]) => needOf(input, symbol));
    const planned = await planNeeds(bare, services, new Map(inputs), needs, momentNow(services));
    const read = await readPlanned(planned, services, bare);
    for (const [input] of inputs) {
      const rows = read(needOf(input, symbol));
      if (rows.length >= ROWS_MAX || ticks.length + rows.length > TICKS_MAX) {
        const rule = `${ROWS_MAX} of a symbol, ${TICKS_MAX} of all: ask for fewer days or symbols`;
        throw new Failure('TooLarge', `a replay has at most so many trades, or quotes: ${rule}`);
      }
      const tickOf = input === 'TRADES' ? tradeTick : quoteTick;
      for (const row of rows) ticks.push(...tickOf(symbol, row));
    }
  }
  const rank = ({ kind }: Tick): number => (kind === 'quote' ? 0 : 1);
  return ticks.sort((one, other) => one.timeMs - other.timeMs || rank(one) - rank(other));
}

/** A message that was told, or would have been. */
export interface Past {
  readonly symbol: string;
  readonly json: string;
}

/** What a topic told of some symbols since a time, as far as it is stored. */
export async function pastOf(
  topic: string,
  symbols: readonly string[],
  sinceMs: number,
  asked: Omit<Asked, 'from' | 'to'>,
): Promise<readonly Past[]> {
  const [from, to] = [dayAt(sinceMs), dayAt(asked.services.clock())];
  const ticks = await ticksOf(symbols, { ...asked, from, to });
  const told: Past[] = [];
  const publish: Publish = (of, symbol, make) => {
    const json = of === topic ? make() : undefined;
    if (json !== undefined) told.push({ symbol, json });
  };
  const board = new LiveBoard(publish);
  board.catchUp(ticks.filter(({ timeMs }) => timeMs < sinceMs));
  for (const tick of ticks) if (tick.timeMs >= sinceMs) board.apply(tick);
  return told.slice(-PAST_MAX);
}
