// What the loading doors share.
import type { DateOrder } from '../pipeline/dateFormats.ts';
import type { ColumnMapping } from '../store/datasets.ts';
import { type Parameter, refuse, textOf, type Values } from './parameters.ts';

export const DUPLICATES = {
  kind: 'choice',
  name: 'duplicateKeyHandling',
  choices: ['ignore', 'replace', 'true', 'false'],
  help: 'Records whose index value is stored: ignore (default, false) or replace (true).',
} as const satisfies Parameter;

/** Of a whole file, which may make its dataset. */
export const FILE_DUPLICATES: Parameter = {
  ...DUPLICATES,
  choices: [...DUPLICATES.choices, 'refuse'],
  help: `${DUPLICATES.help} Refuse: a load that makes its dataset ends where the file itself repeats one.`,
};

/** The members of a load, where the query has them. */
export const repeatsOf = (query: Values): { readonly refusesRepeats?: true } =>
  textOf(query, 'duplicateKeyHandling') === 'refuse' ? { refusesRepeats: true } : {};

/** @throws Failure InvalidParameter for a unique index of nothing. */
export function uniquenessOf(
  query: Values,
  mapping: ColumnMapping | undefined,
): { readonly numbered?: true } {
  const given = query['uniqueIndex'];
  if (given === true && mapping === undefined) refuse('uniqueIndex', 'true needs key or date');
  return given === false ? { numbered: true } : {};
}

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
