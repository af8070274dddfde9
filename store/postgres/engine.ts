// The catalog's engine over PostgreSQL. One server holds the database; a connection that breaks is made
// anew, and what became of a commit whose answer was lost is looked up, never tried again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import { monotonicMs } from '../base/clock.ts';
import { Away, Failure, reasonOf } from '../base/failure.ts';
import type { Engine } from '../catalog/engine.ts';
import type { Piece, Ran } from '../catalog/statements.ts';
import { beginHolding, type Holding, lockSchema, sameHolding, Taken } from './hold.ts';
import { hasMark, leaveMark } from './commitMarks.ts';
import { Down, isForNow, type Link, Lost, openLink, serverName } from './link.ts';
import { statementsOf } from './manyRows.ts';

/** How long a statement waits for a server that is away, before it is refused. */
const AWAY_MS = 10_000;
const AGAIN_MS = 200;
/** PostgreSQL may need a moment to see that a connection is gone. */
const TAKEN_MS = 1_000;
/** While it is away, one more try each so often: who comes meanwhile is refused at once. */
const LOOK_AGAIN_MS = 1_000;
/** For what became of a commit: nothing else may be done before that is known. */
const OUTCOME_MS = 300_000;

/** It was told why a moment ago. */
const AGAIN = 'the catalog does not answer: please try again later';

/** Whether it was done or not would be a guess: that is told by the end of the process. */
const ends = new Promise<never>(() => undefined);

const NOTHING: Ran = { rows: [], changed: { count: 0 } };

interface Transaction {
  readonly link: Link;
  /** Of its mark. */
  readonly number: number;
}

/** How often a server asks whether it is connected, and after how long without an answer it ends. */
interface Guard {
  readonly everyMs: number;
  readonly lostMs: number;
}

/** It ends before PostgreSQL takes its session for dead, which is a minute after its last sign of life. */
export const GUARD: Guard = { everyMs: 5_000, lostMs: 45_000 };

interface EngineOptions {
  /** Where another server waits to take this one's place. */
  readonly guard?: Guard;
  /** Told once another process holds what this one had and lost, or nobody can say what is stored. */
  readonly onTaken?: (error: Error) => void;
  /** Told why it is away; then callers are told nothing of where it is. */
  readonly onFault?: ((reason: unknown) => void) | undefined;
  /** What is silent for longer is lost. */
  readonly answerMs?: number | undefined;
  /** How long a statement waits for a server that is away, and a start for its lock. */
  readonly awayMs?: number;
}

/** What a server, or a command in its place, holds alone. */
export class PostgresEngine implements Engine {
  readonly #settings: DatabaseSettings;
  readonly #onTaken: (error: Error) => void;
  readonly #onFault: ((reason: unknown) => void) | undefined;
  readonly #answerMs: number | undefined;
  readonly #awayMs: number;
  #link: Link | undefined;
  #transaction: Transaction | undefined;
  #transactions = 0;
  /** It began and its connection is gone: it takes nothing more until it is ended. */
  #isBroken = false;
  #awaySinceMs: number | undefined;
  #lookedMs = -Infinity;
  /** When PostgreSQL was known last to hold this one's lock, or to hold nobody's. */
  #heardMs = monotonicMs();
  #watching: NodeJS.Timeout | undefined;
  #linking: Promise<Link> | undefined;
  #holding: Holding | undefined;
  /** How long a lock that was this one's may be another's. */
  readonly #takenMs: number;

  private constructor(
    settings: DatabaseSettings,
    { answerMs, awayMs = AWAY_MS, guard, onFault, onTaken = thrown }: EngineOptions,
  ) {
    this.#settings = settings;
    this.#onTaken = onTaken;
    this.#onFault = onFault;
    this.#answerMs = answerMs;
    this.#awayMs = awayMs;
    this.#takenMs = guard === undefined ? awayMs : TAKEN_MS;
  }

  /** @throws Failure Busy when another process holds the database, or there is none to be reached */
  static async open(
    settings: DatabaseSettings,
    options: EngineOptions = {},
  ): Promise<PostgresEngine> {
    const engine = new PostgresEngine(settings, options);
    engine.#link = await engine.#opened();
    if (options.guard !== undefined) engine.#watch(options.guard);
    return engine;
  }

