// The lake's monotonic clock, for versions and pushed records. When the machine's clock goes back, the lake's
// clock continues at the same pace, ahead of it. A mark records since when and by how much, because users
// specify times of the machine's clock.
import { parseCatalogTime } from './catalogTime.ts';
import { type Clock, isoTime } from '../base/clock.ts';
import type { Database } from './database.ts';
import { Failure } from '../base/failure.ts';

/** A clock that is further behind the latest commit has gone back; a smaller step is a correction. */
export const CLOCK_BEHIND_MS = 5_000;
/** Limit of stored marks, for a clock that jumps all the time. The oldest are deleted. */
const MARKS_MAX = 1_000;

/** The offset of the lake's clock from a time of the machine's clock on. */
interface Mark {
  readonly wallMs: number;
  readonly offsetMs: number;
}

/** The machine's clock is behind the latest commit. */
interface ClockBack {
  /** The machine's time. */
  readonly clock: string;
  /** The time of the latest commit or push. */
  readonly committed: string;
  readonly behindMs: number;
}

interface Rules {
  /** `mark` continues; `refuse` refuses commits and pushes while the clock is behind. */
  readonly onBack: 'mark' | 'refuse';
  readonly onClockBack: (back: ClockBack) => void;
}

export class LakeClock {
  readonly #wall: Clock;
  readonly #rules: Rules;
  #marks: readonly Mark[];
  /** Marks that no commit has written yet. */
  #unwritten: readonly Mark[] = [];
  #nextId: number;
  #lastMs: number;
  /** A clock that stays behind is reported once. */
  #isReported = false;

  private constructor(
    wall: Clock,
    rules: Rules,
    state: { marks: readonly Mark[]; nextId: number; lastMs: number },
  ) {
    this.#wall = wall;
    this.#rules = rules;
    this.#marks = state.marks;
    this.#nextId = state.nextId;
    this.#lastMs = state.lastMs;
  }

  /** Continues from the latest commit, push or pushed record of the catalog. */
  static async open(database: Database, wall: Clock, rules: Rules): Promise<LakeClock> {
    const rows = await database.selectFrom('clock_mark').selectAll().orderBy('mark_id').execute();
    const marks = rows.map((row) => ({ wallMs: row.wall_ms, offsetMs: row.offset_ms }));
    const nextId = Number(rows.at(-1)?.mark_id ?? 0) + 1;
    const clock = new LakeClock(wall, rules, {
      marks,
      nextId,
      lastMs: await readLastTime(database),
    });
    await clock.updateMarks(database);
    return clock;
  }

  /** A clock for a process that neither writes nor reads earlier versions. */
  static readOnly(wall: Clock): LakeClock {
    const rules: Rules = { onBack: 'mark', onClockBack: () => undefined };
    return new LakeClock(wall, rules, { marks: [], nextId: 1, lastMs: 0 });
  }

