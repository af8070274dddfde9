// The position where the previous pull ended, if it had the same definition.
import { createHash } from 'node:crypto';
import type { Position, PullOrder, SourceDefinition } from './source.ts';

/** Member of every position: the mark of its definition. */
const DEFINITION = 'of';

/**
 * A hash of the definition without headers, which may have secrets and change independently. A position of
 * another definition would skip records that this one never pulled.
 */
function definitionMark(definition: SourceDefinition): string {
  const decisive = Object.entries(definition).filter(([name]) => name !== 'headers');
  return shortHash(canonical(Object.fromEntries(decisive)));
}

/** Sorts members: a database may return the members of an object in another order. */
const canonical = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? `{${Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
        .join(',')}}`
    : JSON.stringify(value);

/** Marks `members` as a position of `definition`. */
export const toPosition = (definition: SourceDefinition, members: Position): Position => ({
  ...members,
  [DEFINITION]: definitionMark(definition),
});

/** The position to continue from; undefined if there is none of this definition. */
export const findSince = ({ definition, since }: PullOrder): Position | undefined =>
  since?.[DEFINITION] === definitionMark(definition) ? since : undefined;

/** The text at `name`; undefined if there is none. */
export function positionText(position: Position | undefined, name: string): string | undefined {
  const value = position?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** 12 hex digits: 48 bits distinguish a few thousand items; a collision occurs in one of 10^7 such lists. */
export const shortHash = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);
