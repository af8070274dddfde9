// Fills CORE with the synthetic exchange and keeps it up to date: whole at the first start, then what is
// missing, at each later start and after each session, and minutes while one is open. One input at a time, so
// that it is never in the way of other loads.
import { join } from 'node:path';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { isStandIn, STAND_IN_SOURCE } from '../../store/lake/datasets/standIns.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { Disk } from '../../store/base/disk.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import type { Lake } from '../../store/lake/lake.ts';
import {
  type ExchangeShape,
  hoursOf,
  keptFrom,
  type Standing,
  standingAt,
} from '../../market/exchange/exchange.ts';
import type { FilledId } from '../../market/inputs/inputRow.ts';
import { inputOf } from '../../market/inputs/inputs.ts';
import { eraseBefore } from '../../pipeline/edit/erase.ts';
import type { IngestServices, Load } from '../../pipeline/conform/load.ts';
import type { Runner } from '../run/runner.ts';
import { type ExchangeWriter, exchangeWriter } from './exchangeFile.ts';
import type { FillProgress } from './progress.ts';
import { type Loaded, loadedAt, readLoaded, saveLoaded } from './standing.ts';

interface ExchangeParts {
  readonly clock: Clock;
  readonly database: Database;
  readonly disk: Disk;
  readonly folder: Folder;
  readonly ingestion: IngestServices;
  readonly lake: Lake;
  readonly runner: Runner;
  readonly filling: FillProgress;
  readonly shape: ExchangeShape;
  readonly onFault: (reason: unknown) => void;
}

