// Parses `subattribute`, which filters records by any of their attributes: `key|value` equal, `key~value` not
// equal, commas between conditions that must all be met (SPEC.md "Time series", INTERFACE.md 3.5).
import { Failure } from '../../store/base/failure.ts';

export interface Subattribute {
  /** Name of the attribute; its case counts. */
  readonly name: string;
  readonly equal: boolean;
  /** Its case counts too. */
  readonly value: string;
}

/** Conditions of one request. */
const CONDITIONS_MAX = 32;

/** @throws Failure InvalidParameter naming subattribute and the rule. */
export function parseSubattributes(text: string): readonly Subattribute[] {
  const parts = text.split(',');
  if (parts.length > CONDITIONS_MAX) refuse(`must have at most ${CONDITIONS_MAX} conditions`);
  return parts.map((part) => {
    const [, name = '', sign = '', value = ''] = /^([^|~]+)([|~])(.*)$/s.exec(part) ?? [];
    if (name === '') refuse('must be key|value or key~value, with commas between several');
    return { name, equal: sign === '|', value };
  });
}

const refuse = (rule: string): never => {
  throw new Failure('InvalidParameter', `"subattribute" ${rule}`);
};
