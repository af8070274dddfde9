// Delivered calls of a node that reads, until the node that serves has them in the catalog.
import type { Report, ReportedCalls } from './leaseMessages.ts';

/** Calls that may wait to be acknowledged: at it nothing is spent. 20 MB. */
export const UNTOLD_MAX = 100_000;
/** A report that waits longer: nothing is spent until it is acknowledged. */
const ACK_MS = 1_000;
/** Calls of one report. */
const REPORT_CALLS_MAX = 1_000;

interface Sent {
  readonly report: Report;
  readonly calls: number;
  /** Monotonic. */
  sentMs: number;
}

/** What a call has in common with others. */
type Called = Omit<ReportedCalls, 'requestIds'>;
type Alike = Called & { readonly requestIds: string[] };

/** Calls of one report: most of a moment are alike. */
interface Gathered {
  readonly alike: Map<string, Alike>;
  /** Those that the newest one was of. */
  last: Alike | undefined;
  calls: number;
}

export class Untold {
  /** The last one takes what is added. */
  #gathered: Gathered[] = [];
  readonly #sent: Sent[] = [];
  #sequence = 0;
  #count = 0;

  /** Calls that are not known to be in the catalog. */
  get count(): number {
    return this.#count;
  }

  /** Whether more may be spent. */
  hasRoom(nowMs: number): boolean {
    const first = this.#sent[0];
    return this.#count < UNTOLD_MAX && (first === undefined || nowMs - first.sentMs <= ACK_MS);
  }

  add(call: Called, requestId: string): void {
    const open = this.#open();
    if (open.last === undefined || !isAlike(open.last, call)) open.last = alikeOf(open, call);
    open.last.requestIds.push(requestId);
    open.calls += 1;
    this.#count += 1;
  }

  /** What was added, as reports to be told now. */
  next(nowMs: number): readonly Report[] {
    const gathered = this.#gathered;
    this.#gathered = [];
    return gathered.map(({ alike, calls }) => {
      this.#sequence += 1;
      const report = { sequence: this.#sequence, alike: [...alike.values()] };
      this.#sent.push({ report, calls, sentMs: nowMs });
      return report;
    });
  }

  /** All that was told and not acknowledged, to be told again over another connection. */
  again(nowMs: number): readonly Report[] {
    for (const sent of this.#sent) sent.sentMs = nowMs;
    return this.#sent.map(({ report }) => report);
  }

  acknowledged(sequence: number): void {
    while ((this.#sent[0]?.report.sequence ?? Infinity) <= sequence) {
      this.#count -= this.#sent.shift()?.calls ?? 0;
    }
  }

  #open(): Gathered {
    const last = this.#gathered.at(-1);
    if (last !== undefined && last.calls < REPORT_CALLS_MAX) return last;
    const open = { alike: new Map(), last: undefined, calls: 0 };
    this.#gathered.push(open);
    return open;
  }
}

// A block is of one token and one kind of messages.
const isAlike = (one: Called, other: Called): boolean =>
  one.block === other.block &&
  one.objects === other.objects &&
  one.usageKey === other.usageKey &&
  one.endpoint === other.endpoint &&
  one.weight === other.weight;

function alikeOf({ alike }: Gathered, call: Called): Alike {
  const { block, endpoint, objects, usageKey, weight } = call;
  const key = `${block} ${objects} ${weight} ${endpoint} ${usageKey}`;
  const known = alike.get(key);
  if (known !== undefined) return known;
  const made = { ...call, requestIds: [] };
  alike.set(key, made);
  return made;
}
