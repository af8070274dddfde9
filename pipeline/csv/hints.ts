// What to add to a load where a file leaves open how it is read, as a query and as options of a command.
import type { Reading } from '../bytes/reading.ts';

/** Members of a reading that a hint may name, in the order in which they are named. */
const NAMES = ['header', 'skipLines', 'skipLast', 'delimiter', 'quote', 'escape'] as const;

export type Hint = Pick<Reading, (typeof NAMES)[number]>;

/** `skipLines=3&skipLast=5 (--skip-lines 3 --skip-last 5)`: all of it, also what was passed before. */
export function printHint(hint: Hint): string {
  const members = membersOf(hint);
  const query = members.map(({ name, value }) => `${name}=${value}`).join('&');
  return `${query} (${members.map(flagOf).join(' ')})`;
}

const membersOf = (hint: Hint): readonly { readonly name: string; readonly value: string }[] =>
  NAMES.flatMap((name) => {
    const value = hint[name];
    return value === undefined ? [] : [{ name, value: String(value) }];
  });

function flagOf({ name, value }: { readonly name: string; readonly value: string }): string {
  if (name === 'header') {
    if (value === 'false') return '--no-header';
    return `--header-lines ${value === 'true' ? '1' : value}`;
  }
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${value}`;
}
