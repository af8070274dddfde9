// Whether rules over data of others can pay their next alert. It is checked before they are evaluated, so
// that a pass that can't be charged never happens.
import type { Clock } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import type { WeighedRule } from './ruleGroup.ts';

/** Lifetime of a cached answer: a busy symbol checks thousands of times a second. */
const CACHE_MS = 50;
/** Rules with a cached answer. */
const CACHE_SIZE = 100_000;

interface Answer {
  readonly atMs: number;
  readonly canPay: boolean;
}

export class Solvency {
  readonly #clock: Clock;
  readonly #findWeighed: (ruleId: string) => WeighedRule | undefined;
  readonly #unpaid: (weighed: WeighedRule) => string | undefined;
  readonly #answers = new Map<string, Answer>();

  /** @param unpaid why an alert of a rule could not be paid now; undefined where it could */
  constructor(
    clock: Clock,
    findWeighed: (ruleId: string) => WeighedRule | undefined,
    unpaid: (weighed: WeighedRule) => string | undefined,
  ) {
    this.#clock = clock;
    this.#findWeighed = findWeighed;
    this.#unpaid = unpaid;
  }

  canPay(ruleId: string): boolean {
    const nowMs = this.#clock();
    const cached = this.#answers.get(ruleId);
    if (cached !== undefined && nowMs - cached.atMs < CACHE_MS && nowMs >= cached.atMs) {
      return cached.canPay;
    }
    const weighed = this.#findWeighed(ruleId);
    const canPay = weighed !== undefined && this.#unpaid(weighed) === undefined;
    if (this.#answers.size >= CACHE_SIZE) this.#answers.clear();
    this.#answers.set(ruleId, { atMs: nowMs, canPay });
    return canPay;
  }

  /** Why a rule over data of others must be paused; undefined where it can go on. */
  check(weighed: WeighedRule): Failure | undefined {
    const reason = weighed.isPaid ? this.#unpaid(weighed) : undefined;
    if (reason === undefined) return undefined;
    const cost = `an alert of this rule costs ${weighed.weight} messages`;
    return new Failure('OverLimit', `${reason}, and ${cost}: resume the rule once there are some`);
  }
}
