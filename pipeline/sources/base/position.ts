// Where the pull before ended, as far as it was one of the same definition.
import { createHash } from 'node:crypto';
import type { Position, PullOrder, SourceDefinition } from './source.ts';

/** Member of every position: what it is a position of. */
const OF = 'of';

/**
 * Of all that decides what comes, without headers: those may hold secrets and change by
 * themselves. A position of another definition would leave out what this one never brought.
 */
function definitionMark(definition: SourceDefinition): string {
  const decisive = Object.entries(definition).filter(([name]) => name !== 'headers');
  return shortHash(canonical(Object.fromEntries(decisive)));
}

/** A database may give back the members of an object in another order. */
const canonical = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? `{${Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
        .join(',')}}`
    : JSON.stringify(value);

/** `members` as a position of `definition`. */
export const positionOf = (definition: SourceDefinition, members: Position): Position => ({
  ...members,
  [OF]: definitionMark(definition),
});

/** The position to go on from; undefined when there is none of this definition. */
export const sinceOf = ({ definition, since }: PullOrder): Position | undefined =>
  since?.[OF] === definitionMark(definition) ? since : undefined;

/** The text at `name`; undefined when there is none. */
export function textOf(position: Position | undefined, name: string): string | undefined {
  const value = position?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** 12 hex digits: 48 bits tell a few thousand things apart, once in 10^7 such lists. */
export const shortHash = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);
