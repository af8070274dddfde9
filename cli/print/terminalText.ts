// Makes texts safe for a terminal: escapes control characters, and measures widths in columns.

/** Control characters, line separators, and marks that change the direction of the text. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const SPELLED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

export const escapeControls = (text: string): string =>
  text.replace(
    OBEYED,
    (sign) => SPELLED[sign] ?? `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );

const PLAIN = /^[\x20-\x7e]*$/;
/** East Asian wide and full-width blocks, and emoji. */
const WIDE = new RegExp(
  '^[\\u1100-\\u115f\\u2329\\u232a\\u2e80-\\u303e\\u3041-\\u4dbf\\u4e00-\\ua4cf\\ua960-\\ua97f' +
    '\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6' +
    '\\u{16fe0}-\\u{18dff}\\u{1aff0}-\\u{1b2ff}\\u{20000}-\\u{3fffd}' +
    '\\p{Emoji_Presentation}\\p{Regional_Indicator}]|\\ufe0f',
  'u',
);
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

let segmenter: Intl.Segmenter | undefined;

/** Creates the segmenter on first use: most output is ASCII, and creating it takes 9 ms. */
const graphemesOf = (text: string): Intl.Segments =>
  (segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })).segment(text);

/** Returns the width of a text in columns. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += widthOfOne(segment);
  return width;
}

function widthOfOne(grapheme: string): number {
  if (WITHOUT_WIDTH.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Code units of one character that are inspected: a letter may have any number of marks. */
const UNITS_OF_ONE = 16;

/** Shortens a text to at most so many columns; a longer one ends in … */
export function truncateTo(text: string, columns: number): string {
  if (text.length <= columns && PLAIN.test(text)) return text;
  // Do not scan megabytes of text for the few columns that are shown.
  const short = text.slice(0, (columns + 1) * UNITS_OF_ONE);
  if (short.length === text.length && widthOf(text) <= columns) return text;
  let result = '';
  let width = 0;
  for (const { segment } of graphemesOf(short)) {
    width += widthOfOne(segment);
    if (width >= columns) break;
    result += segment;
  }
  return `${result}…`;
}
