// Functions of JSON; none returns a list.
import { toFunctions, type SqlFunction } from './functionRow.ts';

export const JSON_FUNCTIONS: readonly SqlFunction[] = toFunctions('scalar', [
  [
    'json_extract(json, path)',
    'The value at a path, as JSON.',
    `json_extract('{"venue": "XNAS"}', '$.venue')`,
    '"XNAS"',
  ],
  [
    'json_extract_path(json, path)',
    'The same as json_extract.',
    `json_extract_path('{"lot": [100, 5]}', '$.lot[0]')`,
    '100',
  ],
  [
    'json_extract_string(json, path)',
    'The value at a path, as text.',
    "SELECT json_extract_string(detail, '$.venue') FROM PRICES WHERE symbol = 'AAPL' ORDER BY date",
    '"XNAS"',
  ],
  [
    'json_extract_path_text(json, path)',
    'The same as json_extract_string.',
    `json_extract_path_text('{"venue": "XNAS"}', '$.venue')`,
    '"XNAS"',
  ],
  [
    'json_value(json, path)',
    'The value at a path as text; null when it is an object or an array.',
    `json_value('{"lot": 100}', '$.lot')`,
    '"100"',
  ],
  [
    'json_exists(json, path)',
    'Whether there is a value at a path.',
    `json_exists('{"lot": 100}', '$.venue')`,
    'false',
  ],
  [
    'json_array_length(json[, path])',
    'Number of elements of an array.',
    "json_array_length('[1, 2, 3]')",
    '3',
  ],
  [
    'json_type(json[, path])',
    'What it is: OBJECT, ARRAY, VARCHAR, UBIGINT, DOUBLE, BOOLEAN, NULL.',
    `json_type('{"lot": 100}', '$.lot')`,
    '"UBIGINT"',
  ],
  ['json_valid(text)', 'Whether a text is JSON.', `json_valid('{"lot": }')`, 'false'],
  [
    'json_contains(json, part)',
    'Whether a value occurs in it.',
    "json_contains('[1, 2, 3]', '2')",
    'true',
  ],
]);
