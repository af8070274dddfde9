// Spans of a day, as conditions write them: `09:30:00 - 16:00:00`, in the exchange's zone.

/** Seconds since midnight; a span whose end is before its beginning goes over midnight. */
interface Span {
  readonly from: number;
  readonly to: number;
}

const SPAN = /^(\d\d):(\d\d)(?::(\d\d))? ?- ?(\d\d):(\d\d)(?::(\d\d))?$/;

/** Undefined for what is no span. */
export function spanOf(text: string): Span | undefined {
  const found = SPAN.exec(text);
  if (found === null) return undefined;
  const from = seconds(found.slice(1, 4));
  const to = seconds(found.slice(4, 7));
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** Both ends are part of it. */
export const isWithin = ({ from, to }: Span, at: number): boolean =>
  from <= to ? at >= from && at <= to : at >= from || at <= to;

function seconds(parts: readonly (string | undefined)[]): number | undefined {
  const [hours = 0, minutes = 0, rest = 0] = parts.map((part) => Number(part ?? 0));
  return hours > 23 || minutes > 59 || rest > 59 ? undefined : hours * 3_600 + minutes * 60 + rest;
}
