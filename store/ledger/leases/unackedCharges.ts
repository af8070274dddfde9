// Keeps delivered calls of a replica until the serving node has stored them.
import type { Report, ReportedCalls } from './leaseMessages.ts';

/** Limit of unacknowledged calls; spending stops at it. 20 MB. */
export const UNACKED_MAX = 100_000;
/** Maximum wait for an acknowledgement; spending stops after it. */
const ACK_MS = 1_000;
/** Limit of calls of one report. */
const REPORT_CALLS_MAX = 1_000;

interface SentReport {
  readonly report: Report;
  readonly calls: number;
  /** Monotonic. */
  sentMs: number;
}

/** Common members of grouped calls. */
type CallTemplate = Omit<ReportedCalls, 'requestIds'>;
type CallGroup = CallTemplate & { readonly requestIds: string[] };

/** Calls of one report: concurrent calls are mostly equal except their ids. */
interface ReportDraft {
  readonly alike: Map<string, CallGroup>;
  /** Group of the latest call. */
  last: CallGroup | undefined;
  calls: number;
}

export class UnackedCharges {
  /** The last draft receives new calls. */
  #drafts: ReportDraft[] = [];
  readonly #sent: SentReport[] = [];
  #sequence = 0;
  #count = 0;

  /** Number of unacknowledged calls. */
  get count(): number {
    return this.#count;
  }

  /** Whether more may be spent. */
  hasRoom(nowMs: number): boolean {
    const first = this.#sent[0];
    return this.#count < UNACKED_MAX && (first === undefined || nowMs - first.sentMs <= ACK_MS);
  }

  add(call: CallTemplate, requestId: string): void {
    const draft = this.#openDraft();
    if (draft.last === undefined || !isSameGroup(draft.last, call))
      draft.last = openGroup(draft, call);
    draft.last.requestIds.push(requestId);
    draft.calls += 1;
    this.#count += 1;
  }

  /** Returns the added calls as reports to send now. */
  takeReports(nowMs: number): readonly Report[] {
    const drafts = this.#drafts;
    this.#drafts = [];
    return drafts.map(({ alike, calls }) => {
      this.#sequence += 1;
      const report = { sequence: this.#sequence, alike: [...alike.values()] };
      this.#sent.push({ report, calls, sentMs: nowMs });
      return report;
    });
  }

  /** Returns all unacknowledged reports, to be sent over a new connection. */
  repeatReports(nowMs: number): readonly Report[] {
    for (const sent of this.#sent) sent.sentMs = nowMs;
    return this.#sent.map(({ report }) => report);
  }

  acknowledge(sequence: number): void {
    while ((this.#sent[0]?.report.sequence ?? Infinity) <= sequence) {
      this.#count -= this.#sent.shift()?.calls ?? 0;
    }
  }

  #openDraft(): ReportDraft {
    const last = this.#drafts.at(-1);
    if (last !== undefined && last.calls < REPORT_CALLS_MAX) return last;
    const draft = { alike: new Map(), last: undefined, calls: 0 };
    this.#drafts.push(draft);
    return draft;
  }
}

// A block belongs to one token and one kind of messages.
const isSameGroup = (one: CallTemplate, other: CallTemplate): boolean =>
  one.block === other.block &&
  one.objects === other.objects &&
  one.usageKey === other.usageKey &&
  one.endpoint === other.endpoint &&
  one.weight === other.weight;

function openGroup({ alike }: ReportDraft, call: CallTemplate): CallGroup {
  const { block, endpoint, objects, usageKey, weight } = call;
  const key = `${block} ${objects} ${weight} ${endpoint} ${usageKey}`;
  const existing = alike.get(key);
  if (existing !== undefined) return existing;
  const group = { ...call, requestIds: [] };
  alike.set(key, group);
  return group;
}
