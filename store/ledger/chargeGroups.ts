// Collects charges and writes them to the catalog in groups.
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../base/clock.ts';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Database } from '../catalog/database.ts';
import { GroupCommit } from '../queues/groupCommit.ts';
import type { LineTemplate } from './journal.ts';
import { addCharge, addCharges, newCharges, type ChargeAttachment, writeUsage } from './usage.ts';

const SETTLE_WINDOW_MS = 50;
/** Minimum interval of urgent groups, which callers wait for, such as alerts. */
const URGENT_INTERVAL_MS = 5;
const WINDOW_CHARGES = 1_000;
/** Attempts, and the delay between them, to write the last charges to a failing disk on close. */
const CLOSE_ATTEMPTS = 3;
const CLOSE_RETRY_DELAY_MS = 300;

interface GroupParts {
  readonly database: Database;
  readonly at: AtCrashPoint;
  /** Called when a group could not be written; the group is retried each second. */
  readonly onFault: (reason: unknown) => void;
}

export class ChargeGroups {
  readonly #parts: GroupParts;
  #pending = newCharges();
  /** Charges of the group that is being written. */
  #writing = 0;
  readonly #groups = new GroupCommit(() => this.#write());
  /** Monotonic time of the latest write. */
  #writtenMs = -Infinity;

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  /** Charges that are not certainly written. */
  get pending(): number {
    return this.#writing + this.#pending.lines.length;
  }

  /** @param isUrgent a caller waits for the write */
  add(
    line: LineTemplate,
    requestIds: readonly string[],
    attachment: ChargeAttachment | undefined,
    isUrgent: boolean,
  ): void {
    const windows = this.#windows;
    addCharge(this.#pending, line, requestIds, attachment);
    // Flushes once per full window: while a disk fails, more charges wait than one window has.
    const isFull = this.#windows > windows;
    this.#groups.schedule(isFull ? 0 : isUrgent ? this.#waitMs() : SETTLE_WINDOW_MS);
  }

  /** Writes all pending charges. */
  flush(): Promise<void> {
    return this.#groups.flush();
  }

  /** Tries to write all pending charges, then stops. @returns charges that could not be written */
  async close(): Promise<number> {
    await this.flush();
    for (let attempt = 0; attempt < CLOSE_ATTEMPTS && this.pending > 0; attempt += 1) {
      await sleep(CLOSE_RETRY_DELAY_MS);
      await this.flush();
    }
    this.#groups.stop();
    return this.pending;
  }

  get #windows(): number {
    return Math.floor(this.#pending.lines.length / WINDOW_CHARGES);
  }

  /** Time until the next urgent group may be written. */
  #waitMs(): number {
    return Math.max(0, this.#writtenMs + URGENT_INTERVAL_MS - monotonicMs());
  }

  async #write(): Promise<void> {
    const charges = this.#pending;
    if (charges.lines.length === 0) return;
    this.#pending = newCharges();
    this.#writtenMs = monotonicMs();
    this.#parts.at('charges-taken');
    try {
      this.#writing = charges.lines.length;
      await writeUsage(this.#parts.database, charges).finally(() => {
        this.#writing = 0;
      });
      this.#parts.at('charges-committed');
    } catch (error) {
      addCharges(charges, this.#pending);
      this.#pending = charges;
      this.#parts.onFault(error);
      this.#groups.schedule(1_000);
    }
  }
}