  /** How far the lake's clock is ahead of the machine's. */
  get aheadMs(): number {
    return Math.max(0, this.now() - this.#wall());
  }

  /** The current time, without advancing the clock. */
  now(): number {
    return Math.max(this.#wall() + this.#offsetMs(), this.#lastMs);
  }

  /**
   * Advances the clock to an unused time.
   * @throws Failure Busy if the machine's clock went back and the rule is `refuse`.
   */
  next(): number {
    const back = this.#checkWallClock();
    if (back !== undefined) throw clockBackFailure(back);
    this.#lastMs = Math.max(this.#wall() + this.#offsetMs(), this.#lastMs + 1);
    return this.#lastMs;
  }

  /**
   * Detects that the machine's clock went back, or is right again, and stores a mark with the time of the
   * detection: the earlier it is, the fewer times are ambiguous.
   */
  async updateMarks(database: Database): Promise<void> {
    this.#checkWallClock();
    if (this.#unwritten.length === 0) return;
    const confirm = await database.transaction().execute((inside) => this.writeMarks(inside));
    confirm();
  }

  /** Marks a clock that went back. @returns how far it is behind, if the rule is `refuse` */
  #checkWallClock(): ClockBack | undefined {
    const back = this.#clockBack();
    const wallMs = this.#wall();
    if (back === undefined) {
      this.#isReported = false;
      if (this.#offsetMs() > 0 && wallMs > this.#lastMs) this.#addMark({ wallMs, offsetMs: 0 });
      return undefined;
    }
    if (!this.#isReported) this.#rules.onClockBack(back);
    this.#isReported = true;
    if (this.#rules.onBack === 'refuse') return back;
    this.#addMark({ wallMs, offsetMs: this.#lastMs + 1 - wallMs });
    return undefined;
  }

  /**
   * Writes the marks in the transaction that stores a time of this clock. If it is rolled back, the next one
   * writes them.
   * @returns a function to call after the commit
   */
  async writeMarks(transaction: Database): Promise<() => void> {
    const marks = this.#unwritten;
    if (marks.length === 0) return () => undefined;
    const first = this.#nextId - marks.length;
    const rows = marks.map(({ offsetMs, wallMs }, at) => ({
      mark_id: first + at,
      wall_ms: wallMs,
      offset_ms: offsetMs,
    }));
    await transaction
      .insertInto('clock_mark')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await transaction
      .deleteFrom('clock_mark')
      .where('mark_id', '<', this.#nextId - MARKS_MAX)
      .execute();
    return () => {
      this.#unwritten = this.#unwritten.filter((mark) => !marks.includes(mark));
    };
  }

  /** Converts a time of the machine's clock to the lake's; infinite for now and later. */
  toLakeTime(wallMs: number): number {
    if (wallMs >= this.#wall()) return Number.POSITIVE_INFINITY;
    const at = this.#marks.findLastIndex((mark) => mark.wallMs <= wallMs);
    const next = this.#marks[at + 1];
    // Times after the next mark may have been skipped before it.
    const endMs = next === undefined ? Number.POSITIVE_INFINITY : next.wallMs + next.offsetMs - 1;
    return Math.min(endMs, wallMs + (this.#marks[at]?.offsetMs ?? 0));
  }

  #offsetMs(): number {
    return this.#marks.at(-1)?.offsetMs ?? 0;
  }

  #addMark(mark: Mark): void {
    this.#marks = [...this.#marks, mark].slice(-MARKS_MAX);
    this.#unwritten = [...this.#unwritten, mark].slice(-MARKS_MAX);
    this.#nextId += 1;
  }

  #clockBack(): ClockBack | undefined {
    const wallMs = this.#wall();
    const behindMs = this.#lastMs - (wallMs + this.#offsetMs());
    if (behindMs <= CLOCK_BEHIND_MS) return undefined;
    return { clock: isoTime(wallMs), committed: isoTime(this.#lastMs), behindMs };
  }
}

const clockBackFailure = ({ behindMs, clock, committed }: ClockBack): Failure => {
  const reason = `the server's clock is at ${clock}, and the latest commit is of ${committed}`;
  const rule = 'nothing is written until the clock is right (TAPEDECK_CLOCK_BACK)';
  return new Failure('Busy', `${reason}, ${Math.round(behindMs / 1000)} s later: ${rule}`);
};

async function readLastTime(database: Database): Promise<number> {
  const snapshot = await database
    .selectFrom('ducklake_snapshot')
    .select('snapshot_time')
    .orderBy('snapshot_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const pending = await database
    .selectFrom('pending')
    .select((select) => [select.fn.max('time_ms').as('ms')])
    .executeTakeFirst();
  const logged = await database
    .selectFrom('push_log')
    .select((select) => [select.fn.max('last_ms').as('ms')])
    .executeTakeFirst();
  const snapshotMs = snapshot === undefined ? 0 : parseCatalogTime(snapshot.snapshot_time);
  return Math.max(snapshotMs, Number(pending?.ms ?? 0), Number(logged?.ms ?? 0));
}
