// Types of the whole market (INTERFACE.md 1 "market"): lists, every symbol's last days, volume by venue.
import {
  BOARD_DAYS,
  boardOf,
  lastDayOf,
  listed,
  type Standing,
  volumesOf,
} from '../../market/board/board.ts';
import { previousRow } from '../../market/derive/dailyBars.ts';
import { dayIn as dayOfRow, type Row } from '../../market/derive/values.ts';
import type { InputId } from '../../market/inputs/inputRow.ts';
import { type Ask, between, type Need, newest, type Read } from '../../market/types/ask.ts';
import { marketType } from '../../market/types/marketTypes.ts';
import { addDays, type Day } from '../../query/time/days.ts';
import { Failure } from '../../store/base/failure.ts';
import { CORE } from '../../store/datasets/datasets.ts';
import type { Moment } from '../../store/history/history.ts';
import type { Lake } from '../../store/lake/lake.ts';
import { callerOf, isForeign, paysPremium } from '../auth/access.ts';
import { metered } from '../read/metering.ts';
import { momentNow } from '../read/moments.ts';
import { formatOf, rowsOf } from '../read/series.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { listOf, numberOf, refuse } from '../request/parameters.ts';
import { delayFor, readableFor } from './market.ts';
import { askOf, LIST_MAX, optionsOf } from './options.ts';
import { type MarketServices, planNeeds, type Readable, readPlanned } from './reading.ts';
import { bodyOf, filtered } from './rendering.ts';

interface Wide {
  readonly of: InputId;
  /** Messages of each symbol or row that is answered (INTERFACE.md 0.3). */
  readonly weight: number;
  readonly usageKey: string;
  readonly most: number;
  readonly answer: (asked: AskedOfAll) => Promise<object>;
}

interface AskedOfAll {
  readonly call: Call;
  readonly ask: Ask;
  readonly read: (needs: readonly Need[]) => Promise<Read>;
}

/** Symbols of one market. */
const SYMBOLS_MOST = 20_000;
const LIST_USUAL = 10;

const WIDE: Readonly<Record<string, Wide>> = {
  list: {
    ...{ of: 'HISTORICAL_PRICES', weight: 2, usageKey: 'MARKET_LIST', most: LIST_MAX },
    answer: quotesOfList,
  },
  ohlc: {
    ...{ of: 'HISTORICAL_PRICES', weight: 2, usageKey: 'OPEN_CLOSE', most: SYMBOLS_MOST },
    answer: async (asked) => byName(await boardNow(asked), lastDayOf),
  },
  previous: {
    ...{ of: 'HISTORICAL_PRICES', weight: 2, usageKey: 'PREVIOUS', most: SYMBOLS_MOST },
    answer: async (asked) =>
      byName(await boardNow(asked, addDays(asked.ask.today, -1)), ({ bars, symbol }) =>
        previousRow(symbol, bars),
      ),
  },
  volume: {
    ...{ of: 'TRADES', weight: 1, usageKey: 'MARKET_VOLUME', most: 100 },
    answer: volumeByVenue,
  },
};

/** Whether a type is one of the whole market, and CORE has what it is made of. */
export const isWideType = (name: string, { directory }: Lake): boolean => {
  const wide = WIDE[name.toLowerCase()];
  return wide !== undefined && directory.dataset(CORE, wide.of)?.mapping.key !== undefined;
};

export async function answerWide(call: Call, services: MarketServices): Promise<Answer> {
  const name = (call.path['type'] ?? '').toLowerCase();
  const wide = WIDE[name];
  const quote = marketType('quote');
  if (wide === undefined || quote === undefined) throw new Failure('NotFound');
  refusePart(call, name);
  const format = formatOf(call);
  const readable = readableOf(wide, call, services);
  const caller = callerOf(call.caller);
  const nowMs = services.clock();
  const untilMs = nowMs - delayFor(caller, readable, services.lake);
  const ask = askOf('', optionsOf(quote, call.query, true), nowMs, untilMs);
  const at = momentNow(services);
  const dataset = readable.get(wide.of);
  const foreign = dataset !== undefined && isForeign(caller, dataset, services.lake);
  const premium = dataset !== undefined && paysPremium(caller, dataset, services.lake);
  const { most, usageKey, weight } = wide;
  const order = { requestId: call.requestId, endpoint: call.endpoint, usageKey, weight, premium };
  const told = foreign ? () => most : undefined;
  const fare = { order, most: mostOf(call, wide), least: foreign ? 1 : 0, told };
  let snapshot = 0;
  let moment: Moment = at;
  const read = async (needs: readonly Need[]): Promise<Read> => {
    const planned = await planNeeds(call, services, readable, needs, at);
    snapshot = Math.max(snapshot, planned.snapshot);
    moment = planned.moment;
    return readPlanned(planned, services, call);
  };
  const metering = await metered(call, services, caller, fare, async () => {
    const value = await wide.answer({ call, ask, read });
    const objects = Object.keys(value).length;
    return bodyOf(filteredEach(value, listOf(call.query, 'filter')), objects, format);
  });
  const given = { snapshot, moment, tag: undefined, dataset };
  if (metering.kind === 'unread') return { ...metering, ...given, format };
  if (metering.kind === 'estimate') {
    return { kind: 'json', value: metering.price, metering: 'free' };
  }
  const { charge, result: body } = metering;
  return rowsOf(call, { ...given, body, format, charge });
}

