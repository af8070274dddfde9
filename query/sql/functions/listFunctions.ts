// Functions of lists that aggregates and `[…]` create; none makes large values out of small ones.
import { toFunctions, type SqlFunction } from './functionRow.ts';

export const LIST_FUNCTIONS: readonly SqlFunction[] = toFunctions('scalar', [
  ['list_value(value...)', 'A list; the same as `[1, 2]`.', '[1, 2]', '[1,2]'],
  ['list_contains(list, value)', 'Whether a value is in it.', 'list_contains([1, 2], 2)', 'true'],
  ['list_position(list, value)', 'Where it is first.', "list_position(['a', 'b'], 'b')", '2'],
  [
    'array_to_string(list, between)',
    'Its values as one text.',
    "SELECT array_to_string(list(symbol ORDER BY symbol), '-') FROM (SELECT DISTINCT symbol FROM PRICES)",
    '"AAPL-MSFT"',
    { copies: true },
  ],
  ['string_split(text, by)', 'The parts of a text.', "string_split('a,b', ',')", '["a","b"]'],
]);
