// Generates hostile texts: random words, combined parts of attacks, valid SELECTs with a few tokens
// changed. Text `n` of a seed depends on seed and `n` alone.
import type { Seeded } from '../../crash/rounds/seeded.ts';
import { randomSelect } from '../../../query/sql/random/randomSelects.ts';
import { allAttacks } from './attacks.ts';

export function hostileText(random: Seeded): string {
  const text = random.pick([soup, spliced, mutant, mutant, mutant, nested])(random);
  return random.chance(0.1) ? scratched(random, text) : text;
}

/** Longer parts would only exceed the length limit. */
const PIECE_LETTERS_MAX = 1_500;

const PIECES: readonly [string, ...string[]] = [
  'SELECT 1',
  ...allAttacks()
    .map(({ sql }) => sql)
    .filter((sql) => sql.length < PIECE_LETTERS_MAX && sql.isWellFormed()),
];

/** Quoted texts and names, numbers, words, blanks, and any other single character. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\d+(?:\.\d+)?|[\p{L}_][\p{L}\d_]*|\s+|[^]/gu;

const tokensOf = (text: string): string[] => text.match(TOKENS) ?? [];

const WORDS: readonly [string, ...string[]] = [
  ...(['SELECT', 'FROM', 'WHERE', 'GROUP BY', 'HAVING', 'ORDER BY', 'LIMIT', 'OFFSET'] as const),
  'UNION ALL',
  'EXCEPT',
  'INTERSECT',
  'WITH',
  'RECURSIVE',
  'AS',
  'ON',
  'USING',
  'JOIN',
  'LEFT',
  'ASOF',
  'SEMI',
  'ANTI',
  'NATURAL',
  'POSITIONAL',
  'LATERAL',
  'CROSS',
  'QUALIFY',
  'WINDOW',
  'OVER',
  'PARTITION BY',
  'ROWS',
  'RANGE',
  'BETWEEN',
  'AND',
  'OR',
  'NOT',
  'IN',
  'IS',
  'NULL',
  'LIKE',
  'ILIKE',
  'SIMILAR TO',
  'GLOB',
  'ESCAPE',
  'CASE',
  'WHEN',
  'THEN',
  'ELSE',
  'END',
  'CAST',
  'TRY_CAST',
  '::',
  'INTERVAL',
  'DATE',
  'TIMESTAMP',
  'VALUES',
  'DISTINCT',
  'FILTER',

  'PIVOT',
  'UNPIVOT',
  'DESCRIBE',
  'SHOW',
  'SUMMARIZE',
  'TABLE',
  'ATTACH',
  'COPY',
  'SET',
  'CALL',
  'ROLLUP',
  'CUBE',
  'GROUPING SETS',
  'ALL',
  'ANY',
  'EXISTS',
  'COLLATE',
  'USING SAMPLE 3',

  'QUOTES',
  'COMPANIES',
  'NUMS',
  'FREE',
  'GONE',
  'PRICES',
  'TRADES',
  'OTHER.SECRETS',
  'SECRETS',

  'symbol',
  'date',
  'price',
  'note',
  'extra',
  'q',
  't1',
  '*',
  'q.*',
  'COLUMNS(*)',
  '_system_updated',

  '(',
  ')',
  '((',
  '))',
  ',',
  '.',
  ';',
  '+',
  '-',
  '*',
  '/',
  '//',
  '%',
  '||',
  '=',
  '<>',
  '<',
  '>=',

  '->',
  '->>',
  ':=',
  '=>',
  '[',
  ']',
  '{',
  '}',
  '#1',
  '?',
  '$1',
  ':p',
  '$p',
  '@',
  '&',
  '|',
  '~',
  '^@',

  `''`,
  `'x'`,
  `"x"`,
  '`x`',
  `'`,
  `"`,
  '`',
  '\\',
  `'\\'`,
  '--',
  '/*',
  '*/',
  '$$',
  '\n',
  '\r',
  '\0',

  '0',
  '1',
  '-1',
  '1.5',
  '1e308',
  '1e309',
  '9223372036854775808',
  '0x1F',
  '18446744073709551615',

  'read_csv',
  'query',
  'unnest',
  'range',
  'getenv',
  'string_agg',
  'list',
  'repeat',
  'lower',
  'sum',

  'count(*)',
  'row_number()',
  'max',
  'coalesce',
  'json_extract',
  'duckdb_settings()',
  'current_user',
  '\u200b',
  '\u00a0',
  '\ufeff',
  '\u202e',
  'é',
  '🎈',
  '；',
  '＇',
  'İ',
  'ſ',
  '\u2028',
  '\ud800',
];

