// Values that often break parsers, databases and shells.
import type { Seeded } from '../../crash/rounds/seeded.ts';

export const HOSTILE_TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '1',
  '1.5',
  '1e309',
  '-1e-400',
  '9'.repeat(30),
  '0x1F',
  'NaN',
  '007',
  'null',
  'undefined',
  'true',
  'maybe',
  '[]',
  '{}',
  '[object]',
  '"',
  "'",
  '`',
  '\\',
  "' OR 1=1 --",
  '"; DROP TABLE x; --',
  "'); ATTACH 'x.db' AS y; --",
  "x' UNION SELECT 1--",
  '$(id)',
  '`id`',
  ';id',
  '${7*7}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '%s%n',
  '=1+1',
  '../../etc/passwd',
  '..',
  '.',
  '/',
  '//',
  '\\\\host\\share',
  'file:///etc/passwd',
  '\0',
  'A\0B',
  '\r\nX-Injected: 1',
  'a\r\n\r\nHTTP/1.1 200',
  '\n',
  '	',
  '',
  '‮abc',
  'é',
  'é',
  '🎈',
  '𝕳',
  '\u2028',
  '﻿',
  '￿',
  'İ',
  'ſ',
  'ß',
  'ﬁ',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'then',
  '*',
  '?',
  '#',
  '&',
  '=',
  '+',
  '%',
  ',',
  ',,,,',
  '|',
  '~',
  'a|b',
  'a,b,c',
  '$.a[*]',
  '$',
  '$.',
  '2020-13-45',
  '0000-00-00',
  '-9999-01-01',
  '+275760-09-13',
  '20200131',
  '99991231',
  '9999-12-31',
  '10000-01-01',
  '2020-02-30',
  '1582-10-10',
  '2020-01-01T00:00:00Z',
  'today',
  '1'.repeat(12),
  '1'.repeat(13),
  '9'.repeat(14),
  '9'.repeat(15),
  '9007199254740993',
  'a'.repeat(200),
  'a'.repeat(4097),
  'a'.repeat(8192),
  'é'.repeat(1400),
  '9'.repeat(4e3),
  'a.b',
  'WS.',
  '.WS',
  'WS.PRICES.X',
  '_system',
  '_system_updated',
  '_SYSTEM_X',
  'CORE',
] as const;

/** Percent escapes that no encoder produces. */
const HOSTILE_ESCAPES = [
  '%',
  '%2',
  '%zz',
  '%00',
  '%ff%fe',
  '%c0%af',
  '%ed%a0%80',
  '%F0%9F',
] as const;

/** Encodes a text as clients do, sometimes wrongly. */
export function encoded(text: string, random: Seeded): string {
  if (random.chance(0.05)) return random.pick(HOSTILE_ESCAPES);
  if (random.chance(0.03)) return text;
  return encodeURIComponent(text.toWellFormed());
}

const LEAVES: readonly [unknown, ...unknown[]] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -0,
  '',
  'x',
  [],
  {},
  [[]],
  [null],
  { a: {} },
  ...HOSTILE_TEXTS.slice(0, 60),
  'date',
  'integer',
  'string',
  'a'.repeat(129),
  'a'.repeat(10_001),
];

/** A JSON value with prototype keys, wrong types and depth. */
export function hostileJson(random: Seeded, depth = 0): unknown {
  if (depth > 3 || random.chance(0.4)) return random.pick(LEAVES);
  if (random.chance(0.4))
    return Array.from({ length: random.between(0, 4) }, () => hostileJson(random, depth + 1));
  const names = Array.from({ length: random.between(0, 4) }, () => random.pick(HOSTILE_TEXTS));
  return Object.fromEntries(names.map((name) => [name, hostileJson(random, depth + 1)]));
}

/** The value with one of its nodes, at any depth, replaced by a hostile one. */
export function spoiled(value: unknown, random: Seeded): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15))
    return hostileJson(random);
  if (Array.isArray(value)) {
    const at = random.between(0, Math.max(value.length - 1, 0));
    return value.map((item, index) => (index === at ? spoiled(item, random) : item) as unknown);
  }
  const entries = Object.entries(value);
  const at = random.between(0, entries.length);
  const changed = entries.map(([name, item], index): readonly [string, unknown] =>
    index === at ? [name, spoiled(item, random)] : [name, item],
  );
  if (at === entries.length) changed.push([random.pick(HOSTILE_TEXTS), hostileJson(random)]);
  return Object.fromEntries(changed);
}
