// Derives the names of columns from one or more header lines.
import { quoteWord } from '../../store/base/shellWord.ts';
import { quoteExcerpt } from '../bytes/excerpt.ts';
import type { Rows } from './shape.ts';

/** Names without surrounding blanks, each unique and none empty. */
export function toColumnNames(header: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  /** The next number of a repeated name: 30,000 equal names took 40 s when each began at 2. */
  const next = new Map<string, number>();
  return header.map((cell, at) => {
    const name = cell.replace(/\p{Cc}+/gu, ' ').trim() || `column${at + 1}`;
    const plain = name.toLowerCase();
    let own = name;
    let n = next.get(plain) ?? 2;
    for (; seen.has(own.toLowerCase()); n += 1) own = `${name}_${n}`;
    next.set(plain, n);
    seen.add(own.toLowerCase());
    return own;
  });
}

/**
 * Merges the cells of several header lines into one: the first line has the names. A last line that
 * begins with names and is empty after them, such as pandas' `Date,,,`, names those columns. Names that are
 * equal, or empty, are extended by the cells of the next lines below them.
 */
export function joinHeader(lines: Rows): {
  readonly header: readonly string[];
  readonly notes: readonly string[];
} {
  const [first = [], ...others] = lines;
  if (others.length === 0) return { header: first, notes: [] };
  const last = lines.at(-1) ?? [];
  const index = countIndexNames(last, first);
  const used = new Set<number>(index === 0 ? [] : [lines.length - 1]);
  const header = first.map((name, at) => (at < index ? (last[at] ?? '') : name).trim());
  for (let at = 1; at < lines.length - (index > 0 ? 1 : 0); at += 1) {
    const counts = new Map<string, number>();
    for (const name of header) counts.set(name, (counts.get(name) ?? 0) + 1);
    const open = (name: string, column: number): boolean =>
      column >= Math.max(index, name === '' ? 1 : 0) &&
      (name === '' || (counts.get(name) ?? 0) > 1);
    if (!header.some(open)) break;
    for (const [column, name] of header.entries()) {
      const cell = lines[at]?.[column]?.trim() ?? '';
      if (!open(name, column) || cell === '') continue;
      header[column] = name === '' ? cell : `${name}_${cell}`;
      used.add(at);
    }
  }
  const notes = lines.flatMap((line, at) =>
    at === 0 || used.has(at) ? [] : [describeUnused(line, at, index)],
  );
  return { header, notes };
}

/** Counts the names at the beginning of a line that is empty after them; 0 for any other line. */
function countIndexNames(line: readonly string[], first: readonly string[]): number {
  const index = line.findIndex((cell) => cell.trim() === '');
  if (index < 1 || line.length !== first.length) return 0;
  // In the first line the columns of an index have at most one name, that of the line itself.
  if (first.slice(1, index).some((cell) => cell.trim() !== '')) return 0;
  return line.slice(index).every((cell) => cell.trim() === '') ? index : 0;
}

function describeUnused(line: readonly string[], at: number, index: number): string {
  const left = `header line ${at + 1} (${quoteExcerpt(line.join(','))}) is left out`;
  const [name = ''] = line;
  const values = new Set(line.slice(Math.max(1, index)).map((cell) => cell.trim()));
  const [value = ''] = values;
  if (index !== 1 || values.size !== 1 || value === '' || name.trim() === '') return left;
  const set = `constants=${JSON.stringify({ [name.trim()]: value })}`;
  const option = `--set ${quoteWord(`${name.trim()}=${value}`)}`;
  return `${left}: all columns have ${value}; to store it, pass ${set} (${option})`;
}
