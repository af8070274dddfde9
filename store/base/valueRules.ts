// Rules of single values that settings, parameters, bodies and options of commands share. Each is the end of
// a sentence that begins with the name of the value.

export const NUMBER_RULE = 'must be a number';
export const WHOLE_NUMBER_RULE = 'must be a whole number';

export const rangeRule = (least: number, most: number): string =>
  `${WHOLE_NUMBER_RULE} from ${least} to ${most}`;

export const choiceRule = (choices: readonly string[]): string =>
  `must be one of ${choices.join(', ')}`;

export const exclusionRule = (other: string): string => `is not allowed with ${other}`;

export const membershipRule = (owner: string): string => `is no member of ${owner}`;
