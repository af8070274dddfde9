// Mutations of files: truncated, flipped, spliced, repeated, and with unexpected insertions.
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { Seeded } from '../../crash/rounds/seeded.ts';
import { zipOf } from './bases.ts';

type Mutate = (bytes: Buffer, random: Seeded, other: Buffer) => Buffer;

interface Mutation {
  readonly name: string;
  readonly mutate: Mutate;
}

/** Maximum size of a mutated file: repeats must not fill the disk. */
const BYTES_MAX = 4 * 1024 ** 2;

const INSERTS = [
  '\0',
  '﻿',
  '"',
  '""',
  "'",
  '\\',
  '\r',
  '\r\n',
  '\n\n\n',
  ',',
  ',,,,,',
  '|',
  '	',
  ';',
  '1e999',
  '9'.repeat(400),
  '-0',
  '0x1F',
  'NaN',
  'Infinity',
  '1_000',
  '١٢٣',
  '12.',
  '.5',
  '__proto__',
  '"__proto__":{"x":1},',
  'constructor',
  '_system_id',
  '{',
  '}',
  '[',
  ']',
  '[[',
  'null',
  'true',
  '{"a":',
  '"\\u0000"',
  '"\\ud800"',
  '\u2028',
  '🎈',
  '\ud800',
  '￾',
  '9999-12-31',
  '0000-00-00',
  '-290308-12-21',
  '2024-02-30',
  '99999-01-01',
  '24:00:00',
  'PAR1',
  '',
  'PK',
  '#',
  '--',
  "';DROP TABLE x;--",
  '{}\n',
  '[]\n',
  'x'.repeat(7e4),
] as const;

const place = (bytes: Buffer, random: Seeded): number => random.between(0, bytes.length);

function insert(bytes: Buffer, at: number, text: string | Buffer): Buffer {
  const middle = typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
  return Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(at)]);
}

/** End of the first line, or of its first 40 bytes if there is no line break. */
const headerEnd = (bytes: Buffer): number => {
  const end = bytes.indexOf('\n');
  return end < 0 ? Math.min(40, bytes.length) : end;
};

function flip(bytes: Buffer, random: Seeded): Buffer {
  const copy = Buffer.from(bytes);
  for (let n = random.between(1, 8); n > 0 && copy.length > 0; n -= 1) {
    const byte = random.chance(0.7) ? random.between(32, 126) : random.between(0, 255);
    copy[random.between(0, copy.length - 1)] = byte;
  }
  return copy;
}

function swapHeader(bytes: Buffer, random: Seeded): Buffer {
  const end = headerEnd(bytes);
  const names = bytes.subarray(0, end).toString('latin1').split(',');
  const from = random.between(0, names.length - 1);
  const to = random.between(0, names.length - 1);
  const name = names[to] ?? '';
  if (random.chance(0.5)) names[to] = names[from] ?? '';
  names[from] = random.chance(0.3) ? String(random.pick(INSERTS)) : name;
  return Buffer.concat([Buffer.from(names.join(','), 'latin1'), bytes.subarray(end)]);
}

const MUTATIONS: readonly [Mutation, ...Mutation[]] = [
  { name: 'truncate', mutate: (bytes, random) => bytes.subarray(0, place(bytes, random)) },
  { name: 'flip', mutate: flip },
  { name: 'flip again', mutate: flip },
  {
    name: 'flip the end',
    mutate: (bytes, random) => {
      const at = Math.max(0, bytes.length - random.between(1, 200));
      return Buffer.concat([bytes.subarray(0, at), flip(bytes.subarray(at), random)]);
    },
  },
  {
    name: 'splice',
    mutate: (bytes, random, other) =>
      Buffer.concat([
        bytes.subarray(0, place(bytes, random)),
        other.subarray(place(other, random)),
      ]),
  },
  {
    name: 'duplicate',
    mutate: (bytes, random) => {
      const [a, b] = [place(bytes, random), place(bytes, random)].sort((x, y) => x - y);
      const part = bytes.subarray(a, b);
      return insert(bytes, place(bytes, random), Buffer.concat([part, part]));
    },
  },
  { name: 'append itself', mutate: (bytes) => Buffer.concat([bytes, bytes]) },
  {
    name: 'insert',
    mutate: (bytes, random) => insert(bytes, place(bytes, random), random.pick(INSERTS)),
  },
  {
    name: 'insert into the header',
    mutate: (bytes, random) =>
      insert(bytes, random.between(0, headerEnd(bytes)), random.pick(INSERTS)),
  },
  { name: 'swap the header', mutate: swapHeader },
  { name: 'byte order mark', mutate: (bytes) => insert(bytes, 0, '\ufeff') },
  { name: 'UTF-16', mutate: (bytes) => Buffer.from(`\ufeff${bytes.toString('utf8')}`, 'utf16le') },
  { name: 'Latin-1', mutate: (bytes) => Buffer.from(bytes.toString('utf8'), 'latin1') },
  {
    name: 'remove',
    mutate: (bytes, random) => {
      const [a = 0, b = 0] = [place(bytes, random), place(bytes, random)].sort((x, y) => x - y);
      return Buffer.concat([bytes.subarray(0, a), bytes.subarray(b)]);
    },
  },
  {
    name: 'insert everywhere',
    mutate: (bytes, random) => {
      const text = random.pick(INSERTS);
      const places = Array.from({ length: 5 }, () => place(bytes, random));
      return places.reduce((all, at) => insert(all, at, text), bytes);
    },
  },
  { name: 'pack with gzip', mutate: (bytes) => gzipSync(bytes) },
  { name: 'pack with zstd', mutate: (bytes) => zstdCompressSync(bytes) },
  { name: 'pack with zip', mutate: (bytes) => zipOf('b.csv', bytes) },
];

interface Mutated {
  /** Names of the applied mutations, in order. */
  readonly steps: readonly string[];
  readonly bytes: Buffer;
}

/** Applies one to three mutations; `other` is the file that is spliced in. */
export function mutated(bytes: Buffer, other: Buffer, random: Seeded): Mutated {
  let current = bytes;
  const steps: string[] = [];
  for (let n = random.pick([1, 1, 1, 2, 3]); n > 0; n -= 1) {
    const { name, mutate } = random.pick(MUTATIONS);
    current = mutate(current, random, other).subarray(0, BYTES_MAX);
    steps.push(name);
  }
  return { steps, bytes: current };
}
