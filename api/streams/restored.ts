// What was told of a symbol before this process is read from what is stored, when it is asked for or told of
// first: the board stands as if it had heard all.
import { TRADES_READ } from '../../market/derive/lastSale.ts';
import type { Row } from '../../market/derive/values.ts';
import { dayAt } from '../../market/derive/words.ts';
import { LiveBoard } from '../../market/live/liveBoard.ts';
import type { Tick } from '../../market/live/tick.ts';
import { type Need, newest, type Read } from '../../market/types/ask.ts';
import { Failure } from '../../store/base/failure.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { isStandIn } from '../../store/lake/datasets/standIns.ts';
import { type Moment, momentText } from '../../store/lake/history/history.ts';
import { callOf, ownerOf } from '../auth/standingCall.ts';
import { planNeeds, readPlanned } from '../market/reading.ts';
import { momentNow } from '../read/moments.ts';
import type { Call } from '../request/endpoint.ts';
import type { StreamServices } from './entitled.ts';
import { ticksOf } from './storedTicks.ts';
import { storedBooks } from './storedBooks.ts';
import { placedOf, TICK_INPUTS, type TickInput } from './tickRows.ts';

/** Symbols that are read at once: 100,000 trades at most. 9,000 symbols of 60 trades took 6 s. */
const READ_AT_ONCE = 100;
/** Newest records of an input, whose symbols are all there are for whoever asks for all: 15 MB. */
const NEWEST_OF_ALL = 50_000;

/** Symbols of a board that are being read. */
const underWay = new WeakMap<LiveBoard, Map<string, Promise<void>>>();
/** Boards of which all symbols are known. */
const wholeBoards = new WeakMap<
  LiveBoard,
  { readonly clears: number; readonly read: Promise<void> }
>();

/** @param symbols undefined for all that there are records of among the newest */
export const restore = (
  symbols: readonly string[] | undefined,
  services: StreamServices,
): Promise<void> =>
  symbols === undefined ? restoreAll(services) : restoreSymbols(symbols, services);

/** The watch that tells what is written into an input. */
export const ticksName = ({ tableId }: Dataset): string => `ticks/${tableId}`;

async function restoreSymbols(symbols: readonly string[], services: StreamServices): Promise<void> {
  const { board } = services.streams;
  const missing = symbols.filter((symbol) => board.get(symbol) === undefined);
  if (missing.length === 0) return;
  const reading = underWay.get(board) ?? new Map<string, Promise<void>>();
  underWay.set(board, reading);
  for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
    const some = missing.slice(at, at + READ_AT_ONCE);
    const own = some.filter((symbol) => !reading.has(symbol));
    if (own.length > 0) {
      const read = readPast(own, services).finally(() => {
        for (const symbol of own) reading.delete(symbol);
      });
      for (const symbol of own) reading.set(symbol, read);
    }
    await Promise.all(some.map((symbol) => reading.get(symbol)));
  }
}

function restoreAll(services: StreamServices): Promise<void> {
  const { board } = services.streams;
  const known = wholeBoards.get(board);
  if (known?.clears === board.clears) return known.read;
  const read = readAll(services).catch((error: unknown) => {
    wholeBoards.delete(board);
    throw error;
  });
  wholeBoards.set(board, { clears: board.clears, read });
  return read;
}

async function readAll(services: StreamServices): Promise<void> {
  const symbols = new Set<string>();
  for (const input of TICK_INPUTS) {
    const dataset = services.lake.directory.dataset(CORE, input);
    // What a feed of ours tells from its beginning is all there is.
    if (dataset === undefined || isStandIn(dataset)) continue;
    const need = newest(input, '', NEWEST_OF_ALL);
    const { read } = await readStored(dataset, [need], services);
    const rows = read(need);
    for (const row of rows) symbols.add(String(row['symbol']));
  }
  await restoreSymbols([...symbols], services);
}

/** The board is one for all who may see it: it is read by the rights of CORE's owner. */
async function readPast(symbols: readonly string[], services: StreamServices): Promise<void> {
  const { board } = services.streams;
  const { clears } = board;
  const pasts = new Map(symbols.map((symbol) => [symbol, new LiveBoard(() => undefined)]));
  for (const input of TICK_INPUTS) await tellStored(pasts, input, services);
  // What it was read for was forgotten meanwhile.
  if (board.clears !== clears) return readPast(symbols, services);
  for (const [symbol, past] of pasts) board.adopt(symbol, past);
}

