// `filter` and `format` of answers that are small JSON (SPEC.md "Common response conventions").
import type { Answer, Call } from './endpoint.ts';
import { listOf, type Parameter } from './parameters.ts';

export const JSON_PARAMETERS: readonly Parameter[] = [
  { kind: 'list', name: 'filter', help: 'Comma list of the attributes to return.' },
  { kind: 'choice', name: 'format', choices: ['json'], help: 'Only json.' },
];

/** An object, or each object of an array, with the attributes that `filter` names. */
export function filteredJson({ query }: Call, value: object): Answer {
  const names = listOf(query, 'filter');
  const wanted = new Set(names);
  const pick = (item: object): object =>
    Object.fromEntries(Object.entries(item).filter(([name]) => wanted.has(name)));
  const kept = names === undefined ? value : Array.isArray(value) ? value.map(pick) : pick(value);
  return { kind: 'json', value: kept, metering: 'free' };
}
