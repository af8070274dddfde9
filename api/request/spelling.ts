// How texts and decimals are spelled in an answer. Spreadsheets run a text that begins with `=` as a
// formula, from whichever file they open. Who saves an answer from a browser will open it so; a program
// wants the texts as they are.
import type { BodyFormat } from '../../store/duckdb/protocol.ts';
import { type Parameter, textOf, type Values } from './parameters.ts';

export const CSV_FORMULAS: Parameter = {
  kind: 'choice',
  name: 'csvFormulas',
  choices: ['escape', 'keep'],
  help:
    'For csv and psv: escape puts a quotation mark before texts that a spreadsheet would run, keep does ' +
    'not; the default is escape if a browser opens or saves the answer, else keep.',
};

/** The format, as this caller gets it. @param navigates the answer is a browser's page or download */
export function escapedFormat(format: BodyFormat, query: Values, navigates: boolean): BodyFormat {
  const wanted = textOf(query, 'csvFormulas') ?? (navigates ? 'escape' : 'keep');
  if (wanted === 'keep') return format;
  if (format === 'csv') return 'csvEscaped';
  return format === 'psv' ? 'psvEscaped' : format;
}

export const JSON_DECIMALS: Parameter = {
  kind: 'choice',
  name: 'jsonDecimals',
  choices: ['auto', 'string'],
  help:
    'For json and jsonl: string returns each decimal as a string, auto only those of over 15 digits, ' +
    'which readers of JSON would round; the default is auto.',
};

/** The format, with decimals as the query wants them. */
export function stringsFormat(format: BodyFormat, query: Values): BodyFormat {
  if (textOf(query, 'jsonDecimals') !== 'string') return format;
  if (format === 'json') return 'jsonStrings';
  return format === 'jsonl' ? 'jsonlStrings' : format;
}
