// Fills CORE with the synthetic exchange and keeps it up to date: everything at the first start, then the
// missing records at each later start and after each session, and minutes while a session is open. One input
// at a time, so that it does not delay other loads.
import { join } from 'node:path';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { isPlaceholder, PLACEHOLDER_SOURCE } from '../../store/lake/datasets/placeholders.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { Disk } from '../../store/base/disk.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import type { Lake } from '../../store/lake/lake.ts';
import {
  type ExchangeShape,
  hoursOf,
  retainedFrom,
  type SessionState,
  findSessionState,
} from '../../market/exchange/exchange.ts';
import type { RecordRequest } from '../../market/exchange/sampledMarket.ts';
import type { FilledId } from '../../market/inputs/inputRow.ts';
import { inputOf } from '../../market/inputs/inputs.ts';
import { eraseBefore } from '../../pipeline/edit/erase.ts';
import type { IngestServices, Load } from '../../pipeline/conform/load.ts';
import type { Runner } from '../run/runner.ts';
import type { Workers } from '../../workers/workerPool.ts';
import { EXCHANGE_TASK } from './exchangeFile.ts';
import type { FillProgress } from './progress.ts';
import {
  type FillCheckpoint,
  toCheckpoint,
  readCheckpoints,
  saveCheckpoints,
} from './checkpoints.ts';
import { SERVER_STOPPING } from '../../store/base/failure.ts';

interface ExchangeParts {
  readonly clock: Clock;
  readonly database: Database;
  readonly disk: Disk;
  readonly folder: Folder;
  readonly ingestion: IngestServices;
  readonly lake: Lake;
  readonly runner: Runner;
  readonly filling: FillProgress;
  readonly workers: Workers;
  readonly shape: ExchangeShape;
  readonly onFault: (reason: unknown) => void;
}

