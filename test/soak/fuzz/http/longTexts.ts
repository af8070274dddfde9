// Long texts that make regular expressions and scanners backtrack, and bodies that contain one.
import type { Seeded } from '../../crash/rounds/seeded.ts';

const UNITS = [
  ' ',
  '	',
  '\n',
  'a',
  'A',
  '0',
  '9',
  '1.',
  '0e',
  '-',
  '+',
  '_',
  '.',
  ',',
  ';',
  ':',
  '|',
  '/',
  '*',
  '**/',
  '/*',
  '/**/',
  '--',
  '--\n',
  '(',
  '((',
  '[',
  '[]',
  '{',
  '${',
  '$',
  '$.',
  '%',
  '%2',
  '\\',
  "'",
  "''",
  '"',
  '""',
  '`',
  '#',
  '@',
  '&',
  '=',
  '<',
  '>',
  '!',
  '?',
  '~',
  '^',
  '*.',
  '://',
  '::',
  'http://a',
  's3://',
  'a,',
  ',a',
  'a b ',
  'a.b.',
  '[*]',
  ' AND ',
  ' OR ',
  'NOT ',
  'CASE ',
  '1,',
  '(1)',
  'LINE 1:',
  'string "',
  '" to ',
  '2024-01-01',
  '01/02/2024',
  '12:00:00.',
  'Jan ',
  '1d',
  'é',
  '🎈',
  '̀',
  'a=b&',
  'a[',
  '0 0 ',
  '*/1 ',
  '* ',
  '10.0.0.0/8,',
  'SELECT ',
  'WITH ',
  'UNION ',
  'İ',
  '\0',
] as const;
const HEADS = [
  '',
  '',
  '',
  'SELECT ',
  '1',
  '-',
  'a',
  '/*',
  '--',
  '$',
  '$.',
  '"',
  "'",
  'https://',
  '2024-01-01',
  '[',
  '{',
  '(',
  '.',
  '0',
  's3://',
  'SELECT * FROM PRICES WHERE symbol = ',
  'last-',
  '^',
  '*',
  'a/',
  'e',
] as const;
const TAILS = [
  '',
  '',
  '!',
  '\n',
  '\u0000',
  'x',
  '"',
  "'",
  ')',
  ' ',
  '1',
  '/',
  '\n!',
  '*/x',
] as const;

export function longText(random: Seeded, characters: number): string {
  const unit = random.pick(UNITS);
  const both = random.chance(0.3) ? unit + random.pick(UNITS) : unit;
  const times = Math.ceil(characters / both.length);
  const text = both.repeat(times).slice(0, characters);
  return (random.pick(HEADS) + text + random.pick(TAILS)).toWellFormed();
}

/** The part of JSON Schema that is used here. */
export interface BodySchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly BodySchema[];
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly required?: readonly string[];
  readonly items?: BodySchema;
  readonly minimum?: number;
  readonly maxLength?: number;
  readonly patternProperties?: Readonly<Record<string, BodySchema>>;
}

/** A value of the schema whose texts are mostly long; `long` returns one of at most `most` characters. */
export function bodyOf(
  schema: BodySchema,
  random: Seeded,
  long: (most: number) => string,
): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick([schema.enum[0], ...schema.enum]);
  const [one, ...others] = schema.anyOf ?? [];
  if (one !== undefined) return bodyOf(random.pick([one, ...others]), random, long);
  if (schema.type === 'object') return membersOf(schema, random, long);
  if (schema.type === 'array') return [bodyOf(schema.items ?? {}, random, long)];
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  return random.chance(0.4) ? 'PRICES' : long(schema.maxLength ?? Infinity);
}

function membersOf(
  { patternProperties, properties = {}, required = [] }: BodySchema,
  random: Seeded,
  long: (most: number) => string,
): object {
  const chosenProperties = Object.entries(properties).filter(
    ([name]) => required.includes(name) || random.chance(0.4),
  );
  const members = chosenProperties.map(
    ([name, schema]) => [name, bodyOf(schema, random, long)] as const,
  );
  const [free] = Object.values(patternProperties ?? {});
  const extra = free === undefined ? [] : [[long(200), bodyOf(free, random, long)] as const];
  return Object.fromEntries([...members, ...extra]);
}

/** Bodies whose members depend on each other, by the end of their path; the long text is the argument. */
export const SPECIAL: readonly {
  readonly path: string;
  readonly body: (text: string) => unknown;
}[] = [
  { path: '/data-sources/{workspace}', body: (query) => ({ type: 'POSTGRES', query }) },
  { path: '/data-sources/{workspace}', body: (table) => ({ type: 'POSTGRES', table }) },
  { path: '/data-sources/{workspace}', body: (url) => ({ type: 'HTTP', url }) },
  { path: '/data-sources/{workspace}', body: (path) => ({ type: 'FILE', path }) },
  { path: '/data-sources/{workspace}', body: (query) => ({ type: 'DATASET', query }) },
  {
    path: '/data-sources/{workspace}',
    body: (pattern) => ({ type: 'AWS-S3', awsbucketName: 'b', pattern }),
  },
  {
    path: '/data-sources/{workspace}',
    body: (jsonPath) => ({ type: 'HTTP', url: 'https://a.example/', jsonPath }),
  },
  { path: '/views/{workspace}', body: (query) => ({ view: { name: 'V', query } }) },
  { path: '/endpoints/{workspace}', body: (query) => ({ endpoint: { name: 'E', query } }) },
  {
    path: '/ingestion-schedules/{workspace}',
    body: (cron) => ({ datasetId: 'D', dataSourceId: 'x', cron: cron.slice(0, 200) }),
  },
  { path: '/record/{workspace}/{id}', body: (symbol) => [{ symbol, date: '2024-01-01', v: 1 }] },
  { path: '/record/{workspace}/{id}', body: (date) => [{ symbol: 'A', date, v: 1 }] },
  { path: '/record/{workspace}/{id}', body: (v) => [{ symbol: 'A', date: '2024-01-01', v }] },
  { path: '/webhooks/{workspace}', body: (url) => ({ url }) },
];

/** Files with a long cell, a long name, or a long line, as they are loaded. */
export const FILES: readonly ((text: string) => string)[] = [
  (text) => `symbol,v\nA,${text}\n`,
  (text) => `symbol,v\n"${text.replaceAll('"', '""')}",1\nB,2\n`,
  (text) => `symbol,${text}\nA,1\n`,
  (text) => text,
  (text) => JSON.stringify([{ symbol: 'A', v: text }]),
  (text) => `${JSON.stringify({ symbol: 'A', [text.slice(0, 300)]: 1 })}\n`,
  (text) => `[{"symbol":"A","v":${text}}]`,
  (text) => `symbol|v\n${`A|${text.slice(0, 500)}\n`.repeat(50)}`,
];