const many = (random: Seeded, most: number, make: () => string): string =>
  Array.from({ length: random.between(1, most) }, make).join(random.chance(0.9) ? ' ' : '');

const soup = (random: Seeded): string =>
  many(random, random.chance(0.1) ? 300 : 25, () => random.pick(WORDS));

/** The beginning of one attack and the end of another, or one inside the other. */
function spliced(random: Seeded): string {
  const [one, other] = [random.pick(PIECES), random.pick(PIECES)];
  if (random.chance(0.3)) return `SELECT * FROM (${one}) AS a, (${other}) AS b`;
  if (random.chance(0.3))
    return `${one} ${random.pick(['UNION ALL', 'EXCEPT', ';', ','])} ${other}`;
  const [head, tail] = [tokensOf(one), tokensOf(other)];
  const [from, to] = [random.between(0, head.length), random.between(0, tail.length)];
  return [...head.slice(0, from), ...tail.slice(to)].join('');
}

const NESTS: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ['(', ')'],
  ['SELECT (', ')'],
  ['SELECT * FROM (', ') x'],
  ['WITH a AS (', ') SELECT * FROM a'],
  ['SELECT 1 WHERE EXISTS (', ')'],
  ['SELECT CASE WHEN true THEN (', ') END'],
  ['SELECT coalesce(', ')'],
  ['SELECT sum((', ')) OVER ()'],
  ['SELECT 1 UNION ALL (', ')'],
];

function nested(random: Seeded): string {
  const nests = Array.from({ length: random.between(1, 12) }, () => random.pick(NESTS));
  const heart = random.chance(0.5) ? random.pick(PIECES) : soup(random);
  return nests.reduce((text, [before, behind]) => `${before}${text}${behind}`, heart);
}

/** A valid SELECT with a few of its tokens changed: randomly, or for others of their kind. */
function mutant(random: Seeded): string {
  const tokens = tokensOf(randomSelect(random));
  const changes = random.chance(0.3) ? CHANGES : [exchange];
  for (let left = random.between(0, 2); left > 0; left -= 1) {
    if (tokens.length > 0)
      pickFrom(random, changes)(random, tokens, random.between(0, tokens.length - 1));
  }
  return tokens.join('');
}

const pickFrom = <Item>(random: Seeded, items: readonly Item[]): Item =>
  items[random.between(0, items.length - 1)] as Item;

/** Tokens that can replace each other without breaking the text. */
const ALIKE: readonly (readonly string[])[] = [
  ['LEFT', 'RIGHT', 'FULL', 'INNER', 'SEMI', 'ANTI', 'ASOF', 'NATURAL', 'CROSS', 'POSITIONAL'],
  ['UNION', 'EXCEPT', 'INTERSECT'],
  ['AND', 'OR'],
  ['=', '<', '>', '~', '%', '-', '*', '/', '+'],
  [
    'max',
    'min',
    'sum',
    'avg',
    'count',
    'first',
    'list',
    'string_agg',
    'median',
    'array_agg',
    'mode',
  ],
  [
    'upper',
    'lower',
    'trim',
    'reverse',
    'length',
    'abs',
    'getenv',
    'error',
    'hex',
    'unnest',
    'typeof',
  ],
  [
    'row_number',
    'rank',
    'dense_rank',
    'ntile',
    'lag',
    'lead',
    'nth_value',
    'query',
    'percent_rank',
  ],
  ['ROWS', 'RANGE', 'GROUPS'],
  ['DESC', 'ASC'],
  ['ROLLUP', 'CUBE'],
  [
    'VARCHAR',
    'BIGINT',
    'DOUBLE',
    'DATE',
    'TIMESTAMP',
    'BOOLEAN',
    'INTEGER',
    'JSON',
    'HUGEINT',
    'BLOB',
  ],
  ['TRUE', 'FALSE', 'NULL', 'true', 'false', 'UNKNOWN'],
  ['LIKE', 'ILIKE', 'GLOB'],
  ['year', 'month', 'day', 'dow', 'hour', 'century', 'epoch', 'timezone'],
  ['COMPANIES', 'PRICES', 'QUOTES', 'TRADES', 'SECRETS', 'companies', 'prices', 'quotes', 'trades'],
];

