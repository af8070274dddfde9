// Who may see what happens as it happens, and of which symbols it is asked.
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { callerOf, datasetOf, delayOf } from '../auth/access.ts';
import type { Call, Services } from '../request/endpoint.ts';
import { listOf, refuse } from '../request/parameters.ts';
import { type StreamRow, STREAM_ROWS } from '../sse/streamTable.ts';
import { symbolOf, type StockServices } from '../stock/knownSymbols.ts';
import { tickersOf } from '../stock/symbology.ts';

/** SPEC.md "Limits". */
const SYMBOLS_MAX = 50;
/** In place of symbols: all of them, as a client of the original asks for them. */
const FIREHOSE = 'FIREHOSE';

export type StreamServices = StockServices & Pick<Services, 'accounts' | 'database' | 'streams'>;

const rowOf = (name: string): StreamRow => {
  const row = STREAM_ROWS.find((one) => one.name === name);
  if (row === undefined) throw new RangeError(`there is no stream ${name}`);
  return row;
};

export const TOPS = rowOf('tops');
export const LAST = rowOf('last');
export const DEEP = rowOf('deep');

/** @throws Failure FreeTierNotAllowed, TierNotAllowed. */
export function checkTier({ tier }: Caller): void {
  if (tier.streaming) return;
  throw new Failure(tier.name === 'free' ? 'FreeTierNotAllowed' : 'TierNotAllowed');
}

/** Inputs that are there, which the caller must read as they happen. @throws Failure of the first other. */
export function entitledTo(
  { inputs }: Pick<StreamRow, 'inputs'>,
  call: Pick<Call, 'caller'>,
  { lake }: Pick<Services, 'lake'>,
): ReadonlyMap<string, Dataset> {
  const caller = callerOf(call.caller);
  const there = inputs.filter((input) => lake.directory.dataset(CORE, input) !== undefined);
  return new Map(
    there.map((input): [string, Dataset] => {
      const dataset = datasetOf(caller, CORE, input, lake);
      if (delayOf(caller, dataset, lake) > 0) throw new Failure('EnterprisePermissionRequired');
      return [input, dataset];
    }),
  );
}

/** What a feed tells and nobody stores is told to the owner of CORE alone. */
export const hearsNothing = (
  readable: ReadonlyMap<string, Dataset>,
  { caller }: Pick<Call, 'caller'>,
  { lake }: Pick<Services, 'lake'>,
): boolean =>
  readable.size === 0 && lake.directory.workspace(CORE)?.accountId !== callerOf(caller).accountId;

/** Whether these inputs are still the same datasets as at the call: none is created, replaced or gone. */
export function unchanged(
  inputs: readonly string[],
  { lake }: Pick<Services, 'lake'>,
): () => boolean {
  const idOf = (input: string): number | undefined => lake.directory.dataset(CORE, input)?.tableId;
  const ids = inputs.map(idOf);
  let seen = lake.directory;
  return () => {
    // Another object after each change: thousands of streams check it each second.
    const isSame = lake.directory === seen || inputs.every((input, at) => idOf(input) === ids[at]);
    if (isSame) seen = lake.directory;
    return isSame;
  };
}

/** Undefined for all. @throws Failure InvalidParameter, NoSymbol. */
export async function symbolsOf(
  { kind }: Pick<StreamRow, 'kind'>,
  call: Call,
  services: StreamServices,
): Promise<readonly string[] | undefined> {
  const given = (listOf(call.query, 'symbols') ?? [])
    .map(symbolOf)
    .filter((symbol) => symbol !== '');
  const isAll = given.length === 0 || given.includes(FIREHOSE);
  if (isAll && kind === 'deep') throw new Failure('NoSymbol');
  if (isAll) return undefined;
  const named = [...new Set(given)];
  if (kind === 'deep' && named.length > 1) return refuse('symbols', 'must be one symbol with deep');
  if (named.length > SYMBOLS_MAX) {
    const rule = 'open another connection for more';
    return refuse('symbols', `has at most ${SYMBOLS_MAX} symbols: ${rule}`);
  }
  // iexjs adds a plus to the last one; a security whose symbol has one is known by it.
  const { board } = services.streams;
  const spelled = (await tickersOf(named, call, services)).map((symbol) =>
    symbol.endsWith('+') && board.get(symbol) === undefined ? symbol.slice(0, -1) : symbol,
  );
  return [...new Set(spelled)];
}
