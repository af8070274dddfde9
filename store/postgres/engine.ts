// Implements the catalog's engine over PostgreSQL. One server holds the database. A broken connection is
// reopened; marks resolve the outcome of a commit whose answer was lost, which is never repeated.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import { monotonicMs } from '../base/clock.ts';
import { Unavailable, Failure, reasonOf } from '../base/failure.ts';
import type { Engine } from '../catalog/engine.ts';
import type { BatchStatement, StatementResult } from '../catalog/statements.ts';
import { beginHolding, type Holding, lockSchema, verifyHolding, LockLost } from './schemaLock.ts';
import { hasMark, insertMark } from './commitMarks.ts';
import {
  ServerDown,
  isTemporary,
  type PostgresConnection,
  ConnectionLost,
  openConnection,
  serverName,
} from './postgresConnection.ts';
import { toStatements } from './batchInsert.ts';

/** Maximum wait of a statement for an unavailable server. */
const AWAY_MS = 10_000;
const RETRY_DELAY_MS = 200;
/** PostgreSQL may need a moment to notice a closed connection. */
const TAKEN_MS = 1_000;
/** Interval of reconnects during an outage; requests in between fail immediately. */
const RECONNECT_INTERVAL_MS = 1_000;
/** Maximum wait for the outcome of a commit; nothing else may run before. */
const OUTCOME_MS = 300_000;

/** Message of a repeated failure; the first one has the reason. */
const RETRY_LATER = 'the catalog does not answer: please try again later';

/** Never resolves: the outcome is unknown, and the end of the process reports it. */
const unresolved = new Promise<never>(() => undefined);

const NOTHING: StatementResult = { rows: [], changed: { count: 0 } };

interface Transaction {
  readonly link: PostgresConnection;
  /** Number of its mark. */
  readonly number: number;
}

/** Interval of the server's connection checks, and the time without an answer after which it exits. */
interface Guard {
  readonly everyMs: number;
  readonly lostMs: number;
}

/** The server exits before PostgreSQL considers its session dead, a minute after the last sign of life. */
export const GUARD: Guard = { everyMs: 5_000, lostMs: 45_000 };

interface EngineOptions {
  /** Set where another server waits to replace this one. */
  readonly guard?: Guard;
  /** Called once another process holds the schema, or the stored state can't be determined. */
  readonly onTaken?: (error: Error) => void;
  /** Receives the reason of an outage; errors for callers then omit the address. */
  readonly onFault?: ((reason: unknown) => void) | undefined;
  /** Timeout of an answer; the connection counts as lost then. */
  readonly answerMs?: number | undefined;
  /** Maximum wait of a statement for an unavailable server, and of a start for the lock. */
  readonly awayMs?: number;
}

/** Engine of the one process that holds the schema: a server, or a command in its place. */
export class PostgresEngine implements Engine {
  readonly #settings: DatabaseSettings;
  readonly #onTaken: (error: Error) => void;
  readonly #onFault: ((reason: unknown) => void) | undefined;
  readonly #answerMs: number | undefined;
  readonly #awayMs: number;
  #link: PostgresConnection | undefined;
  #transaction: Transaction | undefined;
  #transactions = 0;
  /** The transaction lost its connection: it accepts no statements until it ends. */
  #isBroken = false;
  #outageSinceMs: number | undefined;
  #lastAttemptMs = -Infinity;
  /** Latest time at which PostgreSQL certainly held this engine's lock, or no lock at all. */
  #confirmedMs = monotonicMs();
  #watchTimer: NodeJS.Timeout | undefined;
  #linking: Promise<PostgresConnection> | undefined;
  #holding: Holding | undefined;
  /** How long a former lock may appear to belong to another session. */
  readonly #relockMs: number;

  private constructor(
    settings: DatabaseSettings,
    { answerMs, awayMs = AWAY_MS, guard, onFault, onTaken = throwLater }: EngineOptions,
  ) {
    this.#settings = settings;
    this.#onTaken = onTaken;
    this.#onFault = onFault;
    this.#answerMs = answerMs;
    this.#awayMs = awayMs;
    this.#relockMs = guard === undefined ? awayMs : TAKEN_MS;
  }

