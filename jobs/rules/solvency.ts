// Whether rules over data of others can pay their next alert. It is checked before they are evaluated, so
// that a pass that could not be charged happens nowhere.
import type { Clock } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Held } from './ruleGroup.ts';

/** For so long an answer is good: a busy symbol asks thousands of times a second. */
const FRESH_MS = 50;
/** Rules of which it is remembered. */
const REMEMBERED_MAX = 100_000;

interface Answer {
  readonly atMs: number;
  readonly canPay: boolean;
}

export class Solvency {
  readonly #clock: Clock;
  readonly #findHeld: (ruleId: string) => Held | undefined;
  readonly #unpaid: (held: Held) => string | undefined;
  readonly #answers = new Map<string, Answer>();

  /** @param unpaid why an alert of a rule would not be paid now; undefined where it would */
  constructor(
    clock: Clock,
    findHeld: (ruleId: string) => Held | undefined,
    unpaid: (held: Held) => string | undefined,
  ) {
    this.#clock = clock;
    this.#findHeld = findHeld;
    this.#unpaid = unpaid;
  }

  canPay(ruleId: string): boolean {
    const nowMs = this.#clock();
    const known = this.#answers.get(ruleId);
    if (known !== undefined && nowMs - known.atMs < FRESH_MS && nowMs >= known.atMs) {
      return known.canPay;
    }
    const held = this.#findHeld(ruleId);
    const canPay = held !== undefined && this.#unpaid(held) === undefined;
    if (this.#answers.size >= REMEMBERED_MAX) this.#answers.clear();
    this.#answers.set(ruleId, { atMs: nowMs, canPay });
    return canPay;
  }

  /** Why a rule over data of others is to be paused; undefined where it can go on. */
  check(held: Held): Failure | undefined {
    const reason = held.isPaid ? this.#unpaid(held) : undefined;
    if (reason === undefined) return undefined;
    const cost = `an alert of this rule costs ${held.weight} messages`;
    return new Failure('OverLimit', `${reason}, and ${cost}: resume the rule once there are some`);
  }
}
