// What metering costs: the same read with it and without, and the ledger's charges against the same
// rows in bare group commits of node:sqlite.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Tapedeck } from '../api/main.ts';
import { billingDays } from '../store/billingDays.ts';
import type { Caller } from '../store/callers.ts';
import { systemClock } from '../store/clock.ts';
import { survive } from '../store/crashPoints.ts';
import { openDatabase } from '../store/database.ts';
import type { CallLine } from '../store/journal.ts';
import { Ledger } from '../store/ledger.ts';
import { migrate } from '../store/migrate.ts';
import { tierOf } from '../store/tiers.ts';
import { DEFAULT_SETTINGS } from '../store/tokens.ts';
import { type Ratio, ratioOf, timed } from './measure.ts';
import { startBench, tokenOf } from './stored.ts';

const READS = 1_500;
const READS_AT_ONCE = 8;
const CHARGES = 50_000;
/** Charges of one commit, as the ledger gathers them. */
const GROUP = 1_000;

export async function benchMoney(folder: string, pairs: number): Promise<readonly Ratio[]> {
  return [await benchMetering(folder, pairs), await benchLedger(folder, pairs)];
}

async function benchMetering(folder: string, pairs: number): Promise<Ratio> {
  const [on, off] = [await open(folder, 'on'), await open(folder, 'off')];
  try {
    const reads = (tapedeck: Tapedeck) => (): Promise<number> => timed(() => readAll(tapedeck));
    const bench = { name: 'read with metering', target: '>= 0.95 of metering off', pairs };
    const note = `${READS} reads of 5 records, ${READS_AT_ONCE} at once, over HTTP`;
    return { ...(await ratioOf(bench, reads(on), reads(off))), note };
  } finally {
    await Promise.all([on.close(), off.close()]);
  }
}

async function open(folder: string, metering: 'on' | 'off'): Promise<Tapedeck> {
  const settings = { TAPEDECK_METERING: metering };
  const tapedeck = await startBench(join(folder, `metering-${metering}`), settings);
  const rows = Array.from({ length: 5_000 }, (_, at) => {
    const day = new Date(Date.UTC(2010, 0, 1 + Math.floor(at / 50))).toISOString().slice(0, 10);
    return `S${at % 50},${day},${at}`;
  });
  const url = `${tapedeck.base}/v1/data/WS/D?wait=true&token=${await tokenOf(tapedeck, 'secret')}`;
  const answer = await fetch(url, { method: 'POST', body: `symbol,date,v\n${rows.join('\n')}\n` });
  if (!answer.ok) throw new Error(await answer.text());
  return tapedeck;
}

async function readAll(tapedeck: Tapedeck): Promise<void> {
  const token = await tokenOf(tapedeck, 'publishable');
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < READS; at = next++) {
      const answer = await fetch(`${tapedeck.base}/v1/data/WS/D/S${at % 50}?last=5&token=${token}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, worker));
}

async function benchLedger(folder: string, pairs: number): Promise<Ratio> {
  const bench = { name: 'ledger charges', target: '>= 0.5 of bare group commits', pairs };
  const ours = (round: number): Promise<number> => chargeAll(join(folder, `ledger-${round}.db`));
  const bare = (round: number): Promise<number> => insertAll(join(folder, `bare-${round}.db`));
  const note = `${CHARGES} charges: hold, settle, counters, balance and journal; groups of ${GROUP}`;
  return { ...(await ratioOf(bench, ours, bare)), note };
}

const ids = { accountId: 'a0123456789abcdef', kind: 'secret' } as const;

async function chargeAll(path: string): Promise<number> {
  const database = openDatabase(path);
  await migrate(database);
  const days = billingDays('America/New_York');
  const onFault = (reason: unknown): void => {
    throw reason;
  };
  const ledger = await Ledger.open({ database, clock: systemClock, days, at: survive, onFault });
  const callers = Array.from({ length: 20 }, (_, at) => callerOf(`t${at}`));
  const ms = await timed(async () => {
    for (let at = 0; at < CHARGES; at += 1) {
      const order = { ...named(at), weight: 1, premium: false };
      const caller = callers[at % callers.length] ?? callerOf('t');
      ledger.settle(ledger.hold(caller, order, 10), 5).delivered();
      if (at % GROUP === GROUP - 1) await ledger.flush();
    }
  });
  await database.destroy();
  return ms;
}

const named = (at: number): Pick<CallLine, 'requestId' | 'endpoint' | 'usageKey'> => ({
  requestId: `r${at}`,
  endpoint: 'queryData',
  usageKey: `WS.D${at % 10}`,
});

/** A caller of whom nothing is refused. */
function callerOf(tokenId: string): Caller {
  const tier = { ...tierOf('scale'), messagesMonthly: Number.MAX_SAFE_INTEGER };
  const account = {
    ...{ accountId: ids.accountId, name: '', tier, payAsYouGo: true, suspended: false },
    ...{ circuitBreaker: undefined, budget: undefined, premiumMessages: 0, grants: [] },
    ...{ defaultWorkspace: undefined, createdMs: 0 },
  };
  const made = { test: false, signed: false, createdMs: 0, lastUsedMs: undefined };
  return {
    ...ids,
    tokenId,
    tier,
    account,
    token: { ...DEFAULT_SETTINGS, ...ids, tokenId, ...made },
  };
}

/** The lines of the journal as rows, and nothing else: what any ledger must at least write. */
async function insertAll(path: string): Promise<number> {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec(`CREATE TABLE call (request_id TEXT, time_ms INTEGER, month TEXT, account_id TEXT,
    token_id TEXT, endpoint TEXT, usage_key TEXT, objects INTEGER, weight INTEGER,
    messages INTEGER, premium INTEGER)`);
  const insert = database.prepare('INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const ms = await timed(async () => {
    for (let from = 0; from < CHARGES; from += GROUP) {
      database.exec('BEGIN');
      for (let at = from; at < from + GROUP; at += 1) {
        const { requestId, endpoint, usageKey } = named(at);
        const who = [ids.accountId, `t${at % 20}`, endpoint, usageKey];
        insert.run(requestId, Date.UTC(2026, 0, 1) + at, '202601', ...who, 5, 1, 5, 0);
      }
      database.exec('COMMIT');
    }
  });
  database.close();
  return ms;
}