/**
 * Boards of some symbols, 100 at most, hear what is stored.
 * @param told undefined: as of what was told last
 */
export async function tellStored(
  pasts: ReadonlyMap<string, LiveBoard>,
  input: TickInput,
  services: StreamServices,
  told?: Moment,
): Promise<void> {
  const dataset = services.lake.directory.dataset(CORE, input);
  if (dataset === undefined) return;
  const count = input === 'TRADES' ? TRADES_READ : 1;
  const needOf = (symbol: string): Need => newest(input, symbol, count);
  const needs = [...pasts.keys()].map(needOf);
  const { at, read } = await readStored(dataset, needs, services, told);
  for (const [symbol, past] of pasts) {
    const rows = read(needOf(symbol));
    if (input === 'TRADES') await tellTrades(past, symbol, rows, { at, dataset, services });
    else if (input === 'QUOTES') past.catchUp(ticksIn(input, symbol, rows));
  }
  if (input !== 'BOOK') return;
  const newestOf = [...pasts.keys()].flatMap((symbol) =>
    read(needOf(symbol)).map((row) => ({ symbol, row })),
  );
  const books = await storedBooks(newestOf, ownersCall(services), services, at);
  for (const [symbol, ticks] of books) pasts.get(symbol)?.catchUp(ticks);
}

const ticksIn = (input: TickInput, symbol: string, rows: readonly Row[]): readonly Tick[] =>
  rows.flatMap((row) => placedOf(input, symbol, row).map(({ tick }) => tick));

/** The newest ones, or, where they are of one day, all of it. */
async function tellTrades(
  past: LiveBoard,
  symbol: string,
  rows: readonly Row[],
  {
    at,
    dataset,
    services,
  }: { readonly at: Moment; readonly dataset: Dataset; readonly services: StreamServices },
): Promise<void> {
  const ticks = ticksIn('TRADES', symbol, rows);
  const [first, last] = [ticks.at(0), ticks.at(-1)];
  const day = last === undefined ? '' : dayAt(last.timeMs);
  const isWhole = rows.length < TRADES_READ || first === undefined || dayAt(first.timeMs) !== day;
  if (isWhole) return past.catchUp(ticks);
  const readable = new Map([['TRADES', dataset]]);
  const call = ownersCall(services);
  const reader = ticksOf([symbol], { readable, call, services, from: day, to: day, at });
  for (;;) {
    const some = await reader.next();
    if (some.length === 0) return;
    past.catchUp(some);
  }
}

/** As of what was told last: what is written after it is told when that is restored. */
async function readStored(
  dataset: Dataset,
  needs: readonly Need[],
  services: StreamServices,
  asked?: Moment,
): Promise<{ readonly at: Moment; readonly read: Read }> {
  const call = ownersCall(services);
  const [input] = needs.map((need) => need.input);
  const readable = new Map(input === undefined ? [] : [[input, dataset]]);
  const readAt = async (at: Moment, query: Call['query']) => {
    const planned = await planNeeds({ ...call, query }, services, readable, needs, at);
    return { at, read: await readPlanned(planned, services, call) };
  };
  const told = asked ?? services.streams.records.standOf(ticksName(dataset));
  if (told === 'nothing') return { at: momentNow(services), read: () => [] };
  if (told === undefined) return readAt(momentNow(services), {});
  try {
    return await readAt(told, { asOf: momentText(told) });
  } catch (error) {
    // Nothing was written for as long as versions are kept.
    if (!(error instanceof Failure) || error.type !== 'Gone') throw error;
    return readAt(momentNow(services), {});
  }
}

function ownersCall({ accounts, lake }: StreamServices): Call {
  const accountId = lake.directory.workspace(CORE)?.accountId ?? '';
  const account = accounts.account(accountId);
  if (account === undefined) throw new RangeError(`${CORE} is nobody's`);
  return callOf(ownerOf(account, accountId));
}
