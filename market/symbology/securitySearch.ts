// Searches securities by a fragment of their symbol or name: the symbol itself first, then symbols that begin
// with it, names that do, names with such words, and otherwise similar spellings. One pass over all of them
// takes 4 ms for 100,000; an index of words (MiniSearch 7.2) took 110 ms for common ones.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { distance } from 'fastest-levenshtein';
import { type Security, TURN_SECURITIES } from './securities.ts';

/** Results of one search. */
const FOUND_MAX = 50;
/** Characters of a fragment; no name is longer. */
const FRAGMENT_MAX = 100;
/** One letter may differ for this many letters of a word. */
const LETTERS_FOR_ONE = 4;
const DIFFERENT_MAX = 2;

export interface SecuritySearch {
  /** @param fragment as a person typed it */
  readonly find: (fragment: string) => readonly Security[];
}

/** All names as words, each with a blank on both sides, one line each; and the offsets of the lines. */
interface Names {
  readonly text: string;
  readonly starts: Uint32Array;
}

/** @param securities by their symbols */
export async function securitySearch(securities: readonly Security[]): Promise<SecuritySearch> {
  const names = await namesOf(securities);
  let vocabulary: readonly string[] | undefined;
  const find = (fragment: string): readonly Security[] => {
    const searchWords = wordsOf(fragment);
    const symbol = fragment.trim().toUpperCase();
    if (symbol === '' || symbol.length > FRAGMENT_MAX) return [];
    const matches = beginningWith(securities, symbol);
    if (matches.length >= FOUND_MAX) return matches;
    const named = (words: readonly string[]): readonly Security[] =>
      placesWith(names, words).flatMap((at) => securities[at] ?? []);
    const all = [...new Set([...matches, ...named(searchWords)])].slice(0, FOUND_MAX);
    if (all.length > 0) return all;
    vocabulary ??= [...new Set(names.text.split(/\s+/))].filter((word) => word !== '');
    const allWords = vocabulary;
    const near = searchWords.flatMap((word) => nearest(word, allWords) ?? []);
    return near.length < searchWords.length ? [] : named(near);
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

/** Entries of a sorted list whose symbols begin with a text: an exact match comes first. */
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

/**
 * Names that begin with the words, then those that contain them anywhere, each as the beginning of a word.
 */
function placesWith({ starts, text }: Names, words: readonly string[]): readonly number[] {
  if (words.length === 0) return [];
  const matches = new Set<number>();
  const each = words.map((word) => ` ${word}`);
  // The longest word is in the fewest names.
  const [rarest = ''] = each.toSorted((one, other) => other.length - one.length);
  for (const sought of [`\n${each.join('')}`, rarest]) {
    for (let at = text.indexOf(sought); at >= 0 && matches.size < FOUND_MAX;) {
      const end = text.indexOf('\n', at + 1);
      const place = placeOf(starts, at);
      const line = text.slice(starts[place], end < 0 ? text.length : end);
      if (each.every((word) => line.includes(word))) matches.add(place);
      at = end < 0 ? -1 : text.indexOf(sought, end);
    }
  }
  return [...matches];
}

/** The line of a position. */
function placeOf(starts: Uint32Array, at: number): number {
  let [from, to] = [0, starts.length];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if ((starts[middle] ?? 0) <= at) from = middle;
    else to = middle;
  }
  return from;
}

/** The most similar word of the vocabulary; undefined when none is near. */
function nearest(word: string, vocabulary: readonly string[]): string | undefined {
  const most = Math.min(DIFFERENT_MAX, Math.floor(word.length / LETTERS_FOR_ONE));
  let least = most + 1;
  let best: string | undefined;
  for (const candidate of vocabulary) {
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const different = distance(word, candidate);
    if (different >= least) continue;
    least = different;
    best = candidate;
    if (least === 0) break;
  }
  return best;
}

/** Letters and digits of any script; words are separated by signs and blanks. */
const wordsOf = (text: string): readonly string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
