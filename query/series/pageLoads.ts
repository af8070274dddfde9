// Loads pages of series from files. Those that wait for the same table are read by one statement: first
// reads of 200 keys of 2 M rows on 250 connections are all answered in 0.35 s (npm run bench bursts).
import { setImmediate as othersTurn } from 'node:timers/promises';
import { Failure } from '../../store/base/failure.ts';
import { EMPTY_PAGE, type Page } from '../../store/duckdb/protocol.ts';
import type { SeriesPlan } from '../plan/seriesPlan.ts';
import { renditionOf } from './renditions.ts';
import { SORTED_VALUES_MAX } from './takes.ts';

/** Statements of one line that run at a time: a machine of two cores has as many processes for reads. */
const RUNNING_MAX = 2;
/** Keys of one statement. */
const KEYS_MAX = 500;
/** Pages of one line that wait, as many as questions may wait for a process. */
const WAITING_MAX = 5_000;
/** Pages that are answered in one turn of the event loop, so that other callers have theirs. */
const TURN_PAGES = 32;

/** Reads pages of a plan: one of its keys, or one of each of its takes. */
type ReadPages = (plan: SeriesPlan, records: number) => Promise<readonly Page[]>;

interface Waiting {
  readonly plan: SeriesPlan;
  readonly records: number;
  readonly loaded: (page: Page) => void;
  readonly failed: (error: unknown) => void;
}

/** Pages that one statement can read. */
interface Line {
  readonly waiting: Waiting[];
  running: number;
}

export class PageLoads {
  readonly #lines = new Map<string, Line>();

  /**
   * The newest records of a plan's key.
   * @param account whose turn the statement takes
   * @throws Failure Busy where too many wait, and whatever `read` throws
   */
  async load(account: string, plan: SeriesPlan, records: number, read: ReadPages): Promise<Page> {
    const name = lineOf(account, plan, records);
    const line = this.#lines.get(name) ?? { waiting: [], running: 0 };
    if (line.waiting.length >= WAITING_MAX) {
      throw new Failure(
        'Busy',
        `${WAITING_MAX} first reads of a dataset are waiting: try again later`,
      );
    }
    this.#lines.set(name, line);
    return new Promise((loaded, failed) => {
      line.waiting.push({ plan, records, loaded, failed });
      if (line.running < RUNNING_MAX) void this.#run(name, line, read);
    });
  }

  async #run(name: string, line: Line, read: ReadPages): Promise<void> {
    line.running += 1;
    while (line.waiting.length > 0) await readAll(nextOf(line.waiting), read);
    line.running -= 1;
    if (line.running === 0) this.#lines.delete(name);
  }
}

/** Takes out those that one statement reads next. */
function nextOf(waiting: Waiting[]): readonly Waiting[] {
  const [first] = waiting;
  if (first === undefined) return [];
  const { plan, records } = first;
  const most = Math.min(
    KEYS_MAX,
    Math.floor(SORTED_VALUES_MAX / (records * plan.table.columns.length)),
  );
  const spellings = new Set<string>();
  // A record of two keys would come with the first one only.
  const isApart = ({ plan: { equals } }: Waiting): boolean => {
    const values = equals[0]?.values ?? [];
    if (values.some((value) => spellings.has(value))) return false;
    for (const value of values) spellings.add(value);
    return true;
  };
  let count = 0;
  for (const one of waiting) {
    if (count >= Math.max(1, most) || !isApart(one)) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

/** Never rejects: each of them learns its own failure. */
async function readAll(all: readonly Waiting[], read: ReadPages): Promise<void> {
  const [first] = all;
  if (first === undefined) return;
  try {
    const pages = await read(
      all.length === 1 ? first.plan : joined(first.plan, all),
      first.records,
    );
    for (const [at, { loaded }] of all.entries()) {
      loaded(pages[at] ?? EMPTY_PAGE);
      if (at % TURN_PAGES === TURN_PAGES - 1) await othersTurn();
    }
  } catch (error) {
    if (all.length === 1 || !isTooLarge(error)) {
      for (const { failed } of all) failed(error);
      return;
    }
    // Only half of them may need too much.
    const middle = all.length >> 1;
    await readAll(all.slice(0, middle), read);
    await readAll(all.slice(middle), read);
  }
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Failure && error.type === 'TooLarge';

/** One plan whose takes are the keys of all. */
function joined(plan: SeriesPlan, all: readonly Waiting[]): SeriesPlan {
  const [key, ...rest] = plan.equals;
  const takes = all.map(({ plan: { equals } }) => equals[0]?.values ?? []);
  return key === undefined
    ? plan
    : { ...plan, equals: [{ ...key, values: takes.flat() }, ...rest], takes };
}

/** What the plans of one statement have in common. */
function lineOf(account: string, { equals, members, table }: SeriesPlan, records: number): string {
  const subkeys = equals.slice(1).map(({ values }) => values);
  return JSON.stringify([
    account,
    table.tableId,
    table.snapshot,
    renditionOf(members),
    records,
    subkeys,
  ]);
}
