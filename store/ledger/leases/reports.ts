// Calls that other nodes delivered, entered in the ledger once, and acknowledged when the catalog has them.
import type { Caller } from '../../accounts/callers.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ledger } from '../ledger.ts';
import type { ChargeWriter, WithCharge } from '../usage.ts';
import type { Report, ReportedCalls } from './leaseMessages.ts';
import type { LentBlocks } from './lentBlocks.ts';
import { type Mark, newestOf, saveMarks } from './reportMarks.ts';

/** A run of a node. What waits of it is bounded there: at `UNTOLD_MAX` calls it spends no more. */
interface Reporter {
  /** Of what is in the ledger, written or not. */
  entered: number;
  durable: number;
  /** Those after `durable`, in their order. */
  readonly open: { readonly sequence: number; isDurable: boolean }[];
}

interface ReportParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly lent: LentBlocks;
  /** Whom limits are those of, also where the token may not act any more; undefined: it is not known. */
  readonly knownCaller: (accountId: string, tokenId: string) => Caller | undefined;
  readonly used: (tokenId: string, timeMs: number) => void;
  readonly onFault: (reason: unknown) => void;
  readonly ack: (lessee: string, sequence: number) => void;
}

export class Reports {
  readonly #parts: ReportParts;
  readonly #reporters = new Map<string, Reporter>();
  /** Calls that were delivered by a block that had come home, when nothing was left. */
  uncovered = { calls: 0, messages: 0 };

  readonly #writer: ChargeWriter = {
    write: (transaction, rows) =>
      saveMarks(transaction, rows as readonly Mark[], this.#parts.clock()),
    written: (rows) => {
      for (const [lessee, sequence] of newestOf(rows as readonly Mark[])) {
        this.#durable(lessee, sequence);
      }
    },
  };

  /** @param marks of what was reported to nodes that served before */
  constructor(parts: ReportParts, marks: ReadonlyMap<string, number>) {
    this.#parts = parts;
    for (const [lessee, sequence] of marks) this.#reporters.set(lessee, newReporter(sequence));
  }

  enter(lessee: string, { alike, sequence }: Report): void {
    const reporter = this.#reporters.get(lessee) ?? newReporter(0);
    this.#reporters.set(lessee, reporter);
    if (sequence <= reporter.entered) {
      if (sequence <= reporter.durable) this.#parts.ack(lessee, reporter.durable);
      return;
    }
    reporter.entered = sequence;
    let mark: Mark | undefined = { lessee, sequence };
    const charged = (calls: ReportedCalls): boolean => {
      const also = mark && { writer: this.#writer, row: mark };
      const isCharged = this.#charge(lessee, calls, also);
      if (isCharged) mark = undefined;
      return isCharged;
    };
    // Where not all that are alike are covered, each of them is that is.
    const short = alike
      .filter((calls) => !charged(calls))
      .flatMap(eachOf)
      .filter((call) => !charged(call));
    const timeMs = this.#parts.clock();
    for (const tokenId of new Set(alike.map((calls) => calls.tokenId))) {
      this.#parts.used(tokenId, timeMs);
    }
    if (short.length > 0) this.#tell(short);
    // Where nothing is charged, nothing can be charged twice.
    reporter.open.push({ sequence, isDurable: mark !== undefined });
    this.#acknowledge(lessee, reporter);
  }

  /** All of them, or none. */
  #charge(lessee: string, calls: ReportedCalls, also?: WithCharge): boolean {
    const { knownCaller, ledger, lent } = this.#parts;
    const { accountId, block, tokenId } = calls;
    const known = lent.get(block);
    const own = known?.lessee === lessee ? known : undefined;
    const isCovered = own !== undefined && messagesOf(calls) <= own.block.messages;
    const caller = isCovered ? own.caller : knownCaller(accountId, tokenId);
    if (caller === undefined) return false;
    return ledger.chargeLent(own?.block, caller, calls, also);
  }

  #tell(lines: readonly ReportedCalls[]): void {
    const messages = lines.reduce((sum, line) => sum + messagesOf(line), 0);
    const { uncovered } = this;
    this.uncovered = {
      calls: uncovered.calls + lines.length,
      messages: uncovered.messages + messages,
    };
    const of = [...new Set(lines.map(({ accountId }) => accountId))].join(', ');
    const what = `${lines.length} calls of ${messages} messages of ${of}`;
    this.#parts.onFault(new Error(`${what} are not charged: nothing was left when they were told`));
  }

  #durable(lessee: string, sequence: number): void {
    const reporter = this.#reporters.get(lessee);
    if (reporter === undefined) return;
    for (const one of reporter.open) if (one.sequence <= sequence) one.isDurable = true;
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

const messagesOf = ({ objects, requestIds, weight }: ReportedCalls): number =>
  objects * weight * requestIds.length;

const eachOf = (calls: ReportedCalls): readonly ReportedCalls[] =>
  calls.requestIds.map((id) => ({ ...calls, requestIds: [id] }));

const newReporter = (sequence: number): Reporter => ({
  entered: sequence,
  durable: sequence,
  open: [],
});
