// Expected texts with placeholders: they match a real text, and are updated from
// one so that the placeholders are kept where they still fit.

/** Name -> value: `pk`, `sk`, `base` and the captures so far. */
export type Variables = Map<string, string>;

type Part = { readonly kind: 'literal'; readonly text: string } | Hole;

interface Hole {
  readonly kind: 'hole';
  readonly text: string;
  /** The values that fit, as the source of a regular expression. */
  readonly source: string;
  readonly capture: string | undefined;
  /** The capture of the same text that it repeats. */
  readonly repeats: string | undefined;
}

// Kinds of volatile values; `hex14` and the like are hexadecimal digits in either case.
const KINDS: Readonly<Record<string, string>> = {
  '*': '[^]*?',
  int: '-?\\d+',
  ms: '\\d{13}',
  iso: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z',
  uuid: '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}',
};

export const PLACEHOLDER = /\{\{(?:([A-Za-z_]\w*)=)?(\*|[A-Za-z_]\w*)\}\}/g;

// A shorter value could be in an answer by chance, and must not be replaced.
const GIVEN_NAME_LENGTH_MIN = 16;
// A transcript takes seconds; its inputs are of other days.
const NOW_MS = 3_600_000;
// More text around a value does not identify it better, and every length is tried.
const ANCHOR_LENGTH_MAX = 80;

/** Captures by name when `pattern` matches the whole of `actual`, otherwise undefined. */
export function matchPattern(
  pattern: string,
  actual: string,
  variables: Variables,
): Variables | undefined {
  const sources = partsOf(pattern, variables).map((part) =>
    part.kind === 'literal' ? escape(part.text) : part.source,
  );
  const match = new RegExp(`^${sources.join('')}$`).exec(actual);
  return match === null ? undefined : new Map(Object.entries(match.groups ?? {}));
}

/** Replaces the variables in a request's text; every name must be defined. */
export function fillIn(text: string, variables: Variables): string {
  return text.replace(PLACEHOLDER, (placeholder, _capture, name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new Error(`${placeholder} is not known here`);
    return value;
  });
}

/** `actual` as a pattern: with each placeholder of `pattern` whose surrounding text is found. */
export function redraw(pattern: string, actual: string, variables: Variables): string {
  let result = '';
  let at = 0;
  let before = '';
  const captured = new Map<string, string>();
  const parts = partsOf(pattern, variables);
  parts.forEach((part, index) => {
    if (part.kind === 'literal') {
      before = part.text;
      return;
    }
    const next = parts[index + 1];
    const after = next === undefined ? undefined : next.kind === 'literal' ? next.text : '';
    const source = part.repeats === undefined ? part.source : captured.get(part.repeats);
    const place =
      source === undefined ? undefined : findAgain(source, { before, after }, actual, at);
    before = '';
    if (place === undefined) return;
    const value = actual.slice(place.start, place.end);
    if (part.capture !== undefined) captured.set(part.capture, escape(value));
    result += nameGiven(actual.slice(at, place.start), variables) + part.text;
    at = place.end;
  });
  return result + nameGiven(actual.slice(at), variables);
}

/** Replaces long values of variables by their names, because tokens differ from run to run. */
export function nameGiven(text: string, variables: Variables): string {
  return [...variables]
    .filter(([, value]) => value.length >= GIVEN_NAME_LENGTH_MIN)
    .reduce((named, [name, value]) => named.replaceAll(value, `{{${name}}}`), text);
}

/** Replaces values whose form shows that they differ between runs: UUIDs, and times close to now. */
export function volatileNamed(text: string, nowMs: number): string {
  const isNow = (ms: number): boolean => Math.abs(ms - nowMs) < NOW_MS;
  return text
    .replace(new RegExp(`\\b${KINDS['uuid']}\\b`, 'g'), '{{uuid}}')
    .replace(new RegExp(`\\b${KINDS['ms']}\\b`, 'g'), (ms) => (isNow(Number(ms)) ? '{{ms}}' : ms))
    .replace(new RegExp(KINDS['iso'] ?? '', 'g'), (iso) =>
      isNow(Date.parse(iso)) ? '{{iso}}' : iso,
    );
}

function partsOf(pattern: string, variables: Variables): readonly Part[] {
  const parts: Part[] = [];
  const captured = new Set<string>();
  let at = 0;
  for (const match of pattern.matchAll(PLACEHOLDER)) {
    const [text, capture, name = ''] = match;
    if (match.index > at) parts.push({ kind: 'literal', text: pattern.slice(at, match.index) });
    const repeats = captured.has(name) && capture === undefined ? name : undefined;
    const source =
      repeats === undefined ? sourceOf(text, capture, name, variables) : `\\k<${name}>`;
    parts.push({ kind: 'hole', text, source, capture, repeats });
    if (capture !== undefined) captured.add(capture);
    at = match.index + text.length;
  }
  if (at < pattern.length) parts.push({ kind: 'literal', text: pattern.slice(at) });
  return parts;
}

function sourceOf(
  text: string,
  capture: string | undefined,
  name: string,
  variables: Variables,
): string {
  const kind = kindOf(name);
  if (capture !== undefined && kindOf(capture) !== undefined) {
    throw new Error(`${text}: ${capture} is a kind and cannot name a value`);
  }
  if (kind !== undefined) return capture === undefined ? `(?:${kind})` : `(?<${capture}>${kind})`;
  const value = variables.get(name);
  if (capture !== undefined) throw new Error(`${text}: ${name} is no kind of placeholder`);
  if (value === undefined) throw new Error(`${text} is no kind of placeholder and not known here`);
  return escape(value);
}

function kindOf(name: string): string | undefined {
  const digits = /^hex([1-9]\d{0,2})$/.exec(name)?.[1];
  return digits === undefined ? KINDS[name] : `[0-9a-fA-F]{${digits}}`;
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

interface Surroundings {
  readonly before: string;
  /** Undefined at the end of the pattern. */
  readonly after: string | undefined;
}

/** The position of the value in `actual`: tries the longest text before it, then shorter ones. */
function findAgain(
  source: string,
  { before, after }: Surroundings,
  actual: string,
  from: number,
): { readonly start: number; readonly end: number } | undefined {
  const ahead = after === undefined ? '$' : `(?=${escape(after.slice(0, 1))})`;
  const value = new RegExp(source + ahead, 'y');
  const least = leastAnchor(before);
  const most = Math.max(least, Math.min(before.length, ANCHOR_LENGTH_MAX));
  for (let length = most; length >= least; length -= 1) {
    const anchor = before.slice(before.length - length);
    for (let at = actual.indexOf(anchor, from); at >= 0; at = actual.indexOf(anchor, at + 1)) {
      value.lastIndex = at + length;
      const match = value.exec(actual);
      if (match !== null) return { start: value.lastIndex - match[0].length, end: value.lastIndex };
      if (length === 0) break;
    }
  }
  return undefined;
}

/** A JSON value stays with its own key; other text keeps its last words. */
function leastAnchor(before: string): number {
  const anchor = /"[^"\n]*":\s*\[?"?$/.exec(before) ?? /[^\n,]{0,20}$/.exec(before);
  return anchor?.[0].length ?? 0;
}
