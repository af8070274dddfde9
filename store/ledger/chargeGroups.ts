// Charges on their way to the catalog: gathered, and written in groups.
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../base/clock.ts';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Database } from '../catalog/database.ts';
import { GroupCommit } from '../queues/groupCommit.ts';
import type { LinesAlike } from './journal.ts';
import { addCharge, addCharges, newCharges, type WithCharge, writeUsage } from './usage.ts';

const SETTLE_WINDOW_MS = 50;
/** What somebody waits for, such as an alert, is written at once, but not more often than so. */
const AT_ONCE_MS = 5;
const WINDOW_CHARGES = 1_000;
/** A disk that refuses writes at the end is tried so often again, so long after each other. */
const CLOSE_AGAIN = 3;
const CLOSE_WAIT_MS = 300;

interface GroupParts {
  readonly database: Database;
  readonly at: AtCrashPoint;
  /** Told when a group could not be written; it stays and is tried again each second. */
  readonly onFault: (reason: unknown) => void;
}

export class ChargeGroups {
  readonly #parts: GroupParts;
  #waiting = newCharges();
  /** Of the group that is on its way. */
  #writing = 0;
  readonly #groups = new GroupCommit(() => this.#write());
  /** When a group was written last, monotonic. */
  #writtenMs = -Infinity;

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  /** Charges that are not known to be written. */
  get waiting(): number {
    return this.#writing + this.#waiting.lines.length;
  }

  /** @param isSoon somebody waits for it */
  add(
    line: LinesAlike,
    requestIds: readonly string[],
    also: WithCharge | undefined,
    isSoon: boolean,
  ): void {
    const windows = this.#windows;
    addCharge(this.#waiting, line, requestIds, also);
    // Once for each so many: where a disk refuses, more wait than a window has.
    const isFull = this.#windows > windows;
    this.#groups.soon(isFull ? 0 : isSoon ? this.#waitMs() : SETTLE_WINDOW_MS);
  }

  /** Writes all that waits. */
  flush(): Promise<void> {
    return this.#groups.flush();
  }

  /** Writes all that waits, or tries to; then nothing more. @returns charges that could not be written */
  async close(): Promise<number> {
    await this.flush();
    for (let again = 0; again < CLOSE_AGAIN && this.waiting > 0; again += 1) {
      await sleep(CLOSE_WAIT_MS);
      await this.flush();
    }
    this.#groups.stop();
    return this.waiting;
  }

  get #windows(): number {
    return Math.floor(this.#waiting.lines.length / WINDOW_CHARGES);
  }

  /** Until a group may be written at once again. */
  #waitMs(): number {
    return Math.max(0, this.#writtenMs + AT_ONCE_MS - monotonicMs());
  }

  async #write(): Promise<void> {
    const charges = this.#waiting;
    if (charges.lines.length === 0) return;
    this.#waiting = newCharges();
    this.#writtenMs = monotonicMs();
    this.#parts.at('charges-taken');
    try {
      this.#writing = charges.lines.length;
      await writeUsage(this.#parts.database, charges).finally(() => {
        this.#writing = 0;
      });
      this.#parts.at('charges-committed');
    } catch (error) {
      addCharges(charges, this.#waiting);
      this.#waiting = charges;
      this.#parts.onFault(error);
      this.#groups.soon(1_000);
    }
  }
}
