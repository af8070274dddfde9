// How much the rules of one account may run and read.
import { Failure } from '../../store/base/failure.ts';
import type { Rule, RuleBody } from '../../store/work/rules.ts';
import { ANY_SYMBOL } from './ruleEngine.ts';

/** Rules of one account that each change of any symbol runs. */
const ANY_MAX = 100;
/** Values of named symbols and records that rules of one account read. */
const NAMED_MAX = 1_000;

/**
 * @param others rules of the same account
 * @throws Failure LimitReached: what each change would have to run, or to read, for one account.
 */
export function checkLimits({ body, event }: Rule, others: readonly Rule[]): void {
  const anys = others.filter((other) => other.event === ANY_SYMBOL).length;
  if (event === ANY_SYMBOL && anys >= ANY_MAX) {
    const told = `the account holds ${ANY_MAX} rules for ${ANY_SYMBOL}, the most there may be`;
    throw new Failure('LimitReached', told);
  }
  const namesOf = (one: RuleBody): readonly string[] => [...one.index, ...one.additionalIndex];
  const names = new Set([...others.map((other) => other.body), body].flatMap(namesOf));
  if (names.size > NAMED_MAX) {
    const told = `rules of an account read at most ${NAMED_MAX} named values`;
    throw new Failure('LimitReached', told);
  }
}
