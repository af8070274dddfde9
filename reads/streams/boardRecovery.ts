// Restores symbols of the board from stored records, when they are first requested or published: the board
// has the same state as if it had received all ticks.
import { TRADES_READ } from '../../market/derive/lastSale.ts';
import type { Row } from '../../market/derive/values.ts';
import { dayAt } from '../../market/derive/exchangeTime.ts';
import { LiveBoard } from '../../market/live/liveBoard.ts';
import type { Tick } from '../../market/live/tick.ts';
import { type Need, newest, type Read } from '../../market/types/typeRequest.ts';
import { Failure } from '../../store/base/failure.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { isPlaceholder } from '../../store/lake/datasets/placeholders.ts';
import { type Moment, formatMoment } from '../../store/lake/history/history.ts';
import { backgroundRequest, ownerCaller } from '../rights/backgroundRequest.ts';
import { planNeeds, runReadPlan } from '../market/inputReads.ts';
import { currentMoment } from '../series/moments.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { StreamServices } from './streamAccess.ts';
import { createTickReader } from './storedTicks.ts';
import { storedBooks } from './storedBooks.ts';
import { toPlacedTicks, TICK_INPUTS, type TickInput } from './tickRows.ts';

/** Symbols of one read: at most 100,000 trades. 9,000 symbols of 60 trades took 6 s. */
const BATCH_SIZE = 100;
/** Latest records of an input whose symbols make up a request for all symbols: 15 MB. */
const LATEST_ROWS_MAX = 50_000;

/** Running reads by board and symbol. */
const runningReads = new WeakMap<LiveBoard, Map<string, Promise<void>>>();
/** Boards with all symbols. */
const wholeBoards = new WeakMap<
  LiveBoard,
  { readonly clears: number; readonly read: Promise<void> }
>();

/** Restores symbols. @param symbols undefined for all symbols among the latest records */
export const restore = (
  symbols: readonly string[] | undefined,
  services: StreamServices,
): Promise<void> =>
  symbols === undefined ? restoreAll(services) : restoreSymbols(symbols, services);

/** The name of the watch of an input. */
export const ticksName = ({ tableId }: Dataset): string => `ticks/${tableId}`;

async function restoreSymbols(symbols: readonly string[], services: StreamServices): Promise<void> {
  const { board } = services.streams;
  const missing = symbols.filter((symbol) => board.get(symbol) === undefined);
  if (missing.length === 0) return;
  const reading = runningReads.get(board) ?? new Map<string, Promise<void>>();
  runningReads.set(board, reading);
  for (let at = 0; at < missing.length; at += BATCH_SIZE) {
    const chunk = missing.slice(at, at + BATCH_SIZE);
    const own = chunk.filter((symbol) => !reading.has(symbol));
    if (own.length > 0) {
      const read = readPast(own, services).finally(() => {
        for (const symbol of own) reading.delete(symbol);
      });
      for (const symbol of own) reading.set(symbol, read);
    }
    await Promise.all(chunk.map((symbol) => reading.get(symbol)));
  }
}

function restoreAll(services: StreamServices): Promise<void> {
  const { board } = services.streams;
  const entry = wholeBoards.get(board);
  if (entry?.clears === board.clears) return entry.read;
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
    // A synthetic feed is on the board completely from its start.
    if (dataset === undefined || isPlaceholder(dataset)) continue;
    const need = newest(input, '', LATEST_ROWS_MAX);
    const { read } = await readStored(dataset, [need], services);
    const rows = read(need);
    for (const row of rows) symbols.add(String(row['symbol']));
  }
  await restoreSymbols([...symbols], services);
}

/** Reads stored symbols with the rights of CORE's owner, because all callers share the board. */
async function readPast(symbols: readonly string[], services: StreamServices): Promise<void> {
  const { board } = services.streams;
  const { clears } = board;
  const pasts = new Map(symbols.map((symbol) => [symbol, new LiveBoard(() => undefined)]));
  for (const input of TICK_INPUTS) await applyStored(pasts, input, services);
  // The board was cleared meanwhile.
  if (board.clears !== clears) return readPast(symbols, services);
  for (const [symbol, past] of pasts) board.adopt(symbol, past);
}

/**
 * Applies stored ticks to the boards of at most 100 symbols.
 * @param publishedAt undefined: as of the last published moment
 */
export async function applyStored(
  pasts: ReadonlyMap<string, LiveBoard>,
  input: TickInput,
  services: StreamServices,
  publishedAt?: Moment,
): Promise<void> {
  const dataset = services.lake.directory.dataset(CORE, input);
  if (dataset === undefined) return;
  const count = input === 'TRADES' ? TRADES_READ : 1;
  const needOf = (symbol: string): Need => newest(input, symbol, count);
  const needs = [...pasts.keys()].map(needOf);
  const { at, read } = await readStored(dataset, needs, services, publishedAt);
  for (const [symbol, past] of pasts) {
    const rows = read(needOf(symbol));
    if (input === 'TRADES') await applyTrades(past, symbol, rows, { at, dataset, services });
    else if (input === 'QUOTES') past.catchUp(ticksIn(input, symbol, rows));
  }
  if (input !== 'BOOK') return;
  const latestRows = [...pasts.keys()].flatMap((symbol) =>
    read(needOf(symbol)).map((row) => ({ symbol, row })),
  );
  const books = await storedBooks(latestRows, buildOwnerCall(services), services, at);
  for (const [symbol, ticks] of books) pasts.get(symbol)?.catchUp(ticks);
}

const ticksIn = (input: TickInput, symbol: string, rows: readonly Row[]): readonly Tick[] =>
  rows.flatMap((row) => toPlacedTicks(input, symbol, row).map(({ tick }) => tick));

/** Applies the latest trades, or all trades of the day if they are of one day. */
async function applyTrades(
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
  const call = buildOwnerCall(services);
  const reader = createTickReader([symbol], { readable, call, services, from: day, to: day, at });
  for (;;) {
    const chunk = await reader.next();
    if (chunk.length === 0) return;
    past.catchUp(chunk);
  }
}

/** Reads as of the last published moment: later records are published after the symbol is restored. */
async function readStored(
  dataset: Dataset,
  needs: readonly Need[],
  services: StreamServices,
  requestedAt?: Moment,
): Promise<{ readonly at: Moment; readonly read: Read }> {
  const call = buildOwnerCall(services);
  const [input] = needs.map((need) => need.input);
  const readable = new Map(input === undefined ? [] : [[input, dataset]]);
  const readAt = async (at: Moment, query: ReadRequest['query']) => {
    const planned = await planNeeds({ ...call, query }, services, readable, needs, at);
    return { at, read: await runReadPlan(planned, services, call) };
  };
  const publishedAt = requestedAt ?? services.streams.records.findPosition(ticksName(dataset));
  if (publishedAt === 'nothing') return { at: currentMoment(services), read: () => [] };
  if (publishedAt === undefined) return readAt(currentMoment(services), {});
  try {
    return await readAt(publishedAt, { asOf: formatMoment(publishedAt) });
  } catch (error) {
    // The last write is older than the retention of versions.
    if (!(error instanceof Failure) || error.type !== 'Gone') throw error;
    return readAt(currentMoment(services), {});
  }
}

function buildOwnerCall({ accounts, lake }: StreamServices): ReadRequest {
  const accountId = lake.directory.workspace(CORE)?.accountId ?? '';
  const account = accounts.account(accountId);
  if (account === undefined) throw new RangeError(`${CORE} is nobody's`);
  return backgroundRequest(ownerCaller(account, accountId));
}
