// Form fields for the conditions of a rule: value, comparison and operand.
import { h, type JSX } from 'preact';
import { type Condition, isUnary, type RuleSchema, type RuleValue } from './ruleSchema.ts';

interface ConditionsProps {
  readonly schema: RuleSchema;
  readonly conditions: readonly Condition[];
  readonly onChange: (conditions: readonly Condition[]) => void;
}

/** Limit of the form; the API accepts more. */
const CONDITIONS_MAX = 20;

const valueOf = (event: Event): string =>
  (event.target as HTMLInputElement | HTMLSelectElement).value;

export function Conditions({ conditions, onChange, schema }: ConditionsProps): JSX.Element {
  const change = (at: number, more: Partial<Condition>): void =>
    onChange(conditions.map((one, index) => (index === at ? { ...one, ...more } : one)));
  const add = (): void =>
    onChange([...conditions, { name: 'latestPrice', operator: '>', text: '' }]);
  return h(
    'fieldset',
    { class: 'stack' },
    h('legend', null, 'Conditions'),
    conditions.map((condition, at) =>
      h(Row, {
        key: at,
        condition,
        at,
        schema,
        onChange: (more) => change(at, more),
        onRemove:
          conditions.length < 2
            ? undefined
            : () => onChange(conditions.filter((_, index) => index !== at)),
      }),
    ),
    h(
      'div',
      { class: 'row-of' },
      h(
        'button',
        {
          class: 'small',
          type: 'button',
          disabled: conditions.length >= CONDITIONS_MAX,
          onClick: add,
        },
        'Add a condition',
      ),
    ),
  );
}

interface RowProps {
  readonly condition: Condition;
  readonly at: number;
  readonly schema: RuleSchema;
  readonly onChange: (more: Partial<Condition>) => void;
  readonly onRemove: (() => void) | undefined;
}

function Row({ at, condition, onChange, onRemove, schema }: RowProps): JSX.Element {
  const { name, operator, text } = condition;
  const operators = operatorsOf(schema, name);
  const place = `of condition ${at + 1}`;
  return h(
    'div',
    { class: 'condition' },
    h(
      'select',
      {
        'aria-label': `Value ${place}`,
        onChange: (event: Event) => {
          const next = valueOf(event);
          const first = operatorsOf(schema, next);
          const isAvailable = first.some((one) => one.value === operator);
          onChange({ name: next, operator: isAvailable ? operator : (first[0]?.value ?? '==') });
        },
      },
      schema.schema.map(({ label, value }: RuleValue) =>
        h('option', { key: value, value, selected: value === name }, label),
      ),
    ),
    h(
      'select',
      {
        'aria-label': `Comparison ${place}`,
        onChange: (event: Event) => onChange({ operator: valueOf(event) }),
      },
      operators.map(({ label, value }) =>
        h('option', { key: value, value, selected: value === operator }, label),
      ),
    ),
    isUnary(operator)
      ? h('span', null)
      : h('input', {
          value: text,
          'aria-label': `Compared with, ${place}`,
          placeholder: '0.02',
          required: true,
          onInput: (event: Event) => onChange({ text: valueOf(event) }),
        }),
    h(
      'button',
      {
        type: 'button',
        'aria-label': `Remove condition ${at + 1}`,
        disabled: onRemove === undefined,
        onClick: onRemove,
      },
      'Remove',
    ),
  );
}

function operatorsOf(
  { operators, schema }: RuleSchema,
  name: string,
): RuleSchema['operators'][string] {
  const type = schema.find(({ value }) => value === name)?.type ?? 'number';
  return operators[type] ?? [];
}
