// Limits on the rules of one account.
import { Failure } from '../../store/base/failure.ts';
import type { Rule, RuleBody } from '../../store/work/rules.ts';
import { ANY_SYMBOL } from './ruleEngine.ts';

/** Rules of one account that each change of any symbol evaluates. */
const ANY_MAX = 100;
/** Values of named symbols and records that rules of one account read. */
const NAMED_MAX = 1_000;

/**
 * @param others rules of the same account
 * @throws Failure LimitReached: each change would evaluate, or read, too much for one account.
 */
export function checkLimits({ body, event }: Rule, others: readonly Rule[]): void {
  const anys = others.filter((other) => other.event === ANY_SYMBOL).length;
  if (event === ANY_SYMBOL && anys >= ANY_MAX) {
    const message = `an account has at most ${ANY_MAX} rules for ${ANY_SYMBOL}`;
    throw new Failure('LimitReached', message);
  }
  const namesOf = (one: RuleBody): readonly string[] => [...one.index, ...one.additionalIndex];
  const names = new Set([...others.map((other) => other.body), body].flatMap(namesOf));
  if (names.size > NAMED_MAX) {
    const message = `rules of an account read at most ${NAMED_MAX} named values`;
    throw new Failure('LimitReached', message);
  }
}