const mostOf = ({ query }: Call, { most }: Wide): number =>
  most === LIST_MAX ? (numberOf(query, 'listLimit') ?? LIST_USUAL) : most;

/** @throws Failure NotFound for a list without its name, or a part of what has none. */
function refusePart({ path, query }: Call, name: string): void {
  const isList = name === 'list';
  if (path['detail'] !== undefined || (path['part'] !== undefined) !== isList) {
    throw new Failure('NotFound');
  }
  if (!isList && query['listLimit'] !== undefined)
    refuse('listLimit', `is not allowed with ${name}`);
}

/** @throws Failure of what the caller lacks. */
function readableOf(wide: Wide, call: Call, { lake }: MarketServices): Readable {
  const quote = marketType('quote');
  if (quote === undefined) throw new Failure('NotFound');
  const inputs: readonly InputId[] = ['SPLITS', 'VENUES', wide.of];
  const needs = [...quote.needs(askOf('', {}, 0)), ...inputs.map((input) => newest(input, '', 1))];
  return readableFor({ ...quote, of: [wide.of] }, needs, call, lake);
}

/** Objects by symbol are filtered one by one. */
function filteredEach(value: object, names: readonly string[] | undefined): unknown {
  if (names === undefined || Array.isArray(value)) return filtered(value, names);
  return Object.fromEntries(
    Object.entries(value).map(([symbol, one]) => [symbol, filtered(one, names)]),
  );
}

/** The last two days of every symbol, up to a day. */
async function boardNow(
  { ask, read }: AskedOfAll,
  upTo: Day = ask.today,
): Promise<readonly Standing[]> {
  const last = newest('HISTORICAL_PRICES', '', 1);
  const row = (await read([last]))(last).at(-1);
  if (row === undefined) return [];
  const newestDay = dayOfRow(row, 'date');
  const to = newestDay < upTo ? newestDay : upTo;
  const days = between('HISTORICAL_PRICES', '', addDays(to, -BOARD_DAYS), to);
  const splits = between('SPLITS', '', addDays(to, -BOARD_DAYS), ask.today);
  const found = await read([days, splits]);
  return boardOf(found(days), found(splits), ask.today);
}

const byName = (
  board: readonly Standing[],
  valueOf: (standing: Standing) => object,
): Readonly<Record<string, object>> =>
  Object.fromEntries(board.map((standing) => [standing.symbol, valueOf(standing)]));

/** Quotes of the symbols that are first in a list. */
async function quotesOfList(asked: AskedOfAll): Promise<object> {
  const { ask, call, read } = asked;
  const limit = numberOf(call.query, 'listLimit') ?? LIST_USUAL;
  const symbols = listed(call.path['part'] ?? '', await boardNow(asked), limit);
  const quote = marketType('quote');
  if (symbols === undefined || quote === undefined) throw new Failure('NotFound');
  const asks = symbols.map((symbol) => ({ ...ask, symbol }));
  const found = await read(asks.flatMap((one) => quote.needs(one)));
  return asks.map((one) => quote.answer(one, found)).filter((value) => value !== undefined);
}

/** Of the day of the newest trade. */
async function volumeByVenue({ ask, read }: AskedOfAll): Promise<object> {
  const last = newest('TRADES', '', 1);
  const row = (await read([last]))(last).at(-1);
  if (row === undefined) return [];
  const day = dayOfRow(row, 'time');
  const trades = between('TRADES', '', day, day);
  const venues = between('VENUES', '', undefined, undefined);
  const found = await read([trades, venues]);
  const seen = (trade: Row): boolean => !(Date.parse(String(trade['time'])) > ask.untilMs);
  return volumesOf(found(trades).filter(seen), found(venues));
}