/** Replaces a token by another of its kind: a number, a text, or a name from the same text. */
function exchange(random: Seeded, tokens: string[], from: number): void {
  const at = tokens.findIndex((token, index) => index >= from && kindOf(token) !== undefined);
  const token = tokens[at];
  if (token === undefined) return;
  const alike = ALIKE.find((words) => words.includes(token));
  const others = alike ?? tokens.filter((other) => kindOf(other) === kindOf(token));
  const number = kindOf(token) === '1' && random.chance(0.4);
  tokens[at] = number ? random.pick(NUMBERS) : pickFrom(random, others);
}

/** The kind of a token as a text; columns are written in lower case, keywords in upper case. */
function kindOf(token: string): string | undefined {
  if (ALIKE.some((words) => words.includes(token))) return 'alike';
  if (/^\d/.test(token)) return '1';
  return /^(?:['"`]|[a-z]+$)/.exec(token)?.[0].slice(0, 1).replace(/[a-z]/, 'a');
}

const NUMBERS = [
  '0',
  '-1',
  '1e18',
  '9223372036854775807',
  '9223372036854775808',
  '1e308',
  '0.1',
] as const;

type Change = (random: Seeded, tokens: string[], at: number) => void;

const CHANGES: readonly Change[] = [
  (_, tokens, at) => void tokens.splice(at, 1),
  (_, tokens, at) => void tokens.splice(at, 0, tokens[at] ?? ''),
  (random, tokens, at) => void tokens.splice(at, 1, random.pick(WORDS)),
  (random, tokens, at) => void tokens.splice(at, 0, ` ${random.pick(WORDS)} `),
  (random, tokens, at) => {
    const other = random.between(0, tokens.length - 1);
    [tokens[at], tokens[other]] = [tokens[other] ?? '', tokens[at] ?? ''];
  },
  (random, tokens, at) => {
    const size = random.between(1, 12);
    tokens.splice(random.between(0, tokens.length), 0, ...tokens.slice(at, at + size));
  },
  (random, tokens, at) => void tokens.splice(at, random.between(1, 12)),
  // Another function or name instead of a word.
  (random, tokens, at) => {
    const place = tokens.findIndex((token, index) => index >= at && /^\p{L}/u.test(token));
    const words = [...FUNCTIONS, ...NAMES] as const;
    if (place >= 0) tokens.splice(place, 1, random.pick(words));
  },
];

const FUNCTIONS = ['read_text', 'query_table', 'getenv', 'list', 'error', 'glob', 'sum'] as const;
const NAMES = [
  'OTHER.SECRETS',
  '`OTHER`.`SECRETS`',
  `'/etc/passwd'`,
  'pg_class',
  'HIDDEN2',
] as const;

/** Adds, removes or replaces one character. */
function scratched(random: Seeded, text: string): string {
  const at = random.between(0, text.length);
  const sign = random.pick([`'`, '"', '`', '\\', '\0', '(', ')', ';', '\u00e9', '--', '/*', ' ']);
  return text.slice(0, at) + random.pick([sign, '']) + text.slice(at + random.between(0, 1));
}
