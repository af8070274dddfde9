// Positions in a log of messages: a later message has a higher position, on every node.

export interface LogPosition {
  /** Distinguishes the log from a later one of the same name. */
  readonly tag: string;
  readonly sequence: number;
  /** Index among the entries of one append. */
  readonly index: number;
}

/** An index after all entries of one append. */
export const LAST_INDEX = 999_999;

/** `mb2x7k1c.512.3`. */
export const formatPosition = ({ index, sequence, tag }: LogPosition): string =>
  `${tag}.${sequence}.${index}`;

const POSITION = /^([0-9a-z]{1,16})\.(\d{1,15})\.(\d{1,6})$/;

/** Parses a position; undefined if the text is none. */
export function parsePosition(text: string): LogPosition | undefined {
  const [, tag, sequence, index] = POSITION.exec(text) ?? [];
  if (tag === undefined) return undefined;
  return { tag, sequence: Number(sequence), index: Number(index) };
}

/** Compares positions of one log. */
export const isBefore = (one: LogPosition, other: LogPosition): boolean =>
  one.sequence < other.sequence || (one.sequence === other.sequence && one.index < other.index);
