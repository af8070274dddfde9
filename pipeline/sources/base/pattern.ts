// Names that a pattern names: `*` any characters, `?` one, `[a-z]` and `[!a-z]` one of a set, none
// of them a `/`; a leading dot only where the pattern has it, as in a shell.
import { SourceFailure } from './source.ts';

const PATTERN_CHARACTERS_MAX = 1_024;
const MAGIC = /[*?[]/;

/** One character of a segment: a text of one, or what a set holds. */
type Step =
  | { readonly kind: 'many' }
  | { readonly kind: 'one' }
  | {
      readonly kind: 'set';
      readonly negated: boolean;
      readonly ranges: readonly [string, string][];
    };

/** @throws SourceFailure naming what is wrong with it. */
export function checkPattern(pattern: string): void {
  if (pattern === '' || pattern.length > PATTERN_CHARACTERS_MAX) {
    refuse(`a pattern has 1 to ${PATTERN_CHARACTERS_MAX} characters`);
  }
  if (/[\u0000-\u001f\u007f]/.test(pattern)) refuse('a pattern has no control character');
  for (const segment of pattern.split('/')) stepsOf(segment);
}

export const isPattern = (text: string): boolean => MAGIC.test(text);

/** The characters before the first that stands for others. */
export const literalHead = (pattern: string): string => pattern.split(MAGIC, 1)[0] ?? '';

/**
 * What tells whether a whole name matches; in time of pattern x name at most.
 * @throws SourceFailure when the pattern is none.
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
  const steps = stepsOf(segment);
  return (part) => {
    if (part.startsWith('.') && !segment.startsWith('.')) return false;
    return matchesSteps([...part], steps);
  };
}

/** Greedy, going back to the last `*` only: more would find nothing else. */
function matchesSteps(characters: readonly string[], steps: readonly (Step | string)[]): boolean {
  let [at, step, many, from] = [0, 0, -1, 0];
  while (at < characters.length) {
    const wanted = steps[step];
    if (typeof wanted === 'object' && wanted.kind === 'many') {
      [many, from] = [step, at];
      step += 1;
    } else if (wanted !== undefined && isMatch(characters[at] ?? '', wanted)) {
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
  const found = step.ranges.some(([low, high]) => character >= low && character <= high);
  return found !== step.negated;
}

function stepsOf(segment: string): readonly (Step | string)[] {
  const steps: (Step | string)[] = [];
  let rest = segment;
  while (rest !== '') {
    // The first character of a set is never its end.
    const [set, not, others, these] = /^\[(?:([!^])(.[^\]]*)|([^!^][^\]]*))\]/u.exec(rest) ?? [];
    const [first = ''] = rest;
    if (set !== undefined) {
      steps.push({
        kind: 'set',
        negated: not !== undefined,
        ranges: rangesOf(others ?? these ?? ''),
      });
    } else if (first === '[') {
      refuse('a pattern has a [ without its ]; a [ of a name is written [[]');
    } else if (first === '*') steps.push({ kind: 'many' });
    else steps.push(first === '?' ? { kind: 'one' } : first);
    rest = rest.slice((set ?? first).length);
  }
  return steps;
}

function rangesOf(inside: string): readonly [string, string][] {
  return [...inside.matchAll(/(.)-(.)|./gsu)].map(([one, low, high]) => [low ?? one, high ?? one]);
}

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
