// Remembers used signatures for tokens that refuse replays, for as long as their date is valid.
import { Failure } from '../../store/base/failure.ts';

/** Twice the window of a signature's date: its date may lie ahead. */
const REMEMBERED_MS = 600_000;
/** Signatures remembered; at the limit, requests of such tokens are refused until the oldest expire. */
const SIGNATURES_MAX = 200_000;

export interface Replays {
  /** @throws Failure AuthorizationRestricted the second time; Busy when it can't be remembered. */
  record(signature: string): void;
}

export function makeReplays(clockMs: () => number): Replays {
  const usedMs = new Map<string, number>();
  const forget = (nowMs: number): void => {
    for (const [signature, atMs] of usedMs) {
      if (nowMs - atMs < REMEMBERED_MS) return;
      usedMs.delete(signature);
    }
  };
  return {
    record: (signature) => {
      const nowMs = clockMs();
      forget(nowMs);
      if (usedMs.has(signature)) throw new Failure('AuthorizationRestricted');
      if (usedMs.size >= SIGNATURES_MAX) {
        throw new Failure(
          'Busy',
          `${SIGNATURES_MAX} signed requests in 10 minutes: try again later`,
        );
      }
      usedMs.set(signature, nowMs);
    },
  };
}
