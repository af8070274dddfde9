// The functions that a SELECT may call; any other is refused. Excluded on purpose: functions that read
// files, expose the engine or its environment, differ from call to call, make structs or maps, or make
// large values out of small ones.
import { distance } from 'fastest-levenshtein';
import { AGGREGATES } from './aggregates.ts';
import { DATE_FUNCTIONS } from './dateFunctions.ts';
import { JSON_FUNCTIONS } from './jsonFunctions.ts';
import { LIST_FUNCTIONS } from './listFunctions.ts';
import { NUMBER_FUNCTIONS } from './numberFunctions.ts';
import { TEXT_FUNCTIONS } from './textFunctions.ts';
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

// A Map, because names come from users and a plain object has inherited names.
const BY_NAME: ReadonlyMap<string, SqlFunction> = new Map(FUNCTIONS.map((one) => [one.name, one]));

/** Finds a function by name, in any case. */
export const findFunction = (name: string): SqlFunction | undefined =>
  BY_NAME.get(name.toLowerCase());

/** Most edits between a misspelled name and a suggestion. */
const EDITS_MAX = 2;
/** A longer name is not a misspelling. */
const NAME_CHARACTERS_MAX = 32;

/** Suggests the function with the most similar name, if there is one. */
export function nearestFunction(name: string): string | undefined {
  if (name.length > NAME_CHARACTERS_MAX) return undefined;
  const lowerName = name.toLowerCase();
  // Two edits would change all of a short name.
  const most = Math.min(EDITS_MAX, Math.floor(lowerName.length / 3));
  const near = FUNCTIONS.map((one) => ({ name: one.name, edits: distance(lowerName, one.name) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.name;
}
