// Delivered calls of a node that reads, until the node that serves has them in the catalog.
import type { Report, ReportedCall } from './leaseMessages.ts';

/** Calls that may wait to be acknowledged: at it nothing is spent. 20 MB. */
export const UNTOLD_MAX = 100_000;
/** A report that waits longer: nothing is spent until it is acknowledged. */
const ACK_MS = 1_000;
/** Calls of one report. */
const REPORT_CALLS_MAX = 1_000;

interface Sent {
  readonly report: Report;
  /** Monotonic. */
  sentMs: number;
}

export class Untold {
  #lines: ReportedCall[] = [];
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

  get hasLines(): boolean {
    return this.#lines.length > 0;
  }

  add(line: ReportedCall): void {
    this.#lines.push(line);
    this.#count += 1;
  }

  /** What was added, as reports to be told now. */
  next(nowMs: number): readonly Report[] {
    const reports: Report[] = [];
    for (let at = 0; at < this.#lines.length; at += REPORT_CALLS_MAX) {
      this.#sequence += 1;
      const lines = this.#lines.slice(at, at + REPORT_CALLS_MAX);
      reports.push({ sequence: this.#sequence, lines });
    }
    this.#lines = [];
    for (const report of reports) this.#sent.push({ report, sentMs: nowMs });
    return reports;
  }

  /** All that was told and not acknowledged, to be told again over another connection. */
  again(nowMs: number): readonly Report[] {
    for (const sent of this.#sent) sent.sentMs = nowMs;
    return this.#sent.map(({ report }) => report);
  }

  acknowledged(sequence: number): void {
    while ((this.#sent[0]?.report.sequence ?? Infinity) <= sequence) {
      this.#count -= this.#sent.shift()?.report.lines.length ?? 0;
    }
  }
}