export interface Exchange {
  /** Starts in the background. */
  readonly start: () => void;
  /** The last fill; resolves also when it failed, which is reported. */
  readonly filled: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Interval between two checks for a closed session. */
const POLL_MS = 600_000;
const AUTHOR = 'synthetic exchange';
/** Days for which its old versions are retained: nobody needs them. */
const HISTORY_DAYS = 2;

/** Small inputs first, so that many endpoints answer soon. */
const ORDER: readonly FilledId[] = [
  ...(['VENUES', 'SYMBOLS', 'COMPANY', 'SPLITS', 'DIVIDENDS', 'HISTORICAL_PRICES'] as const),
  ...(['FX_RATES', 'TREASURY', 'RATES', 'ENERGY', 'MORTGAGE', 'ECONOMIC'] as const),
  ...(['CRYPTO_QUOTES', 'CRYPTO_BOOKS'] as const),
  ...(['PEERS', 'EARNINGS', 'INCOME', 'BALANCE_SHEET', 'CASH_FLOW'] as const),
  ...(['FINANCIALS', 'ESTIMATES', 'SENTIMENT', 'NEWS'] as const),
  ...(['EARNINGS_CALENDAR', 'LOGO', 'PRICE_TARGET', 'RECOMMENDATION_TRENDS', 'IPOS'] as const),
  ...(['INSIDER_TRANSACTIONS', 'INSIDER_SUMMARY', 'INSIDER_ROSTER'] as const),
  ...(['FUND_OWNERSHIP', 'INSTITUTIONAL_OWNERSHIP'] as const),
  ...(['EXCHANGE_STATS', 'OPTIONS', 'SENTIMENT_MINUTES'] as const),
  ...(['TRADES', 'QUOTES', 'INTRADAY_PRICES'] as const),
];
/** Inputs to which an open session adds. */
const MINUTES: readonly FilledId[] = ['INTRADAY_PRICES'];
/** The latest session's ticks replace earlier ones. */
const TICKS: ReadonlySet<FilledId> = new Set(['TRADES', 'QUOTES']);
/** Inputs of the latest closed sessions, or as of the latest one: they replace earlier records, too. */
const NEWEST: ReadonlySet<FilledId> = new Set<FilledId>([
  ...(['OPTIONS', 'SENTIMENT_MINUTES', 'RECOMMENDATION_TRENDS', 'IPOS'] as const),
  ...(['INSIDER_SUMMARY', 'INSIDER_ROSTER', 'FUND_OWNERSHIP', 'INSTITUTIONAL_OWNERSHIP'] as const),
]);
/** Inputs of which only later days are added. */
const BY_DAY: ReadonlySet<FilledId> = new Set<FilledId>([
  ...(['HISTORICAL_PRICES', 'INTRADAY_PRICES', 'FX_RATES'] as const),
  ...(['TREASURY', 'RATES', 'ENERGY', 'MORTGAGE', 'ECONOMIC', 'EXCHANGE_STATS'] as const),
]);

export function makeExchange(parts: ExchangeParts): Exchange {
  const abort = new AbortController();
  let running = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let lastClosed = '';
  const check = (): void => {
    const session = findSessionState(parts.clock());
    if (session === undefined || abort.signal.aborted) return;
    const isNew = session.closed !== lastClosed;
    const isOpen = session.opened !== session.closed;
    if (!isNew && !isOpen) return;
    lastClosed = session.closed;
    // Set from the first request on: the progress is read later.
    if (isNew) parts.filling.begin(ORDER.filter((input) => isAbsent(input, parts)));
    running = running
      .then(() => fill(parts, session, isNew ? ORDER : MINUTES, abort.signal))
      .catch((error) => {
        if (!abort.signal.aborted) parts.onFault(error);
      })
      .finally(parts.filling.end);
  };
  return {
    start: () => {
      check();
      timer = setInterval(check, POLL_MS).unref();
    },
    filled: () => running,
    stop: async () => {
      clearInterval(timer);
      abort.abort(new Error(SERVER_STOPPING));
      await running;
    },
  };
}

const isAbsent = (input: FilledId, { lake }: Pick<ExchangeParts, 'lake'>): boolean =>
  lake.directory.dataset(CORE, input) === undefined;

async function fill(
  parts: ExchangeParts,
  session: SessionState,
  inputs: readonly FilledId[],
  signal: AbortSignal,
): Promise<void> {
  const { database, lake, shape } = parts;
  const { minutes, openMs } = hoursOf(session.opened);
  const now = toCheckpoint(session, openMs + minutes * 60_000, shape.symbols);
  const wereLoaded = await readCheckpoints(database);
  // An input that was loaded and is missing was removed by its owner.
  for (const input of inputs) if (wereLoaded[input] !== undefined) parts.filling.done(input);
  for (const input of inputs) {
    const loaded = await readCheckpoints(database);
    const checkpoint = loaded[input];
    const dataset = lake.directory.dataset(CORE, input);
    const isOurs = dataset === undefined ? checkpoint === undefined : isPlaceholder(dataset);
    if (!isOurs || (checkpoint !== undefined && isUpToDate(input, checkpoint, now))) continue;
    if (await loadInput(input, checkpoint, { parts, session, signal })) {
      await saveCheckpoints(database, { ...loaded, [input]: now });
    }
    parts.filling.done(input);
  }
}

function isUpToDate(input: FilledId, checkpoint: FillCheckpoint, now: FillCheckpoint): boolean {
  if (checkpoint.symbols !== now.symbols) return false;
  if (TICKS.has(input) || MINUTES.includes(input)) return checkpoint.ticks === now.ticks;
  return checkpoint.closed >= now.closed;
}

interface Filling {
  readonly parts: ExchangeParts;
  readonly session: SessionState;
  readonly signal: AbortSignal;
}

/** Returns whether it was loaded; false when its owner replaced it meanwhile. */
async function loadInput(
  input: FilledId,
  checkpoint: FillCheckpoint | undefined,
  { parts, signal, session }: Filling,
): Promise<boolean> {
  const { folder, disk, lake, runner, shape, workers } = parts;
  const isContinued = BY_DAY.has(input) && checkpoint?.symbols === shape.symbols;
  const after = isContinued ? checkpoint?.closed : undefined;
  const request: RecordRequest = {
    input,
    shape,
    session: session,
    after,
    afterMs: minutesUntil(checkpoint, session),
  };
  const path = join(folder.spool, newUuid());
  const accountId = lake.directory.workspace(CORE)?.accountId ?? '';
  let jobId: string | undefined;
  try {
    const call = { account: accountId, input: { path, request }, signal };
    const { bytes, records } = await workers.run(EXCHANGE_TASK, call);
    const current = lake.directory.dataset(CORE, input);
    if (current !== undefined && !isPlaceholder(current)) return false;
    if (records > 0) {
      const order = { path, bytes, ownFile: true, accountId, workspace: CORE, dataset: input };
      jobId = await runner.submit({ ...order, ...loadOptions(input) });
    }
  } finally {
    if (jobId === undefined) await disk.remove(path);
  }
  if (jobId !== undefined) {
    const { error, status } = await Promise.race([runner.ended(jobId), rejectOnAbort(signal)]);
    if (status !== 'INGESTED') {
      parts.onFault(new Error(`${CORE}.${input}: ${error ?? status}`));
      return false;
    }
  }
  if (input === 'INTRADAY_PRICES')
    await eraseOldMinutes(retainedFrom(shape, session).minutes, parts);
  return true;
}

/**
 * Minutes of the open session up to this time are stored; its day is loaded completely once it has closed.
 */
function minutesUntil(
  checkpoint: FillCheckpoint | undefined,
  { opened }: SessionState,
): number | undefined {
  const [day, untilMs] = (checkpoint?.ticks ?? '').split(' ');
  return day === opened ? Number(untilMs) : undefined;
}

const INVENTED = 'Invented: no company, price or trade in it is real. The first load replaces it.';

function loadOptions(input: FilledId): Omit<Load, 'dataset' | 'path' | 'workspace'> {
  const description = `${inputOf(input)?.title ?? input}. ${INVENTED}`;
  return {
    source: PLACEHOLDER_SOURCE,
    duplicates: 'ignore',
    rejectsMax: 0,
    overwrite: TICKS.has(input) || NEWEST.has(input),
    standIn: { description, historyDays: HISTORY_DAYS },
  };
}

/** A stopping runner leaves waiting jobs for the next start. */
const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

async function eraseOldMinutes(
  day: string,
  { ingestion, lake, runner }: ExchangeParts,
): Promise<void> {
  const input: FilledId = 'INTRADAY_PRICES';
  await runner.inTurn(CORE, input, async () => {
    const dataset = lake.directory.dataset(CORE, input);
    if (dataset === undefined || !isPlaceholder(dataset)) return;
    await eraseBefore(day, dataset, AUTHOR, ingestion);
  });
}
