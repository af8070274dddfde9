// Selects how texts and decimals are written in an answer. Spreadsheets run a text that begins with `=` as a
// formula from any file, and a user who saves an answer from a browser is likely to open it in one. A program
// needs the texts unchanged.
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

/** Selects the format for this caller. @param navigates the answer is a browser's page or download */
export function escapedFormat(format: BodyFormat, query: Values, navigates: boolean): BodyFormat {
  const mode = textOf(query, 'csvFormulas') ?? (navigates ? 'escape' : 'keep');
  if (mode === 'keep') return format;
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

/** Selects the format with decimals as the query requests them. */
export function stringsFormat(format: BodyFormat, query: Values): BodyFormat {
  if (textOf(query, 'jsonDecimals') !== 'string') return format;
  if (format === 'json') return 'jsonStrings';
  return format === 'jsonl' ? 'jsonlStrings' : format;
}
