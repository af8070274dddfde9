// The functions that a SELECT may call; what is not here is refused. Left out on purpose: what
// reads, what tells of the engine or its surroundings, what differs from call to call, what makes
// lists, structs or maps, and what makes much out of little.
import { distance } from '../../store/settings.ts';
import { AGGREGATES } from './aggregates.ts';
import { DATE_FUNCTIONS } from './functionsOfDates.ts';
import { JSON_FUNCTIONS } from './functionsOfJson.ts';
import { NUMBER_FUNCTIONS } from './functionsOfNumbers.ts';
import { TEXT_FUNCTIONS } from './functionsOfTexts.ts';
import { STATISTICS } from './statistics.ts';
import { WINDOW_FUNCTIONS } from './windowFunctions.ts';

export interface SqlFunction {
  /** Lower case; DuckDB's name as it stands in the serialized AST. */
  readonly name: string;
  /** A scalar, an aggregate, which is a window function too, or a window function only. */
  readonly kind: 'scalar' | 'aggregate' | 'window';
  /** Least and greatest number of arguments. */
  readonly arguments: readonly [least: number, most: number];
  /** A macro of DuckDB that says an argument more than once: nested, it doubles with each level. */
  readonly copies?: true;
  /** Index of an argument that must be an integer literal, and its greatest value. */
  readonly literalMax?: Readonly<Record<number, number>>;
  /** A macro of DuckDB that is an aggregate but no window function. */
  readonly noWindow?: true;
  /** As the page shows it: `date_trunc(part, date)`. */
  readonly signature: string;
  /** One sentence. */
  readonly does: string;
  /** An expression that stands alone, or a whole SELECT over the table PRICES; runs as it is. */
  readonly example: string;
  /** Its answer: text of the JSON of the first record's first value. */
  readonly answer: string;
}

export const FUNCTIONS: readonly SqlFunction[] = [
  ...NUMBER_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...DATE_FUNCTIONS,
  ...JSON_FUNCTIONS,
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
