// Pages stay readable: at most 300 lines, lines of at most 120 columns, sentences of at most 20 words on
// average, and no word of the private dialect. Generated pages contain the sentences of their tables.
import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { PROSE } from '../words/vocabulary.ts';
import { documents, textOf } from './markdown.ts';

const LINES_MAX = 300;
const COLUMNS_MAX = 120;
const WORDS_MAX = 20;

const withoutCode = (text: string): string =>
  text
    .replaceAll(/^```[^]*?^```$/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`/g, 'code');

const isProse = (line: string): boolean => !/^(\||#|!\[)/.test(line);

/** Lengths of the sentences in words; tables and headings are not sentences. */
function sentenceLengths(text: string): readonly number[] {
  const prose = withoutCode(text)
    .split('\n')
    .filter(isProse)
    .join('\n')
    .replaceAll(/\]\([^)]*\)/g, ']');
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:- |\d+\. ))/)
    .flatMap((paragraph) => paragraph.trim().split(/(?<=[.!?:;])\s+(?=[A-Z*[`"(0-9])/))
    .map((sentence) => sentence.split(/\s+/).filter(Boolean).length)
    .filter((words) => words > 1);
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, one) => sum + one, 0) / values.length;

describe('pages stay readable', () => {
  for (const page of documents()) {
    const text = textOf(page);
    if (text.slice(0, 300).includes('Generated from')) continue;
    test(page, () => {
      const lines = text.replace(/\n$/, '').split('\n');
      assert.ok(lines.length <= LINES_MAX, `${lines.length} lines, at most ${LINES_MAX}`);
      const prose = withoutCode(text).split('\n');
      const wide = lines.flatMap((line, at) =>
        prose[at] !== '' && isProse(line) && [...line].length > COLUMNS_MAX ? [at + 1] : [],
      );
      assert.deepEqual(wide, [], `lines of more than ${COLUMNS_MAX} columns`);
      const words = mean(sentenceLengths(text));
      assert.ok(words <= WORDS_MAX, `${words} words a sentence, at most ${WORDS_MAX}`);
      const dialect = prose.flatMap((line, at) =>
        PROSE.filter(({ unless }) => unless?.test(line) !== true).flatMap(({ instead, pattern }) =>
          [...line.matchAll(pattern)].map(([word]) => `${at + 1}: ${word}: write ${instead}`),
        ),
      );
      assert.deepEqual(dialect, []);
    });
  }
});
