// Stores keys of writes (`Idempotency-Key`): a repeated request with the same key is not executed again. A
// key is stored in the transaction of its write, so that neither exists without the other, even after a
// crash.
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import type { Database } from '../catalog/database.ts';
import type { BatchStatement } from '../catalog/statements.ts';
import { insertEach, toBatchStatement } from '../catalog/statementBatch.ts';
import { serialQueue } from '../queues/serialQueue.ts';

/** Limit of stored keys of one account. */
export const KEYS_MAX = 100_000;
export const KEY_LIFETIME_MS = 86_400_000;
/** Interval after which the keys of an account are counted again. */
const RECOUNT_INTERVAL_MS = 60_000;
/** Limit of requests that wait for an earlier one with the same key. */
const WAITING_MAX = 100;
/** Limit of characters of a stored answer. */
const ANSWER_CHARACTERS_MAX = 65_536;

export interface WriteKey {
  readonly accountId: string;
  readonly key: string;
  /** SHA-256 of the request: a key belongs to one request. */
  readonly fingerprint: string;
  readonly workspace: string;
  readonly dataset: string;
}

interface SerialLine {
  readonly run: ReturnType<typeof serialQueue>;
  size: number;
}

export class WriteKeys {
  readonly #database: Database;
  readonly #clock: Clock;
  /** Running and waiting requests, by account and key. */
  readonly #lines = new Map<string, SerialLine>();
  readonly #counts = new Map<string, { count: number; readonly atMs: number }>();

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Runs requests with the same key one after the other. @throws Failure Busy when too many wait. */
  async runSerially<T>(accountId: string, key: string, work: () => Promise<T>): Promise<T> {
    const name = `${accountId} ${key}`;
    const line = this.#lines.get(name) ?? { run: serialQueue(), size: 0 };
    if (line.size > WAITING_MAX) {
      throw new Failure('Busy', `${WAITING_MAX} requests with this Idempotency-Key are waiting`);
    }
    line.size += 1;
    this.#lines.set(name, line);
    try {
      return await line.run(work);
    } finally {
      line.size -= 1;
      if (line.size === 0) this.#lines.delete(name);
    }
  }

  /**
   * Returns the stored answer of the same request; undefined for a new key.
   * @throws Failure Conflict when another request has the key; TooManyRequests at the limit of keys.
   */
  async find({ accountId, fingerprint, key }: WriteKey): Promise<unknown> {
    const row = await this.#database
      .selectFrom('write_key')
      .select(['fingerprint', 'answer'])
      .where('account_id', '=', accountId)
      .where('write_key', '=', key)
      .where('created_ms', '>', this.#clock() - KEY_LIFETIME_MS)
      .executeTakeFirst();
    if (row === undefined) return this.#checkRoom(accountId);
    if (row.fingerprint === fingerprint) return JSON.parse(row.answer);
    const rule = 'send another request with another key';
    throw new Failure('Conflict', `Idempotency-Key was used for another request: ${rule}`);
  }

  /** Builds the statements for the write's transaction. @throws Failure TooLarge for a long answer. */
  pieces(key: WriteKey, stored: object): readonly BatchStatement[] {
    const answer = JSON.stringify(stored);
    if (answer.length > ANSWER_CHARACTERS_MAX) {
      const most = `${ANSWER_CHARACTERS_MAX} characters, the most that is stored for an Idempotency-Key`;
      throw new Failure('TooLarge', `the answer is over ${most}: send the request without it`);
    }
    const cached = this.#counts.get(key.accountId);
    if (cached !== undefined) cached.count += 1;
    const expired = this.#database
      .deleteFrom('write_key')
      .where('account_id', '=', key.accountId)
      .where('write_key', '=', key.key);
    const row = {
      account_id: key.accountId,
      write_key: key.key,
      fingerprint: key.fingerprint,
      answer,
      workspace: key.workspace.toUpperCase(),
      dataset: key.dataset.toUpperCase(),
      created_ms: this.#clock(),
    };
    return [toBatchStatement(expired), ...insertEach(this.#database, 'write_key', [row])];
  }

  /** Removes keys that are over a day old. */
  async expire(): Promise<void> {
    const beforeMs = this.#clock() - KEY_LIFETIME_MS;
    await this.#database.deleteFrom('write_key').where('created_ms', '<=', beforeMs).execute();
  }

  async #checkRoom(accountId: string): Promise<undefined> {
    const nowMs = this.#clock();
    let cached = this.#counts.get(accountId);
    if (cached === undefined || Math.abs(nowMs - cached.atMs) > RECOUNT_INTERVAL_MS) {
      const row = await this.#database
        .selectFrom('write_key')
        .select((select) => [select.fn.countAll().as('count')])
        .where('account_id', '=', accountId)
        .executeTakeFirst();
      cached = { count: Number(row?.count ?? 0), atMs: nowMs };
      this.#counts.set(accountId, cached);
    }
    if (cached.count < KEYS_MAX) return undefined;
    const what = `the account has ${KEYS_MAX} Idempotency-Key values of the last day`;
    const rule = 'the most that are stored: try again later, or send requests without one';
    throw new Failure('TooManyRequests', `${what}, ${rule}`);
  }
}

/** Removes stored answers of a dataset; runs in the transaction of a purge. */
export async function purgeWriteKeys(
  transaction: Database,
  { dataset, workspace }: { readonly workspace: string; readonly dataset: string },
): Promise<void> {
  await transaction
    .deleteFrom('write_key')
    .where('workspace', '=', workspace.toUpperCase())
    .where('dataset', '=', dataset.toUpperCase())
    .execute();
}
