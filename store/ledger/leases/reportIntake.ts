// Enters calls that other nodes delivered into the ledger once, and acknowledges them when they are stored.
import type { Caller } from '../../accounts/callers.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ledger } from '../ledger.ts';
import type { ChargeWriter, ChargeAttachment } from '../usage.ts';
import type { Report, ReportedCalls } from './leaseMessages.ts';
import type { IssuedBlocks } from './issuedBlocks.ts';
import { type Mark, latestMarks, saveMarks } from './reportMarks.ts';

/** A node run. The node limits its pending calls: it stops spending at its limit. */
interface Reporter {
  /** Latest report in the ledger, stored or not. */
  entered: number;
  durable: number;
  /** Reports after `durable`, in order. */
  readonly open: { readonly sequence: number; isDurable: boolean }[];
}

interface ReportParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly issued: IssuedBlocks;
  /** Returns a caller with its limits, also when it may no longer act; undefined when unknown. */
  readonly knownCaller: (accountId: string, tokenId: string) => Caller | undefined;
  readonly used: (tokenId: string, timeMs: number) => void;
  readonly onFault: (reason: unknown) => void;
  readonly ack: (lessee: string, sequence: number) => void;
}

export class ReportIntake {
  readonly #parts: ReportParts;
  readonly #reporters = new Map<string, Reporter>();
  /** Calls delivered from a returned block when no messages remained. */
  uncovered = { calls: 0, messages: 0 };

  readonly #writer: ChargeWriter = {
    write: (transaction, rows) =>
      saveMarks(transaction, rows as readonly Mark[], this.#parts.clock()),
    onWritten: (rows) => {
      for (const [lessee, sequence] of latestMarks(rows as readonly Mark[])) {
        this.#markDurable(lessee, sequence);
      }
    },
  };

  /** @param marks reports that earlier serving nodes stored */
  constructor(parts: ReportParts, marks: ReadonlyMap<string, number>) {
    this.#parts = parts;
    for (const [lessee, sequence] of marks) this.#reporters.set(lessee, newReporter(sequence));
  }

  record(lessee: string, { alike, sequence }: Report): void {
    const reporter = this.#reporters.get(lessee) ?? newReporter(0);
    this.#reporters.set(lessee, reporter);
    if (sequence <= reporter.entered) {
      if (sequence <= reporter.durable) this.#parts.ack(lessee, reporter.durable);
      return;
    }
    reporter.entered = sequence;
    let mark: Mark | undefined = { lessee, sequence };
    const charge = (calls: ReportedCalls): boolean => {
      const attachment = mark && { writer: this.#writer, row: mark };
      const isCharged = this.#charge(lessee, calls, attachment);
      if (isCharged) mark = undefined;
      return isCharged;
    };
    // If a group is not covered as a whole, its calls are charged one by one as far as covered.
    const uncharged = alike
      .filter((calls) => !charge(calls))
      .flatMap(splitCalls)
      .filter((call) => !charge(call));
    const timeMs = this.#parts.clock();
    for (const tokenId of new Set(alike.map((calls) => calls.tokenId))) {
      this.#parts.used(tokenId, timeMs);
    }
    if (uncharged.length > 0) this.#reportUncharged(uncharged);
    // A report without a charge can't be charged twice.
    reporter.open.push({ sequence, isDurable: mark !== undefined });
    this.#acknowledge(lessee, reporter);
  }

  /** Charges all calls, or none. */
  #charge(lessee: string, calls: ReportedCalls, attachment?: ChargeAttachment): boolean {
    const { knownCaller, ledger, issued } = this.#parts;
    const { accountId, block, tokenId } = calls;
    const issuedBlock = issued.get(block);
    const own = issuedBlock?.lessee === lessee ? issuedBlock : undefined;
    const isCovered = own !== undefined && countMessages(calls) <= own.block.messages;
    const caller = isCovered ? own.caller : knownCaller(accountId, tokenId);
    if (caller === undefined) return false;
    return ledger.chargeLeased(own?.block, caller, calls, attachment);
  }

  #reportUncharged(lines: readonly ReportedCalls[]): void {
    const messages = lines.reduce((sum, line) => sum + countMessages(line), 0);
    const { uncovered } = this;
    this.uncovered = {
      calls: uncovered.calls + lines.length,
      messages: uncovered.messages + messages,
    };
    const accounts = [...new Set(lines.map(({ accountId }) => accountId))].join(', ');
    const what = `${lines.length} calls of ${messages} messages of ${accounts}`;
    this.#parts.onFault(
      new Error(`${what} are not charged: no messages remained when they were reported`),
    );
  }

  #markDurable(lessee: string, sequence: number): void {
    const reporter = this.#reporters.get(lessee);
    if (reporter === undefined) return;
    for (const report of reporter.open) if (report.sequence <= sequence) report.isDurable = true;
    this.#acknowledge(lessee, reporter);
  }

  #acknowledge(lessee: string, reporter: Reporter): void {
    const before = reporter.durable;
    while (reporter.open[0]?.isDurable === true) {
      reporter.durable = reporter.open.shift()?.sequence ?? reporter.durable;
    }
    if (reporter.durable > before) this.#parts.ack(lessee, reporter.durable);
  }
}

const countMessages = ({ objects, requestIds, weight }: ReportedCalls): number =>
  objects * weight * requestIds.length;

const splitCalls = (calls: ReportedCalls): readonly ReportedCalls[] =>
  calls.requestIds.map((id) => ({ ...calls, requestIds: [id] }));

const newReporter = (sequence: number): Reporter => ({
  entered: sequence,
  durable: sequence,
  open: [],
});