export interface Exchange {
  /** Begins in the background. */
  readonly start: () => void;
  /** What was begun last; resolves also when it failed, which is told. */
  readonly filled: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** How often it is looked whether a session has closed. */
const LOOK_MS = 600_000;
const AUTHOR = 'synthetic exchange';
/** Days for which old versions of it are kept: nobody needs them. */
const HISTORY_DAYS = 2;

/** The small ones first, so that much answers soon. */
const ORDER: readonly FilledId[] = [
  ...(['VENUES', 'SYMBOLS', 'COMPANY', 'SPLITS', 'DIVIDENDS', 'HISTORICAL_PRICES'] as const),
  ...(['FX_RATES', 'TREASURY', 'RATES', 'ENERGY', 'MORTGAGE', 'ECONOMIC'] as const),
  ...(['CRYPTO_QUOTES', 'CRYPTO_BOOKS'] as const),
  ...(['PEERS', 'EARNINGS', 'INCOME', 'BALANCE_SHEET', 'CASH_FLOW'] as const),
  ...(['FINANCIALS', 'ESTIMATES', 'SENTIMENT', 'NEWS'] as const),
  ...(['EXCHANGE_STATS', 'OPTIONS', 'SENTIMENT_MINUTES'] as const),
  ...(['TRADES', 'QUOTES', 'INTRADAY_PRICES'] as const),
];
/** What a session that is open adds to. */
const MINUTES: readonly FilledId[] = ['INTRADAY_PRICES'];
/** The newest session's take the place of those before. */
const TICKS: ReadonlySet<FilledId> = new Set(['TRADES', 'QUOTES']);
/** Of the newest sessions that have closed: they take the place of those before, too. */
const NEWEST: ReadonlySet<FilledId> = new Set(['OPTIONS', 'SENTIMENT_MINUTES']);
/** Those of which only later days are missing. */
const BY_DAY: ReadonlySet<FilledId> = new Set<FilledId>([
  ...(['HISTORICAL_PRICES', 'INTRADAY_PRICES', 'FX_RATES'] as const),
  ...(['TREASURY', 'RATES', 'ENERGY', 'MORTGAGE', 'ECONOMIC', 'EXCHANGE_STATS'] as const),
]);

export function makeExchange(parts: ExchangeParts): Exchange {
  const abort = new AbortController();
  let running = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let seen = '';
  const look = (): void => {
    const standing = standingAt(parts.clock());
    if (standing === undefined || abort.signal.aborted) return;
    const isNew = standing.closed !== seen;
    const isOpen = standing.opened !== standing.closed;
    if (!isNew && !isOpen) return;
    seen = standing.closed;
    // From the first request on: how far it was is read later.
    if (isNew) parts.filling.begin(ORDER.filter((input) => isAbsent(input, parts)));
    running = running
      .then(() => fill(parts, standing, isNew ? ORDER : MINUTES, abort.signal))
      .catch((error) => {
        if (!abort.signal.aborted) parts.onFault(error);
      })
      .finally(parts.filling.end);
  };
  return {
    start: () => {
      look();
      timer = setInterval(look, LOOK_MS).unref();
    },
    filled: () => running,
    stop: async () => {
      clearInterval(timer);
      abort.abort(new Error('the server is stopping'));
      await running;
    },
  };
}

const isAbsent = (input: FilledId, { lake }: Pick<ExchangeParts, 'lake'>): boolean =>
  lake.directory.dataset(CORE, input) === undefined;

async function fill(
  parts: ExchangeParts,
  standing: Standing,
  inputs: readonly FilledId[],
  signal: AbortSignal,
): Promise<void> {
  const { database, lake, shape } = parts;
  const { minutes, openMs } = hoursOf(standing.opened);
  const now = loadedAt(standing, openMs + minutes * 60_000, shape.symbols);
  const wereLoaded = await readLoaded(database);
  // What was loaded and is gone was removed by its owner.
  for (const input of inputs) if (wereLoaded[input] !== undefined) parts.filling.done(input);
  await using writer = exchangeWriter();
  for (const input of inputs) {
    const loaded = await readLoaded(database);
    const known = loaded[input];
    const dataset = lake.directory.dataset(CORE, input);
    const isOurs = dataset === undefined ? known === undefined : isStandIn(dataset);
    if (!isOurs || (known !== undefined && isUpToDate(input, known, now))) continue;
    if (await loadInput(input, known, { parts, standing, signal, writer })) {
      await saveLoaded(database, { ...loaded, [input]: now });
    }
    parts.filling.done(input);
  }
}

function isUpToDate(input: FilledId, known: Loaded, now: Loaded): boolean {
  if (known.symbols !== now.symbols) return false;
  if (TICKS.has(input) || MINUTES.includes(input)) return known.ticks === now.ticks;
  return known.closed >= now.closed;
}

interface Filling {
  readonly parts: ExchangeParts;
  readonly standing: Standing;
  readonly signal: AbortSignal;
  readonly writer: ExchangeWriter;
}

/** Whether it is loaded; one that its owner replaced meanwhile is not. */
async function loadInput(
  input: FilledId,
  known: Loaded | undefined,
  { parts, signal, standing, writer }: Filling,
): Promise<boolean> {
  const { folder, disk, lake, runner, shape } = parts;
  const goesOn = BY_DAY.has(input) && known?.symbols === shape.symbols;
  const after = goesOn ? known?.closed : undefined;
  const wanted = { input, shape, standing, after, afterMs: minutesUntil(known, standing) };
  const path = join(folder.spool, newUuid());
  const accountId = lake.directory.workspace(CORE)?.accountId ?? '';
  let jobId: string | undefined;
  try {
    const { bytes, records } = await writer.write({ path, wanted }, signal);
    const there = lake.directory.dataset(CORE, input);
    if (there !== undefined && !isStandIn(there)) return false;
    if (records > 0) {
      const order = { path, bytes, ownFile: true, accountId, workspace: CORE, dataset: input };
      jobId = await runner.submit({ ...order, ...howToLoad(input) });
    }
  } finally {
    if (jobId === undefined) await disk.remove(path);
  }
  if (jobId !== undefined) {
    const { error, status } = await Promise.race([runner.ended(jobId), aborted(signal)]);
    if (status !== 'INGESTED') {
      parts.onFault(new Error(`${CORE}.${input}: ${error ?? status}`));
      return false;
    }
  }
  if (input === 'INTRADAY_PRICES') await dropOld(keptFrom(shape, standing).minutes, parts);
  return true;
}

/** Of the session that is open, the minutes up to it are there; its day is loaded whole once it closed. */
function minutesUntil(known: Loaded | undefined, { opened }: Standing): number | undefined {
  const [day, untilMs] = (known?.ticks ?? '').split(' ');
  return day === opened ? Number(untilMs) : undefined;
}

const INVENTED =
  'Invented: no company, price or trade in it is real. The first load takes its place.';

function howToLoad(input: FilledId): Omit<Load, 'dataset' | 'path' | 'workspace'> {
  const description = `${inputOf(input)?.title ?? input}. ${INVENTED}`;
  return {
    source: STAND_IN_SOURCE,
    duplicates: 'ignore',
    rejectsMax: 0,
    overwrite: TICKS.has(input) || NEWEST.has(input),
    standIn: { description, historyDays: HISTORY_DAYS },
  };
}

/** A runner that is stopping leaves waiting jobs for the next start. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

async function dropOld(day: string, { ingestion, lake, runner }: ExchangeParts): Promise<void> {
  const input: FilledId = 'INTRADAY_PRICES';
  await runner.inTurn(CORE, input, async () => {
    const dataset = lake.directory.dataset(CORE, input);
    if (dataset === undefined || !isStandIn(dataset)) return;
    await eraseBefore(day, dataset, AUTHOR, ingestion);
  });
}