  /** @throws Failure Busy when another process holds the database, or the server is unreachable */
  static async open(
    settings: DatabaseSettings,
    options: EngineOptions = {},
  ): Promise<PostgresEngine> {
    const engine = new PostgresEngine(settings, options);
    engine.#link = await engine.#connect();
    if (options.guard !== undefined) engine.#watch(options.guard);
    return engine;
  }

  async write(pieces: readonly BatchStatement[]): Promise<StatementResult> {
    const [first] = pieces;
    if (first?.sql === 'commit') return this.#commit();
    if (first?.sql === 'rollback') return this.#rollback();
    if (this.#isBroken) throw this.#unavailable('the connection was lost in this transaction');
    if (this.#transaction !== undefined) return this.#send(this.#transaction.link, pieces);
    if (first?.sql === 'begin') return this.#begin(pieces.slice(1));
    const ran = await this.#begin(pieces).catch(async (error: unknown) => {
      await this.#rollback();
      throw error;
    });
    await this.#commit();
    return ran;
  }

  async read(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    try {
      return await (await this.#connectedLink()).run(sql, parameters);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw this.#mapError(error);
    }
    const link = await this.#connectedLink();
    return link.run(sql, parameters).catch((error: unknown) => {
      throw this.#mapError(error);
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#watchTimer);
    this.#watchTimer = undefined;
    await this.#link?.close();
  }

  /**
   * Checks the connection periodically. Checks queue behind other statements, so a long statement counts as
   * silence.
   */
  #watch({ everyMs, lostMs }: Guard): void {
    const check = (): void => {
      const sentMs = monotonicMs();
      if (sentMs - this.#confirmedMs > lostMs) {
        clearInterval(this.#watchTimer);
        const message = `PostgreSQL did not answer for ${lostMs} ms: another server may serve the catalog`;
        this.#onTaken(new Error(message));
        return;
      }
      // Reconnects even when no other caller needs the connection.
      this.#connectedLink()
        .then((link) => link.run('select 1', []))
        .then(
          () => (this.#confirmedMs = sentMs),
          () => undefined,
        );
    };
    this.#watchTimer = setInterval(check, everyMs).unref();
  }

  async #begin(pieces: readonly BatchStatement[]): Promise<StatementResult> {
    const link = await this.#connectedLink();
    // Until BEGIN is confirmed, no statement may run inside of the transaction.
    this.#isBroken = true;
    const number = (this.#transactions += 1);
    const begun = link.run('begin', []);
    await settleAll([begun, ...insertMark(link, number)], (error) => this.#mapError(error));
    this.#transaction = { link, number };
    this.#isBroken = link.isLost;
    return this.#send(link, pieces);
  }

  /** Sends all statements before the first is answered; the server refuses those after a failed one. */
  async #send(
    link: PostgresConnection,
    pieces: readonly BatchStatement[],
  ): Promise<StatementResult> {
    const statements = pieces.flatMap(toStatements);
    const sent = statements.map(({ parameters, sql }) => link.run(sql, parameters));
    const answers = await settleAll(sent, (error) => {
      this.#isBroken ||= error instanceof ConnectionLost;
      return this.#mapError(error);
    });
    return answers.at(-1) ?? NOTHING;
  }

  async #commit(): Promise<StatementResult> {
    const transaction = this.#transaction;
    const isWhole = !this.#isBroken;
    [this.#transaction, this.#isBroken] = [undefined, false];
    if (!isWhole || transaction === undefined) {
      throw this.#unavailable('the connection was lost before the commit');
    }
    try {
      const { command } = await transaction.link.run('commit', []);
      // A statement had failed, and the caller went on.
      if (command !== 'COMMIT')
        throw new Error('PostgreSQL undid a transaction: a part had failed');
      return NOTHING;
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw this.#mapError(error);
      if (await this.#isCommitted(transaction)) return NOTHING;
      throw this.#unavailable('the connection was lost at the commit');
    }
  }

  /** Looks up the outcome of a commit. The lock proves that the backend of the transaction has ended. */
  async #isCommitted({ number }: Transaction): Promise<boolean> {
    const untilMs = monotonicMs() + OUTCOME_MS;
    for (;;) {
      try {
        return await hasMark(await this.#connectedLink(), number);
      } catch (error) {
        // The new holder knows the outcome; this process has been stopped by `onTaken`.
        if (error instanceof LockLost) return unresolved;
      }
      if (monotonicMs() > untilMs) return this.#failUnresolved();
      await sleep(RETRY_DELAY_MS);
    }
  }

  /** Ends the process: the stored state is unknown, and the next start reads it. */
  #failUnresolved(): Promise<never> {
    const message = 'the outcome of a transaction is unknown: PostgreSQL is unavailable';
    this.#onTaken(new Error(message));
    return unresolved;
  }

  async #rollback(): Promise<StatementResult> {
    const transaction = this.#transaction;
    const link = transaction?.link ?? this.#link;
    this.#transaction = undefined;
    this.#isBroken = false;
    if (link === undefined || link.isLost) return NOTHING;
    // The server rolls back if it can no longer be reached.
    await link.run('rollback', []).catch((error: unknown) => {
      if (!(error instanceof ConnectionLost)) throw error;
    });
    return NOTHING;
  }

  async #connectedLink(): Promise<PostgresConnection> {
    if (this.#link?.isLost === false) return this.#link;
    // Two concurrent attempts would take the lock from each other.
    this.#linking ??= this.#retryConnect().finally(() => (this.#linking = undefined));
    return this.#linking;
  }

  async #retryConnect(): Promise<PostgresConnection> {
    const nowMs = monotonicMs();
    this.#outageSinceMs ??= nowMs;
    const untilMs = this.#outageSinceMs + this.#awayMs;
    if (nowMs > untilMs && nowMs - this.#lastAttemptMs < RECONNECT_INTERVAL_MS)
      throw new Unavailable(RETRY_LATER);
    for (;;) {
      try {
        this.#link = await this.#connect();
        this.#outageSinceMs = undefined;
        return this.#link;
      } catch (error) {
        this.#lastAttemptMs = monotonicMs();
        if (error instanceof ServerDown) this.#confirmedMs = this.#lastAttemptMs;
        if (error instanceof LockLost) {
          this.#onTaken(error);
          throw error;
        }
        // Also retries after a refusal: the server accepted this client before, and may again.
        if (this.#lastAttemptMs > untilMs) throw this.#unavailable(reasonOf(error));
        await sleep(RETRY_DELAY_MS);
      }
    }
  }

  /** Opens a connection and locks the schema, or locks it again. */
  async #connect(): Promise<PostgresConnection> {
    const settings = this.#settings;
    const link = await openConnection(settings, this.#answerMs, () => this.#reconnect());
    try {
      const waitMs = this.#holding === undefined ? this.#awayMs : this.#relockMs;
      await lockSchema(link, settings, this.#link?.backend, waitMs);
      if (this.#holding === undefined) this.#holding = await beginHolding(link, settings);
      else await verifyHolding(link, settings, this.#holding);
      return link;
    } catch (error) {
      await link.close();
      if (error instanceof ConnectionLost) throw this.#unavailable(reasonOf(error));
      if (error instanceof Failure) throw error;
      throw new Failure('Conflict', `${serverName(settings)}: ${reasonOf(error)}`);
    }
  }

  /** Reconnects immediately where another server waits: two servers might answer while the lock is free. */
  #reconnect(): void {
    if (this.#watchTimer !== undefined) void this.#relink();
  }

  /** Reconnects within the time that other servers wait before they take a free lock after an outage. */
  async #relink(): Promise<void> {
    while (this.#watchTimer !== undefined && this.#link?.isLost === true) {
      const error = await this.#connectedLink().catch((reason: unknown) => reason);
      if (error instanceof LockLost) return;
      await sleep(RETRY_DELAY_MS, undefined, { ref: false });
    }
  }

  #mapError(error: unknown): unknown {
    return error instanceof ConnectionLost || isTemporary(error)
      ? this.#unavailable(reasonOf(error))
      : error;
  }

  #unavailable(why: string): Unavailable {
    const { host, port } = this.#settings;
    const message = `PostgreSQL at ${host}:${port}: ${why}; nothing was written`;
    if (this.#onFault === undefined) return new Unavailable(message);
    this.#onFault(new Error(message));
    return new Unavailable(RETRY_LATER);
  }
}

/** Throws outside of any request, which ends the process. */
function throwLater(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

/** Waits for all, then throws the first failure after mapping: later failures only follow from it. */
async function settleAll<T extends readonly Promise<unknown>[] | []>(
  works: T,
  mapError: (error: unknown) => unknown,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(works);
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw mapError(failed.reason);
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as {
    -readonly [K in keyof T]: Awaited<T[K]>;
  };
}
