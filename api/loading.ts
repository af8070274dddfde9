// What the loading doors share.
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
