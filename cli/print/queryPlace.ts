// Formats a refused query: the sentence, the line with the error, and a caret.
import { truncateTo, escapeControls, widthOf } from './terminalText.ts';

/** Columns of a line that are shown, and columns before the position. */
const SHOWN_MAX = 100;
const BEFORE_MAX = 60;

const PLACE = /^(?:"sqlQuery"(?:: | (?=line )))?(line (\d+), column (\d+): )?/;

/** @param message the API's sentence, which may contain `line L, column C` of `text` */
export function withPlace(message: string, text: string): string {
  const [prefix = '', place = '', lineNumber = '', column = ''] = PLACE.exec(message) ?? [];
  const rule = message.slice(prefix.length).replace(/^"sqlQuery"/, 'the query');
  const sentence = `${place}${escapeControls(rule)}`;
  const line = text.split('\n')[Number(lineNumber) - 1];
  if (place === '' || line === undefined) return sentence;
  const characters = [...line.trimEnd()];
  const from = Math.max(0, Number(column) - 1 - BEFORE_MAX);
  const start = from > 0 ? '…' : '';
  const before = start + spelled(characters.slice(from, Number(column) - 1));
  const rest = spelled(characters.slice(Number(column) - 1));
  const excerpt = before + truncateTo(rest, Math.max(1, SHOWN_MAX - widthOf(before)));
  return `${sentence}\n  ${excerpt}\n  ${' '.repeat(widthOf(before))}^`;
}

const spelled = (characters: readonly string[]): string =>
  escapeControls(characters.join('').replaceAll('\t', ' '));