  async write(pieces: readonly Piece[]): Promise<Ran> {
    const [first] = pieces;
    if (first?.sql === 'commit') return this.#commit();
    if (first?.sql === 'rollback') return this.#rollback();
    if (this.#isBroken) throw this.#away('the connection was lost in this transaction');
    if (this.#transaction !== undefined) return this.#send(this.#transaction.link, pieces);
    if (first?.sql === 'begin') return this.#begin(pieces.slice(1));
    const ran = await this.#begin(pieces).catch(async (error: unknown) => {
      await this.#rollback();
      throw error;
    });
    await this.#commit();
    return ran;
  }

  async read(sql: string, parameters: readonly unknown[]): Promise<Ran> {
    try {
      return await (await this.#linked()).run(sql, parameters);
    } catch (error) {
      if (!(error instanceof Lost)) throw this.#told(error);
    }
    const link = await this.#linked();
    return link.run(sql, parameters).catch((error: unknown) => {
      throw this.#told(error);
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#watching);
    this.#watching = undefined;
    await this.#link?.close();
  }

  /** Beside all else: what it asks is answered in its turn, so that a long statement counts as silence. */
  #watch({ everyMs, lostMs }: Guard): void {
    const look = (): void => {
      const askedMs = monotonicMs();
      if (askedMs - this.#heardMs > lostMs) {
        clearInterval(this.#watching);
        const told = `PostgreSQL was not heard for ${lostMs} ms: another server may serve the catalog`;
        this.#onTaken(new Error(told));
        return;
      }
      // Also where nobody else asks for anything, it is connected again.
      this.#linked()
        .then((link) => link.run('select 1', []))
        .then(
          () => (this.#heardMs = askedMs),
          () => undefined,
        );
    };
    this.#watching = setInterval(look, everyMs).unref();
  }

  async #begin(pieces: readonly Piece[]): Promise<Ran> {
    const link = await this.#linked();
    // Until it is known to have begun, nothing may run as if it had.
    this.#isBroken = true;
    const number = (this.#transactions += 1);
    const begun = link.run('begin', []);
    await all([begun, ...leaveMark(link, number)], (error) => this.#told(error));
    this.#transaction = { link, number };
    this.#isBroken = link.isLost;
    return this.#send(link, pieces);
  }

  /** All are sent before the first is answered; what follows one that failed is refused. */
  async #send(link: Link, pieces: readonly Piece[]): Promise<Ran> {
    const statements = pieces.flatMap(statementsOf);
    const sent = statements.map(({ parameters, sql }) => link.run(sql, parameters));
    const answers = await all(sent, (error) => {
      this.#isBroken ||= error instanceof Lost;
      return this.#told(error);
    });
    return answers.at(-1) ?? NOTHING;
  }

  async #commit(): Promise<Ran> {
    const transaction = this.#transaction;
    const isWhole = !this.#isBroken;
    [this.#transaction, this.#isBroken] = [undefined, false];
    if (!isWhole || transaction === undefined) {
      throw this.#away('the connection was lost before the commit');
    }
    try {
      const { command } = await transaction.link.run('commit', []);
      // A statement had failed, and whoever asked for it went on.
      if (command !== 'COMMIT')
        throw new Error('PostgreSQL undid a transaction: a part had failed');
      return NOTHING;
    } catch (error) {
      if (!(error instanceof Lost)) throw this.#told(error);
      if (await this.#isCommitted(transaction)) return NOTHING;
      throw this.#away('the connection was lost at the commit');
    }
  }

  /** The lock says that the backend which had the transaction has ended: its fate is settled. */
  async #isCommitted({ number }: Transaction): Promise<boolean> {
    const untilMs = monotonicMs() + OUTCOME_MS;
    for (;;) {
      try {
        return await hasMark(await this.#linked(), number);
      } catch (error) {
        // Whoever took this one's place knows it, and has told this one to end.
        if (error instanceof Taken) return ends;
      }
      if (monotonicMs() > untilMs) return this.#unknown();
      await sleep(AGAIN_MS);
    }
  }

  /** Nobody can say any more what is stored: the process ends, and its next start looks. */
  #unknown(): Promise<never> {
    const told = 'what became of a transaction is not known: PostgreSQL is away';
    this.#onTaken(new Error(told));
    return ends;
  }

  async #rollback(): Promise<Ran> {
    const transaction = this.#transaction;
    const link = transaction?.link ?? this.#link;
    this.#transaction = undefined;
    this.#isBroken = false;
    if (link === undefined || link.isLost) return NOTHING;
    // Undone by the server, if this no longer reaches it.
    await link.run('rollback', []).catch((error: unknown) => {
      if (!(error instanceof Lost)) throw error;
    });
    return NOTHING;
  }

  async #linked(): Promise<Link> {
    if (this.#link?.isLost === false) return this.#link;
    // Two at once would take the lock from each other.
    this.#linking ??= this.#again().finally(() => (this.#linking = undefined));
    return this.#linking;
  }

  async #again(): Promise<Link> {
    const nowMs = monotonicMs();
    this.#awaySinceMs ??= nowMs;
    const untilMs = this.#awaySinceMs + this.#awayMs;
    if (nowMs > untilMs && nowMs - this.#lookedMs < LOOK_AGAIN_MS) throw new Away(AGAIN);
    for (;;) {
      try {
        this.#link = await this.#opened();
        this.#awaySinceMs = undefined;
        return this.#link;
      } catch (error) {
        this.#lookedMs = monotonicMs();
        if (error instanceof Down) this.#heardMs = this.#lookedMs;
        if (error instanceof Taken) {
          this.#onTaken(error);
          throw error;
        }
        // Also one that refuses this one: it let it in before, and may again.
        if (this.#lookedMs > untilMs) throw this.#away(reasonOf(error));
        await sleep(AGAIN_MS);
      }
    }
  }

  /** A connection that holds the schema, as this one held it before. */
  async #opened(): Promise<Link> {
    const settings = this.#settings;
    const link = await openLink(settings, this.#answerMs, () => this.#lost());
    try {
      const waitMs = this.#holding === undefined ? this.#awayMs : this.#takenMs;
      await lockSchema(link, settings, this.#link?.backend, waitMs);
      if (this.#holding === undefined) this.#holding = await beginHolding(link, settings);
      else await sameHolding(link, settings, this.#holding);
      return link;
    } catch (error) {
      await link.close();
      if (error instanceof Lost) throw this.#away(reasonOf(error));
      if (error instanceof Failure) throw error;
      throw new Failure('Conflict', `${serverName(settings)}: ${reasonOf(error)}`);
    }
  }

  /** Where another server waits, each moment without the lock is one in which both answer. */
  #lost(): void {
    if (this.#watching !== undefined) void this.#relink();
  }

  /** Others wait before they take a free lock after an outage: until then this one is back. */
  async #relink(): Promise<void> {
    while (this.#watching !== undefined && this.#link?.isLost === true) {
      const error = await this.#linked().catch((reason: unknown) => reason);
      if (error instanceof Taken) return;
      await sleep(AGAIN_MS, undefined, { ref: false });
    }
  }

  #told(error: unknown): unknown {
    return error instanceof Lost || isForNow(error) ? this.#away(reasonOf(error)) : error;
  }

  #away(why: string): Away {
    const { host, port } = this.#settings;
    const told = `PostgreSQL at ${host}:${port}: ${why}; nothing was written`;
    if (this.#onFault === undefined) return new Away(told);
    this.#onFault(new Error(told));
    return new Away(AGAIN);
  }
}

/** Outside of every request: the process ends. */
function thrown(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

/** Waits for all, then throws the first failure, as it is told: those behind it only followed from it. */
async function all<T extends readonly Promise<unknown>[] | []>(
  works: T,
  told: (error: unknown) => unknown,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(works);
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw told(failed.reason);
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as {
    -readonly [K in keyof T]: Awaited<T[K]>;
  };
}
