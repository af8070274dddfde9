// The functions that a SELECT may call; what is not here is refused. Left out on purpose: what
// reads, what tells of the engine or its surroundings, what differs from call to call, what makes
// structs or maps, and what makes much out of little.
import { distance } from 'fastest-levenshtein';
import { AGGREGATES } from './aggregates.ts';
import { DATE_FUNCTIONS } from './functionsOfDates.ts';
import { JSON_FUNCTIONS } from './functionsOfJson.ts';
import { LIST_FUNCTIONS } from './functionsOfLists.ts';
import { NUMBER_FUNCTIONS } from './functionsOfNumbers.ts';
import { TEXT_FUNCTIONS } from './functionsOfTexts.ts';
import { STATISTICS } from './statistics.ts';
import { WINDOW_FUNCTIONS } from './windowFunctions.ts';
import type { SqlFunction } from './functionRow.ts';

export const FUNCTIONS: readonly SqlFunction[] = [
  ...NUMBER_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...DATE_FUNCTIONS,
  ...JSON_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...AGGREGATES,
  ...STATISTICS,
  ...WINDOW_FUNCTIONS,
];

// A map: names come from outside, and no plain object has only the names that it was given.
const BY_NAME: ReadonlyMap<string, SqlFunction> = new Map(FUNCTIONS.map((one) => [one.name, one]));

/** Its case does not count. */
export const functionNamed = (name: string): SqlFunction | undefined =>
  BY_NAME.get(name.toLowerCase());

/** Edits up to which a name may have been meant. */
const EDITS_MAX = 2;
/** Longer names are nobody's slip. */
const NAME_CHARACTERS_MAX = 32;

/** The function that was meant, if one is near. */
export function nearestFunction(name: string): string | undefined {
  if (name.length > NAME_CHARACTERS_MAX) return undefined;
  const asked = name.toLowerCase();
  // Of a short name two edits leave nothing.
  const most = Math.min(EDITS_MAX, Math.floor(asked.length / 3));
  const near = FUNCTIONS.map((one) => ({ name: one.name, edits: distance(asked, one.name) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.name;
}
