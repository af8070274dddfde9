// What the loading doors share.
import type { DateOrder } from '../pipeline/dateFormats.ts';
import { type Parameter, textOf, type Values } from './parameters.ts';

export const DUPLICATES: Parameter = {
  kind: 'choice',
  name: 'duplicateKeyHandling',
  choices: ['ignore', 'replace', 'true', 'false'],
  help: 'Records whose index value is stored: ignore (default, false) or replace (true).',
};

export function duplicatesOf(query: Values): 'ignore' | 'replace' {
  const given = textOf(query, 'duplicateKeyHandling');
  return given === 'replace' || given === 'true' ? 'replace' : 'ignore';
}

export const DATE_ORDER: Parameter = {
  kind: 'choice',
  name: 'dateOrder',
  choices: ['MDY', 'DMY'],
  help: 'Whether dates like 01/02/2024 begin with the month or the day; without it their values must tell.',
};

/** The member of a load, where the query has it. */
export function dateOrderOf(query: Values): { readonly dateOrder?: DateOrder } {
  const given = textOf(query, 'dateOrder') as DateOrder | undefined;
  return given === undefined ? {} : { dateOrder: given };
}
