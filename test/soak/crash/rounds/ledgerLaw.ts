// Checks the ledger after a kill (DESIGN.md "Rules of price and ledger"): it may lack at most the charges
// of one settle window, and may exceed the headers by at most the calls in flight.
import type { Meter } from '../reader.ts';

/** The specified window, from DESIGN.md and not from the code. */
const SETTLE_WINDOW_MS = 50;
/**
 * The window begins when a charge is entered and ends when its group is on the disk: a timer that
 * fires late on a busy machine and the commit itself add to it. Reports include the time that was needed.
 */
const LATENESS_MS = 200;

interface LedgerFinding {
  readonly faults: readonly string[];
  /** Headers' messages that the ledger lost. */
  readonly lost: number;
  /** How long before the kill the oldest lost charge was answered, in ms. */
  readonly reachMs: number;
}

/** `charged` is what the ledger holds of this run's calls. */
export function checkLedger(meter: Meter, charged: number, killedMs: number): LedgerFinding {
  const answered = meter.reduce((sum, { messages = 0 }) => sum + messages, 0);
  const open = meter.filter(({ endedMs }) => endedMs === undefined);
  const unknown = open.filter(({ messages }) => messages === undefined);
  const inFlight = unknown.reduce((sum, { bound }) => sum + bound(), 0);
  const whole = meter.filter(({ endedMs }) => endedMs !== undefined);
  const openHeaders = open.reduce((sum, { messages = 0 }) => sum + messages, 0);
  const lost = answered - openHeaders - charged;
  const reachMs = reachOf(whole, lost, killedMs);
  const faults: string[] = [];
  if (charged > answered + inFlight) {
    faults.push(`the ledger holds ${charged}, the headers ${answered}, in flight ${inFlight}`);
  }
  if (reachMs > SETTLE_WINDOW_MS + LATENESS_MS) {
    const when = `answered up to ${reachMs} ms before the kill`;
    faults.push(`the ledger lost ${lost} of ${answered} messages, ${when}`);
  }
  return { faults, lost: Math.max(0, lost), reachMs };
}

/** Time before the kill that the newest charges must span to add up to the lost messages. */
function reachOf(whole: Meter, lost: number, killedMs: number): number {
  const newest = whole.toSorted((one, other) => (other.endedMs ?? 0) - (one.endedMs ?? 0));
  let left = lost;
  let reachMs = 0;
  for (const { messages = 0, endedMs = killedMs } of newest) {
    if (left <= 0) break;
    if (messages === 0) continue;
    left -= messages;
    reachMs = Math.max(0, killedMs - endedMs);
  }
  return left > 0 ? Number.MAX_SAFE_INTEGER : reachMs;
}
