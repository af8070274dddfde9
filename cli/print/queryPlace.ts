// A refused query as a person reads it: the sentence, the line that it is about, and a caret.
import { cutTo, harmless, widthOf } from './terminalText.ts';

/** Columns of a line that are shown, and of those before the place. */
const SHOWN_MAX = 100;
const BEFORE_MAX = 60;

const PLACE = /^(?:"sqlQuery"(?:: | (?=line )))?(line (\d+), column (\d+): )?/;

/** @param told the API's sentence, which may say `line L, column C` of `text` */
export function withPlace(told: string, text: string): string {
  const [prefix = '', place = '', lineNumber = '', column = ''] = PLACE.exec(told) ?? [];
  const rule = told.slice(prefix.length).replace(/^"sqlQuery"/, 'the query');
  const sentence = `${place}${harmless(rule)}`;
  const line = text.split('\n')[Number(lineNumber) - 1];
  if (place === '' || line === undefined) return sentence;
  const characters = [...line.trimEnd()];
  const from = Math.max(0, Number(column) - 1 - BEFORE_MAX);
  const start = from > 0 ? '…' : '';
  const before = start + spelled(characters.slice(from, Number(column) - 1));
  const rest = spelled(characters.slice(Number(column) - 1));
  const shown = before + cutTo(rest, Math.max(1, SHOWN_MAX - widthOf(before)));
  return `${sentence}\n  ${shown}\n  ${' '.repeat(widthOf(before))}^`;
}

const spelled = (characters: readonly string[]): string =>
  harmless(characters.join('').replaceAll('\t', ' '));
