// Common members and helpers of the rows of rules.
import { Failure } from '../../../store/base/failure.ts';
import { randomKey } from '../../../store/base/random.ts';
import type { Rule } from '../../../store/work/rules.ts';
import type { Endpoint, Services } from '../../request/endpoint.ts';

export const RULE_ROW = {
  token: 'secret',
  weight: 'free',
  parameters: [],
  failures: 'data',
} as const satisfies Partial<Endpoint>;

/** @throws Failure NotFound, also for a rule of another account. */
export function ownRule(id: string, accountId: string, { rules }: Pick<Services, 'rules'>): Rule {
  const rule = rules.find(id);
  if (rule?.accountId !== accountId) throw new Failure('NotFound');
  return rule;
}

/** A new secret in the format of webhook receivers. */
export const newSecret = (): string => `whsec_${randomKey(24).toString('base64')}`;
