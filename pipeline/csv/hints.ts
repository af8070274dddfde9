// Prints the options that resolve an ambiguous file, as a query and as options of a command.
import type { Reading } from '../bytes/reading.ts';

/** Members of a reading that a hint may have, in print order. */
const NAMES = ['header', 'skipLines', 'skipLast', 'delimiter', 'quote', 'escape'] as const;

export type Hint = Pick<Reading, (typeof NAMES)[number]>;

/** `skipLines=3&skipLast=5 (--skip-lines 3 --skip-last 5)`: all options, including those set before. */
export function printHint(hint: Hint): string {
  const members = listMembers(hint);
  const query = members.map(({ name, value }) => `${name}=${value}`).join('&');
  return `${query} (${members.map(printOption).join(' ')})`;
}

const listMembers = (hint: Hint): readonly { readonly name: string; readonly value: string }[] =>
  NAMES.flatMap((name) => {
    const value = hint[name];
    return value === undefined ? [] : [{ name, value: String(value) }];
  });

function printOption({ name, value }: { readonly name: string; readonly value: string }): string {
  if (name === 'header') {
    if (value === 'false') return '--no-header';
    return `--header-lines ${value === 'true' ? '1' : value}`;
  }
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${value}`;
}
