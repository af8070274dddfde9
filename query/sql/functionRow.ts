// A function of the allow-list as a row of a table: its call says its name and how many arguments
// it takes, so that the page and the check can not differ.
import type { SqlFunction } from './functions.ts';

/** Arguments of a function that takes any number of them. */
const MANY = 100;

/** What the call does not say. */
type More = Partial<Omit<SqlFunction, 'kind' | 'signature' | 'does' | 'example' | 'answer'>>;

/** `substring(text, start[, length])`: in brackets what may be left out, `...` for any number. */
type FunctionRow = readonly [
  call: string,
  does: string,
  example: string,
  answer: string,
  more?: More,
];

export function functionsOf(
  kind: SqlFunction['kind'],
  rows: readonly FunctionRow[],
): readonly SqlFunction[] {
  return rows.map(([signature, does, example, answer, more]) => ({
    name: signature.split('(')[0] ?? '',
    kind,
    arguments: argumentsOf(signature),
    signature,
    does,
    example,
    answer,
    ...more,
  }));
}

function argumentsOf(signature: string): readonly [least: number, most: number] {
  const inside = signature.slice(signature.indexOf('(') + 1, -1);
  const opens = inside.indexOf('[');
  const needed =
    opens < 0 ? inside : inside.slice(0, opens) + inside.slice(inside.lastIndexOf(']') + 1);
  const most = inside.includes('...') ? MANY : countOf(inside.replaceAll(/[[\]]/g, ''));
  return [countOf(needed), most];
}

const countOf = (words: string): number => (words === '' ? 0 : words.split(',').length);
