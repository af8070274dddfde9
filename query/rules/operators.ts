// Operators of conditions, by the kind of the value on the left (SPEC.md "Rules schema object").

export type ValueKind = 'boolean' | 'date' | 'event' | 'number' | 'string' | 'time';

interface Operator {
  readonly label: string;
  readonly value: string;
}

const IS = [
  { label: 'is true', value: 'true' },
  { label: 'is false', value: 'false' },
  { label: 'is', value: '==' },
] as const;

/** As clients show them. */
export const OPERATORS: Readonly<Record<ValueKind, readonly Operator[]>> = {
  boolean: IS,
  date: [
    { label: 'is after', value: '>' },
    { label: 'is on or after', value: '>=' },
    { label: 'is before', value: '<' },
    { label: 'is on or before', value: '<=' },
    { label: 'is', value: '==' },
  ],
  event: [
    { label: 'is true', value: 'true' },
    { label: 'is', value: '==' },
  ],
  number: [
    { label: 'is above', value: '>' },
    { label: 'is at or above', value: '>=' },
    { label: 'is below', value: '<' },
    { label: 'is at or below', value: '<=' },
    { label: 'is', value: '==' },
    { label: 'is not', value: '!=' },
  ],
  string: [
    { label: 'is', value: '==' },
    { label: 'is not', value: '!=' },
  ],
  time: [{ label: 'is within', value: 'within' }],
};
