// The lake's time: one clock for versions and pushed records, which only goes on. Where the machine's
// clock goes back it goes on at the same pace, ahead of it, and a mark says since when and by how much:
// a time that a person asks for is one of the machine's.
import { timeOfCatalog } from './catalogTime.ts';
import { type Clock, isoTime } from '../base/clock.ts';
import type { Database } from './database.ts';
import { Failure } from '../base/failure.ts';

/** A clock that is so far behind what was committed has gone back; less is a correction. */
export const CLOCK_BEHIND_MS = 5_000;
/** Marks that are kept: a clock that jumps all the time makes no more. The oldest go. */
const MARKS_MAX = 1_000;

/** From a time of the machine's clock on, the lake's is so far ahead of it. */
interface Mark {
  readonly wallMs: number;
  readonly offsetMs: number;
}

/** The machine's clock is behind the newest commit. */
interface ClockBack {
  /** What the machine says. */
  readonly clock: string;
  /** The time of the newest commit or push. */
  readonly committed: string;
  readonly behindMs: number;
}

interface Rules {
  /** `mark` goes on; `refuse` takes no commit and no push while the clock is behind. */
  readonly onBack: 'mark' | 'refuse';
  readonly tell: (back: ClockBack) => void;
}

export class LakeClock {
  readonly #wall: Clock;
  readonly #rules: Rules;
  #marks: readonly Mark[];
  /** Marks that no commit has written yet. */
  #unwritten: readonly Mark[] = [];
  #nextId: number;
  #lastMs: number;
  /** A clock that stays behind is told once. */
  #isTold = false;

  private constructor(
    wall: Clock,
    rules: Rules,
    known: { marks: readonly Mark[]; nextId: number; lastMs: number },
  ) {
    this.#wall = wall;
    this.#rules = rules;
    this.#marks = known.marks;
    this.#nextId = known.nextId;
    this.#lastMs = known.lastMs;
  }

  /** Goes on from the newest commit, push or pushed record of the catalog. */
  static async open(database: Database, wall: Clock, rules: Rules): Promise<LakeClock> {
    const rows = await database.selectFrom('clock_mark').selectAll().orderBy('mark_id').execute();
    const marks = rows.map((row) => ({ wallMs: row.wall_ms, offsetMs: row.offset_ms }));
    const nextId = Number(rows.at(-1)?.mark_id ?? 0) + 1;
    const clock = new LakeClock(wall, rules, { marks, nextId, lastMs: await lastOf(database) });
    await clock.meet(database);
    return clock;
  }

  /** Of one who writes nothing, and asks for no time of the past. */
  static reading(wall: Clock): LakeClock {
    const rules = { onBack: 'mark', tell: () => undefined } as const;
    return new LakeClock(wall, rules, { marks: [], nextId: 1, lastMs: 0 });
  }

  /** How far the lake's time is ahead of the machine's. */
  get aheadMs(): number {
    return Math.max(0, this.now() - this.#wall());
  }

  /** What it is, without going on. */
  now(): number {
    return Math.max(this.#wall() + this.#offsetMs(), this.#lastMs);
  }

  /**
   * A time that nothing had before.
   * @throws Failure Busy when the clock went back and that is to be refused.
   */
  next(): number {
    const back = this.#look();
    if (back !== undefined) throw refused(back);
    this.#lastMs = Math.max(this.#wall() + this.#offsetMs(), this.#lastMs + 1);
    return this.#lastMs;
  }

  /**
   * Meets a clock that went back, or that is right again, and keeps its mark. That is of the time when
   * it was met: the sooner, the fewer times have two meanings.
   */
  async meet(database: Database): Promise<void> {
    this.#look();
    if (this.#unwritten.length === 0) return;
    const marked = await database.transaction().execute((inside) => this.write(inside));
    marked();
  }

  /** How far the clock is behind, where that is to be refused; else it is marked. */
  #look(): ClockBack | undefined {
    const back = this.#back();
    const wallMs = this.#wall();
    if (back === undefined) {
      this.#isTold = false;
      if (this.#offsetMs() > 0 && wallMs > this.#lastMs) this.#mark({ wallMs, offsetMs: 0 });
      return undefined;
    }
    if (!this.#isTold) this.#rules.tell(back);
    this.#isTold = true;
    if (this.#rules.onBack === 'refuse') return back;
    this.#mark({ wallMs, offsetMs: this.#lastMs + 1 - wallMs });
    return undefined;
  }

  /**
   * In the transaction of what bears a time of it; what is not committed is written by the next.
   * @returns is to be called when that is committed
   */
  async write(transaction: Database): Promise<() => void> {
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

  /** The lake's time at a time of the machine's clock; without end for now and later. */
  lakeTimeOf(wallMs: number): number {
    if (wallMs >= this.#wall()) return Number.POSITIVE_INFINITY;
    const at = this.#marks.findLastIndex((mark) => mark.wallMs <= wallMs);
    const next = this.#marks[at + 1];
    // What comes after the next mark may have times that were passed, and not used, before it.
    const endMs = next === undefined ? Number.POSITIVE_INFINITY : next.wallMs + next.offsetMs - 1;
    return Math.min(endMs, wallMs + (this.#marks[at]?.offsetMs ?? 0));
  }

  #offsetMs(): number {
    return this.#marks.at(-1)?.offsetMs ?? 0;
  }

  #mark(mark: Mark): void {
    this.#marks = [...this.#marks, mark].slice(-MARKS_MAX);
    this.#unwritten = [...this.#unwritten, mark].slice(-MARKS_MAX);
    this.#nextId += 1;
  }

  #back(): ClockBack | undefined {
    const wallMs = this.#wall();
    const behindMs = this.#lastMs - (wallMs + this.#offsetMs());
    if (behindMs <= CLOCK_BEHIND_MS) return undefined;
    return { clock: isoTime(wallMs), committed: isoTime(this.#lastMs), behindMs };
  }
}

const refused = ({ behindMs, clock, committed }: ClockBack): Failure => {
  const told = `the server's clock says ${clock}, and the newest commit is of ${committed}`;
  const rule = 'nothing is written until the clock is right (TAPEDECK_CLOCK_BACK)';
  return new Failure('Busy', `${told}, ${Math.round(behindMs / 1000)} s later: ${rule}`);
};

async function lastOf(database: Database): Promise<number> {
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
  const snapshotMs = snapshot === undefined ? 0 : timeOfCatalog(snapshot.snapshot_time);
  return Math.max(snapshotMs, Number(pending?.ms ?? 0), Number(logged?.ms ?? 0));
}
