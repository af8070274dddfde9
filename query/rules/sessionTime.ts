// Parses spans of a day in conditions: `09:30:00 - 16:00:00`, in the exchange's zone.

/** Seconds since midnight; a span whose end is before its beginning crosses midnight. */
interface Span {
  readonly from: number;
  readonly to: number;
}

const SPAN = /^(\d\d):(\d\d)(?::(\d\d))? ?- ?(\d\d):(\d\d)(?::(\d\d))?$/;

/** Parses a span; undefined for any other text. */
export function parseSpan(text: string): Span | undefined {
  const match = SPAN.exec(text);
  if (match === null) return undefined;
  const from = seconds(match.slice(1, 4));
  const to = seconds(match.slice(4, 7));
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** Both ends are part of it. */
export const isWithin = ({ from, to }: Span, at: number): boolean =>
  from <= to ? at >= from && at <= to : at >= from || at <= to;

function seconds(parts: readonly (string | undefined)[]): number | undefined {
  const [hours = 0, minutes = 0, rest = 0] = parts.map((part) => Number(part ?? 0));
  return hours > 23 || minutes > 59 || rest > 59 ? undefined : hours * 3_600 + minutes * 60 + rest;
}
