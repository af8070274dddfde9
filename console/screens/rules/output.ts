// Form fields for the delivery of alerts and their maximum frequency.
import { h, type JSX } from 'preact';
import { plural } from '../../components/formats.ts';
import { Choice, Text } from '../../components/parts.ts';
import type { Draft, RuleSchema } from './ruleSchema.ts';

interface OutputProps {
  readonly schema: RuleSchema;
  readonly draft: Draft;
  readonly onChange: (more: Partial<Draft>) => void;
}

const FREQUENCIES = [
  ['60', 'a minute'],
  ['3600', 'an hour'],
  ['86400', 'a day'],
] as const;

/** Members with a dedicated form field. */
const FIXED: readonly string[] = ['method', 'frequency'];

export function Output({ draft, onChange, schema }: OutputProps): JSX.Element {
  const methods = schema.notificationTypes.filter(({ enabled }) => enabled);
  const chosen = methods.find(({ value }) => value === draft.method);
  const members = Object.entries(chosen?.schema.properties ?? {}).filter(
    ([name]) => !FIXED.includes(name),
  );
  return h(
    'div',
    { class: 'form' },
    h(Choice, {
      label: 'Alerts go to',
      value: draft.method,
      options: methods.map(
        ({ label, value, weight }) =>
          [value, weight === 0 ? label : `${label}, ${plural(weight, 'message')} each`] as const,
      ),
      onPick: (method) => onChange({ method, members: {} }),
    }),
    h(Choice, {
      label: 'At most one in',
      value: draft.frequency,
      options: FREQUENCIES,
      onPick: (frequency) => onChange({ frequency }),
    }),
    members.map(([name, { description }]) =>
      h(Text, {
        key: name,
        label: name,
        value: draft.members[name] ?? '',
        ...(description === undefined ? {} : { hint: description }),
        required: chosen?.schema.required.includes(name) === true,
        onText: (text) => onChange({ members: withMember(draft.members, name, text) }),
      }),
    ),
  );
}

/** Sets a member; removes it if the text is empty. */
const withMember = (
  members: Readonly<Record<string, string>>,
  name: string,
  text: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...Object.entries(members).filter(([one]) => one !== name),
    ...(text === '' ? [] : [[name, text] as const]),
  ]);
