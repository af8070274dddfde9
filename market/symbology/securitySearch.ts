// Securities by a fragment of their symbol or name: the symbol itself first, then symbols that begin with it,
// names that do, names with such words, and where there is none what is spelled nearly so. One pass over
// all of them takes 4 ms for 100,000; an index of words (MiniSearch 7.2) took 110 ms for common ones.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { distance } from 'fastest-levenshtein';
import { type Security, TURN_SECURITIES } from './securities.ts';

/** Answers of one search. */
const FOUND_MAX = 50;
/** Of a fragment; what is longer is in no name. */
const FRAGMENT_MAX = 100;
/** Letters of a word for one that may differ. */
const LETTERS_FOR_ONE = 4;
const DIFFERENT_MAX = 2;

export interface SecuritySearch {
  /** @param fragment as a person typed it */
  readonly find: (fragment: string) => readonly Security[];
}

/** All names as words, each with a blank on both sides, a line each; and where each line begins. */
interface Names {
  readonly text: string;
  readonly starts: Uint32Array;
}

/** @param securities by their symbols */
export async function securitySearch(securities: readonly Security[]): Promise<SecuritySearch> {
  const names = await namesOf(securities);
  let vocabulary: readonly string[] | undefined;
  const find = (fragment: string): readonly Security[] => {
    const wanted = wordsOf(fragment);
    const symbol = fragment.trim().toUpperCase();
    if (symbol === '' || symbol.length > FRAGMENT_MAX) return [];
    const found = beginningWith(securities, symbol);
    if (found.length >= FOUND_MAX) return found;
    const named = (words: readonly string[]): readonly Security[] =>
      placesWith(names, words).flatMap((at) => securities[at] ?? []);
    const all = [...new Set([...found, ...named(wanted)])].slice(0, FOUND_MAX);
    if (all.length > 0) return all;
    vocabulary ??= [...new Set(names.text.split(/\s+/))].filter((word) => word !== '');
    const known = vocabulary;
    const near = wanted.flatMap((word) => nearest(word, known) ?? []);
    return near.length < wanted.length ? [] : named(near);
  };
  return { find };
}

async function namesOf(securities: readonly Security[]): Promise<Names> {
  const starts = new Uint32Array(securities.length);
  const lines: string[] = [];
  let length = 0;
  for (const [at, { name }] of securities.entries()) {
    const line = `\n ${wordsOf(name ?? '').join(' ')} `;
    starts[at] = length;
    length += line.length;
    lines.push(line);
    if (at % TURN_SECURITIES === TURN_SECURITIES - 1) await othersTurn();
  }
  return { text: lines.join(''), starts };
}

/** Those of a sorted list whose symbols begin with a text: the symbol that it is comes first. */
function beginningWith(sorted: readonly Security[], text: string): readonly Security[] {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle]?.symbol ?? '') < text) from = middle + 1;
    else to = middle;
  }
  let end = from;
  while (end - from < FOUND_MAX && sorted[end]?.symbol.startsWith(text) === true) end += 1;
  return sorted.slice(from, end);
}

/** Names that begin with the words, then those that have them anywhere, each as the beginning of a word. */
function placesWith({ starts, text }: Names, words: readonly string[]): readonly number[] {
  if (words.length === 0) return [];
  const found = new Set<number>();
  const each = words.map((word) => ` ${word}`);
  // The longest is in the fewest names.
  const [rarest = ''] = each.toSorted((one, other) => other.length - one.length);
  for (const sought of [`\n${each.join('')}`, rarest]) {
    for (let at = text.indexOf(sought); at >= 0 && found.size < FOUND_MAX;) {
      const end = text.indexOf('\n', at + 1);
      const place = placeOf(starts, at);
      const line = text.slice(starts[place], end < 0 ? text.length : end);
      if (each.every((word) => line.includes(word))) found.add(place);
      at = end < 0 ? -1 : text.indexOf(sought, end);
    }
  }
  return [...found];
}

/** The line that a position is in. */
function placeOf(starts: Uint32Array, at: number): number {
  let [from, to] = [0, starts.length];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if ((starts[middle] ?? 0) <= at) from = middle;
    else to = middle;
  }
  return from;
}

/** The word of the vocabulary that differs least; undefined when none is near. */
function nearest(word: string, vocabulary: readonly string[]): string | undefined {
  const most = Math.min(DIFFERENT_MAX, Math.floor(word.length / LETTERS_FOR_ONE));
  let least = most + 1;
  let found: string | undefined;
  for (const known of vocabulary) {
    if (Math.abs(known.length - word.length) >= least) continue;
    const different = distance(word, known);
    if (different >= least) continue;
    least = different;
    found = known;
    if (least === 0) break;
  }
  return found;
}

/** Letters and digits of any script; a word is cut where a sign or a blank is. */
const wordsOf = (text: string): readonly string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
