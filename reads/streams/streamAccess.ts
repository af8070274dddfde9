// Checks access to live data, and selects the symbols of a stream.
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { findDataset, accessDelayMs } from '../rights/access.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { listOf, refuse } from '../request/parameters.ts';
import { type StreamRow, STREAM_ROWS } from '../live/streamTable.ts';
import { normalizeSymbol, type StockServices } from '../stock/knownSymbols.ts';
import { resolveTickers } from '../stock/symbology.ts';

/** SPEC.md "Limits". */
const SYMBOLS_MAX = 50;
/** The value for all symbols, as a client of the original sends it. */
const FIREHOSE = 'FIREHOSE';

export type StreamServices = StockServices &
  Pick<ReadServices, 'accounts' | 'database' | 'streams'>;

const findRow = (name: string): StreamRow => {
  const row = STREAM_ROWS.find((one) => one.name === name);
  if (row === undefined) throw new RangeError(`there is no stream ${name}`);
  return row;
};

export const TOPS = findRow('tops');
export const LAST = findRow('last');
export const DEEP = findRow('deep');

/** @throws Failure FreeTierNotAllowed, TierNotAllowed. */
export function checkTier({ tier }: Caller): void {
  if (tier.streaming) return;
  throw new Failure(tier.name === 'free' ? 'FreeTierNotAllowed' : 'TierNotAllowed');
}

/** Finds the existing inputs. @throws Failure of the first that the caller may not read, or only delayed. */
export function findEntitledInputs(
  { inputs }: Pick<StreamRow, 'inputs'>,
  call: Pick<ReadRequest, 'caller'>,
  { lake }: Pick<ReadServices, 'lake'>,
): ReadonlyMap<string, Dataset> {
  const { caller } = call;
  const existing = inputs.filter((input) => lake.directory.dataset(CORE, input) !== undefined);
  return new Map(
    existing.map((input): [string, Dataset] => {
      const dataset = findDataset(caller, CORE, input, lake);
      if (accessDelayMs(caller, dataset, lake) > 0)
        throw new Failure('EnterprisePermissionRequired');
      return [input, dataset];
    }),
  );
}

/** Whether a stream sends nothing: data of a feed that are not stored go only to the owner of CORE. */
export const isSilent = (
  readable: ReadonlyMap<string, Dataset>,
  { caller }: Pick<ReadRequest, 'caller'>,
  { lake }: Pick<ReadServices, 'lake'>,
): boolean => readable.size === 0 && lake.directory.workspace(CORE)?.accountId !== caller.accountId;

/** Builds a check whether the inputs are still the same datasets: none was created, replaced or dropped. */
export function createUnchangedCheck(
  inputs: readonly string[],
  { lake }: Pick<ReadServices, 'lake'>,
): () => boolean {
  const idOf = (input: string): number | undefined => lake.directory.dataset(CORE, input)?.tableId;
  const ids = inputs.map(idOf);
  let seen = lake.directory;
  return () => {
    // The directory is a new object after each change: thousands of streams run this check each second.
    const isSame = lake.directory === seen || inputs.every((input, at) => idOf(input) === ids[at]);
    if (isSame) seen = lake.directory;
    return isSame;
  };
}

/** Selects the symbols of a stream; undefined for all. @throws Failure InvalidParameter, NoSymbol. */
export async function selectSymbols(
  { kind }: Pick<StreamRow, 'kind'>,
  call: ReadRequest,
  services: StreamServices,
): Promise<readonly string[] | undefined> {
  const requested = (listOf(call.query, 'symbols') ?? [])
    .map(normalizeSymbol)
    .filter((symbol) => symbol !== '');
  const isAll = requested.length === 0 || requested.includes(FIREHOSE);
  if (isAll && kind === 'deep') throw new Failure('NoSymbol');
  if (isAll) return undefined;
  const distinct = [...new Set(requested)];
  if (kind === 'deep' && distinct.length > 1)
    return refuse('symbols', 'must be one symbol with deep');
  if (distinct.length > SYMBOLS_MAX) {
    const rule = 'open another connection for more';
    return refuse('symbols', `has at most ${SYMBOLS_MAX} symbols: ${rule}`);
  }
  // iexjs appends a plus to the last symbol; a security whose own symbol ends with one is on the board.
  const { board } = services.streams;
  const spelled = (await resolveTickers(distinct, call, services)).map((symbol) =>
    symbol.endsWith('+') && board.get(symbol) === undefined ? symbol.slice(0, -1) : symbol,
  );
  return [...new Set(spelled)];
}
