// What is written into TRADES and QUOTES of CORE, by pushes, loads and feeds of others, are ticks like those
// that a feed tells: the board follows them, and whoever listens hears them.
import { pause, type Play } from '../../jobs/feeds/feed.ts';
import type { Row } from '../../market/derive/values.ts';
import type { Tick } from '../../market/live/tick.ts';
import { CORE, type Dataset } from '../../store/datasets/datasets.ts';
import { isStandIn } from '../../store/datasets/standIns.ts';
import { callOf, ownerOf } from '../auth/standingCall.ts';
import { WRITTEN_MAX, type Written } from '../sse/recordWatches.ts';
import type { StreamServices } from './entitled.ts';
import { WHOLE, writtenReader } from './recordStreams.ts';
import { restore, ticksName } from './restored.ts';
import { quoteTick, tradeTick } from './tickRows.ts';

/** How often it is looked whether there is another dataset to follow. */
const LOOK_MS = 1_000;
/** Ticks that are told in one turn of the loop: 2 ms. */
const TURN_TICKS = 1_000;

const INPUTS = [
  ['TRADES', tradeTick],
  ['QUOTES', quoteTick],
] as const;

export const storedFeed =
  (services: StreamServices): Play =>
  async ({ onReady, onTicks, signal }) => {
    while (!signal.aborted) {
      for (const [input, tickOf] of INPUTS) {
        const dataset = services.lake.directory.dataset(CORE, input);
        // Those of the synthetic exchange are told by itself.
        if (dataset === undefined || isStandIn(dataset)) continue;
        const told = (record: Row): readonly Tick[] => tickOf(String(record['symbol']), record);
        await follow(dataset, told, onTicks, signal, services);
      }
      onReady();
      await pause(LOOK_MS, signal);
    }
  };

async function follow(
  dataset: Dataset,
  ticksOf: (record: Row) => readonly Tick[],
  onTicks: (count: number) => void,
  signal: AbortSignal,
  services: StreamServices,
): Promise<void> {
  const { accounts, lake, streams } = services;
  const accountId = lake.directory.workspace(CORE)?.accountId ?? '';
  const account = accounts.account(accountId);
  if (account === undefined) return;
  const { tableId } = dataset;
  const call = callOf(ownerOf(account, accountId));
  const begins = await streams.records.follow({
    ...{ name: ticksName(dataset), tableId },
    reader: writtenReader(dataset, WHOLE, call, services),
    isWanted: () => !signal.aborted,
    tell: async (records) => {
      // So many at once are a day that is loaded, and no news.
      if (records.length >= WRITTEN_MAX) return streams.board.clear();
      const ticks = records.flatMap(({ json }: Written) => ticksOf(JSON.parse(json) as Row));
      ticks.sort((one, other) => one.timeMs - other.timeMs);
      for (let at = 0; at < ticks.length; at += TURN_TICKS) {
        const some = ticks.slice(at, at + TURN_TICKS);
        await restore([...new Set(some.map(({ symbol }) => symbol))], services);
        for (const tick of some) if (isNews(tick, services)) streams.board.apply(tick);
        await new Promise(setImmediate);
      }
      onTicks(ticks.length);
    },
  });
  // What was told before by others, or read of an earlier moment, is not what is stored by now.
  if (begins) streams.board.clear();
}

/**
 * A record of before what its symbol was last told of corrects the past: nobody hears it as a tick. One that
 * the board read from what is stored, when somebody asked for its symbol, is known.
 */
function isNews(tick: Tick, { streams }: StreamServices): boolean {
  const live = streams.board.get(tick.symbol);
  if (live === undefined) return true;
  if (tick.kind === 'trade') {
    const isKnown = live.trades.some(
      ({ timeMs, tradeId }) => timeMs === tick.timeMs && tradeId === tick.tradeId,
    );
    return !isKnown && tick.timeMs >= (live.trades.at(-1)?.timeMs ?? 0);
  }
  if (tick.kind !== 'quote' || tick.timeMs !== live.quotedMs) return tick.timeMs > live.quotedMs;
  const { askPrice, askSize, bidPrice, bidSize } = tick;
  return (
    askPrice !== live.askPrice ||
    askSize !== live.askSize ||
    bidPrice !== live.bidPrice ||
    bidSize !== live.bidSize
  );
}
