// Places in a log of messages: of two messages the later one has the later place, whichever node told them.

export interface LogPlace {
  /** Tells one log from another that took its name. */
  readonly tag: string;
  readonly sequence: number;
  /** Among what was kept together. */
  readonly index: number;
}

/** After everything that was kept together with it. */
export const LAST_INDEX = 999_999;

/** `mb2x7k1c.512.3`. */
export const placeText = ({ index, sequence, tag }: LogPlace): string =>
  `${tag}.${sequence}.${index}`;

const PLACE = /^([0-9a-z]{1,16})\.(\d{1,15})\.(\d{1,6})$/;

/** Undefined for what is no place. */
export function placeOf(text: string): LogPlace | undefined {
  const [, tag, sequence, index] = PLACE.exec(text) ?? [];
  if (tag === undefined) return undefined;
  return { tag, sequence: Number(sequence), index: Number(index) };
}

/** Of places of one log. */
export const isBefore = (one: LogPlace, other: LogPlace): boolean =>
  one.sequence < other.sequence || (one.sequence === other.sequence && one.index < other.index);
