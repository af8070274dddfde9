// Matches names against a pattern: `*` any characters, `?` one, `[a-z]` and `[!a-z]` one of a set, never
// a `/`; a leading dot only if the pattern has it, as in a shell.
import { SourceFailure } from './source.ts';

const PATTERN_CHARACTERS_MAX = 1_024;
const MAGIC = /[*?[]/;

/** One step of a segment: a literal character is a text, others are objects. */
type Step =
  | { readonly kind: 'many' }
  | { readonly kind: 'one' }
  | {
      readonly kind: 'set';
      readonly negated: boolean;
      readonly ranges: readonly [string, string][];
    };

/** @throws SourceFailure describing the fault. */
export function checkPattern(pattern: string): void {
  if (pattern === '' || pattern.length > PATTERN_CHARACTERS_MAX) {
    refuse(`a pattern has 1 to ${PATTERN_CHARACTERS_MAX} characters`);
  }
  if (/[\u0000-\u001f\u007f]/.test(pattern)) refuse('a pattern has no control character');
  for (const segment of pattern.split('/')) parseSegment(segment);
}

export const isPattern = (text: string): boolean => MAGIC.test(text);

/** The literal characters before the first wildcard. */
export const literalHead = (pattern: string): string => pattern.split(MAGIC, 1)[0] ?? '';

/**
 * Returns a function that tests whether a whole name matches, in time of pattern x name at most.
 * @throws SourceFailure for an invalid pattern.
 */
export function nameMatcher(pattern: string): (name: string) => boolean {
  const segments = pattern.split('/').map(segmentMatcher);
  return (name) => {
    const parts = name.split('/');
    return (
      parts.length === segments.length &&
      segments.every((matches, index) => matches(parts[index] ?? ''))
    );
  };
}

function segmentMatcher(segment: string): (part: string) => boolean {
  const steps = parseSegment(segment);
  return (part) => {
    if (part.startsWith('.') && !segment.startsWith('.')) return false;
    return matchesSteps([...part], steps);
  };
}

/** Matches greedily, and backtracks to the last `*` only: earlier ones cannot match more. */
function matchesSteps(characters: readonly string[], steps: readonly (Step | string)[]): boolean {
  let [at, step, many, from] = [0, 0, -1, 0];
  while (at < characters.length) {
    const expected = steps[step];
    if (typeof expected === 'object' && expected.kind === 'many') {
      [many, from] = [step, at];
      step += 1;
    } else if (expected !== undefined && isMatch(characters[at] ?? '', expected)) {
      at += 1;
      step += 1;
    } else if (many >= 0) {
      from += 1;
      [at, step] = [from, many + 1];
    } else return false;
  }
  return steps.slice(step).every((rest) => typeof rest === 'object' && rest.kind === 'many');
}

function isMatch(character: string, step: Step | string): boolean {
  if (typeof step === 'string') return character === step;
  if (step.kind !== 'set') return step.kind === 'one';
  const isIncluded = step.ranges.some(([low, high]) => character >= low && character <= high);
  return isIncluded !== step.negated;
}

function parseSegment(segment: string): readonly (Step | string)[] {
  const steps: (Step | string)[] = [];
  let rest = segment;
  while (rest !== '') {
    // The first character of a set never ends it.
    const [set, not, others, these] = /^\[(?:([!^])(.[^\]]*)|([^!^][^\]]*))\]/u.exec(rest) ?? [];
    const [first = ''] = rest;
    if (set !== undefined) {
      steps.push({
        kind: 'set',
        negated: not !== undefined,
        ranges: parseRanges(others ?? these ?? ''),
      });
    } else if (first === '[') {
      refuse('a pattern has a [ without its ]; a [ of a name is written [[]');
    } else if (first === '*') steps.push({ kind: 'many' });
    else steps.push(first === '?' ? { kind: 'one' } : first);
    rest = rest.slice((set ?? first).length);
  }
  return steps;
}

function parseRanges(inside: string): readonly [string, string][] {
  return [...inside.matchAll(/(.)-(.)|./gsu)].map(([one, low, high]) => [low ?? one, high ?? one]);
}

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
