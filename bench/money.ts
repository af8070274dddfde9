// Measures the cost of metering: the same read with and without it, and the ledger's charges against the same
// rows in bare group commits of node:sqlite.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { billingDays } from '../store/ledger/billingDays.ts';
import type { Caller } from '../store/accounts/callers.ts';
import { systemClock } from '../store/base/clock.ts';
import { survive } from '../store/base/crashPoints.ts';
import { openDatabase } from '../store/sqlite/sqliteDatabase.ts';
import type { CallLine } from '../store/ledger/journal.ts';
import { Ledger } from '../store/ledger/ledger.ts';
import type { Database } from '../store/catalog/database.ts';
import { migrate } from '../store/catalog/migrate.ts';
import { findTier } from '../store/accounts/tiers.ts';
import { DEFAULT_SETTINGS } from '../store/accounts/tokens.ts';
import { warmCache, CONNECTIONS, driveReads, readPaths } from './hot/hotReads.ts';
import { byPace, openClient } from './http/clientProcess.ts';
import { serveFilled } from './http/server.ts';
import { type Ratio, measureRatio, type Measurement, measureMs } from './base/measure.ts';
import { fillDaily } from './base/stored.ts';

const SYMBOLS = 500;
const DAYS = 250;
const CHARGES = 50_000;
/** Charges per commit, as in the ledger. */
const GROUP = 1_000;

export async function benchMoney(folder: string, pairs: number): Promise<readonly Ratio[]> {
  return [await benchMetering(folder, pairs), await benchLedger(folder, pairs)];
}

/** Measures reads from memory, where metering is the largest share of the cost. */
async function benchMetering(folder: string, pairs: number): Promise<Ratio> {
  await using stack = new AsyncDisposableStack();
  const client = stack.use(openClient());
  const open = async (metering: 'on' | 'off'): Promise<() => Promise<Measurement>> => {
    const place = join(folder, `metering-${metering}`);
    const settings = { TAPEDECK_METERING: metering };
    const { server } = await serveFilled(place, settings, (tapedeck) =>
      fillDaily(tapedeck, folder, 'D', DAYS * SYMBOLS, SYMBOLS),
    );
    stack.use(server);
    const { publishable: token } = server;
    const paths = readPaths({ dataset: 'D', symbols: SYMBOLS, records: 30, days: DAYS, token });
    await warmCache(client, server, paths);
    return async () => byPace(await driveReads(client, server, paths));
  };
  const [on, off] = [await open('on'), await open('off')];
  const bench = { name: 'hot read with metering', target: '>= 0.95 of metering off', pairs };
  const note = `milliseconds by answers of 30 records, ${CONNECTIONS} connections`;
  return { ...(await measureRatio(bench, on, off)), note };
}

async function benchLedger(folder: string, pairs: number): Promise<Ratio> {
  const bench = { name: 'ledger charges', target: '>= 0.5 of bare group commits', pairs };
  const ours = (round: number): Promise<number> => chargeAll(join(folder, `ledger-${round}.db`));
  const bare = (round: number): Promise<number> => insertAll(join(folder, `bare-${round}.db`));
  const note = `${CHARGES} charges: hold, settle, counters, balance and journal; groups of ${GROUP}`;
  return { ...(await measureRatio(bench, ours, bare)), note };
}

interface OpenLedger {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly onFault: (reason: unknown) => void;
}

const ids = { accountId: 'a0123456789abcdef', kind: 'secret' } as const;

/** Opens a ledger in a new catalog; its failures are thrown. */
export async function openLedger(path: string): Promise<OpenLedger> {
  const database = openDatabase(path);
  await migrate(database);
  const days = billingDays('America/New_York');
  const onFault = (reason: unknown): void => {
    throw reason;
  };
  const ledger = await Ledger.open({ database, clock: systemClock, days, at: survive, onFault });
  return { database, ledger, onFault };
}

async function chargeAll(path: string): Promise<number> {
  const { database, ledger } = await openLedger(path);
  const callers = Array.from({ length: 20 }, (_, at) => callerOf(`t${at}`));
  const ms = await measureMs(async () => {
    for (let at = 0; at < CHARGES; at += 1) {
      const order = { ...callLine(at), weight: 1, premium: false };
      const caller = callers[at % callers.length] ?? callerOf('t');
      ledger.settle(ledger.hold(caller, order, 10), 5).confirm();
      if (at % GROUP === GROUP - 1) await ledger.flush();
    }
  });
  await database.destroy();
  return ms;
}

const callLine = (at: number): Pick<CallLine, 'requestId' | 'endpoint' | 'usageKey'> => ({
  requestId: `r${at}`,
  endpoint: 'queryData',
  usageKey: `WS.D${at % 10}`,
});

/** Builds a caller without limits. */
export function callerOf(tokenId: string): Caller {
  const tier = { ...findTier('scale'), messagesMonthly: Number.MAX_SAFE_INTEGER };
  const account = {
    accountId: ids.accountId,
    name: '',
    tier,
    payAsYouGo: true,
    suspended: false,
    circuitBreaker: undefined,
    budget: undefined,
    ceiling: undefined,
    premiumMessages: 0,
    grants: [],
    defaultWorkspace: undefined,
    createdMs: 0,
  };
  const timestamps = { test: false, signed: false, createdMs: 0, lastUsedMs: undefined };
  return {
    ...ids,
    tokenId,
    tier,
    account,
    token: { ...DEFAULT_SETTINGS, ...ids, tokenId, ...timestamps },
  };
}

/** Inserts only the journal rows, the minimum that any ledger must write. */
async function insertAll(path: string): Promise<number> {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec(`CREATE TABLE call (request_id TEXT, time_ms INTEGER, month TEXT, account_id TEXT,
    token_id TEXT, endpoint TEXT, usage_key TEXT, objects INTEGER, weight INTEGER,
    messages INTEGER, premium INTEGER)`);
  const insert = database.prepare('INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const ms = await measureMs(async () => {
    for (let from = 0; from < CHARGES; from += GROUP) {
      database.exec('BEGIN');
      for (let at = from; at < from + GROUP; at += 1) {
        const { requestId, endpoint, usageKey } = callLine(at);
        const caller = [ids.accountId, `t${at % 20}`, endpoint, usageKey];
        insert.run(requestId, Date.UTC(2026, 0, 1) + at, '202601', ...caller, 5, 1, 5, 0);
      }
      database.exec('COMMIT');
    }
  });
  database.close();
  return ms;
}
