// Types of GET /rules/schema, and the draft of a rule in its form.

export interface RuleValue {
  readonly label: string;
  readonly value: string;
  readonly type: string;
}

interface Operator {
  readonly label: string;
  readonly value: string;
}

interface Notification {
  readonly label: string;
  readonly value: string;
  readonly weight: number;
  readonly enabled: boolean;
  readonly schema: {
    readonly properties: Readonly<Record<string, { readonly description?: string }>>;
    readonly required: readonly string[];
  };
}

export interface RuleSchema {
  readonly schema: readonly RuleValue[];
  readonly notificationTypes: readonly Notification[];
  readonly operators: Readonly<Record<string, readonly Operator[]>>;
}

export interface Condition {
  readonly name: string;
  readonly operator: string;
  readonly text: string;
}

export interface Draft {
  readonly symbol: string;
  readonly name: string;
  readonly match: string;
  readonly conditions: readonly Condition[];
  readonly method: string;
  readonly frequency: string;
  readonly members: Readonly<Record<string, string>>;
}

export const EMPTY: Draft = {
  symbol: '',
  name: '',
  match: 'all',
  conditions: [{ name: 'changePercent', operator: '>', text: '0.02' }],
  method: 'logs',
  frequency: '3600',
  members: {},
};

/** Returns whether the operator has no operand. */
export const isUnary = (operator: string): boolean => operator === 'true' || operator === 'false';

/** Sends numbers as numbers; any other operand is a text or the name of another value. */
const toWireCondition = ({ name, operator, text }: Condition): readonly unknown[] => {
  if (isUnary(operator)) return [name, operator];
  const value = text.trim();
  return [name, operator, value !== '' && Number.isFinite(Number(value)) ? Number(value) : value];
};

export const buildRuleBody = (draft: Draft, id?: string): object => ({
  ruleSet: draft.symbol.trim(),
  ruleName:
    draft.name.trim() === '' ? `${draft.symbol} ${draft.conditions[0]?.name ?? ''}` : draft.name,
  type: draft.match,
  conditions: draft.conditions.map(toWireCondition),
  outputs: [{ method: draft.method, frequency: Number(draft.frequency), ...draft.members }],
  ...(id === undefined ? {} : { id }),
});

export const conditionText = (condition: readonly unknown[]): string =>
  condition.map((part) => String(part)).join(' ');
