// Polluted CSV files of any dialect: each line of a file is a record that is read back cell for cell, or is
// reported as a reject or in a note. A refused file loads with the first hint of the message.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { openRelation } from '../../../../pipeline/decode/decode.ts';
import type { Reading } from '../../../../pipeline/bytes/reading.ts';
import type { Relation } from '../../../../pipeline/values/relation.ts';
import { lineInFile } from '../../../../pipeline/bytes/unreadLines.ts';
import type { Workbench } from '../../../../pipeline/bytes/workbench.ts';
import { hintsIn } from '../../../pipeline/hints/followHints.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';

interface Line {
  readonly text: string;
  /** Lines of the file that it takes. */
  readonly lines: number;
  readonly record?: readonly string[];
  readonly isReject?: true;
}

interface CsvFile {
  readonly bytes: Buffer;
  /** The records, each with its first line. */
  readonly records: readonly { readonly line: number; readonly cells: readonly string[] }[];
  readonly rejects: readonly number[];
  readonly isRefused: boolean;
  readonly name: string;
}

const WORDS = [
  'alpha',
  'x y',
  "it's",
  'é',
  '',
  'the "hi"',
  'a,b',
  'c;d',
  'two\nlines',
  'p|q',
  '#1',
];
const CALM = ['alpha', 'beta', 'é', '', 'gamma'];

function fileOf(random: Seeded): CsvFile {
  const delimiter = random.pick([',', ';', '\t', '|']);
  const end = random.pick(['\n', '\n', '\r\n', '\r']);
  const encoding = random.pick(['utf-8', 'bom', 'utf-16', 'latin1']);
  const width = random.between(3, 5);
  const isOpen = random.chance(0.15);
  const words = (isOpen ? CALM : WORDS).map((word) => word.replace('\n', end));
  const isQuoted = !isOpen && random.chance(0.2);
  const spelled = (cell: string): string =>
    isQuoted || /["\r\n]/.test(cell) || cell.includes(delimiter)
      ? `"${cell.replaceAll('"', '""')}"`
      : cell;
  const names = ['key', 'value', 'note', 'more', 'last'].slice(0, width);
  const header = names.map(spelled).join(delimiter);
  const rate = random.pick([0, 0, 0.05, 0.12]);
  const rowOf = (at: number): Line => {
    const [first, ...others] = words;
    const rest = names.slice(2).map(() => random.pick([first ?? '', ...others]));
    const record = [`k${at}`, String(at * 1.5), ...rest];
    const text = record.map(spelled).join(delimiter);
    return { text, lines: text.split(end).length, record };
  };
  const count = random.between(8, 40);
  const body = Array.from({ length: count }, (_, at) =>
    at > 3 && random.chance(rate)
      ? pollutedLine(random, at, { delimiter, header, isOpen, width })
      : rowOf(at),
  );
  const titles = random.chance(0.2)
    ? [
        { text: 'Prices of today', lines: 1 },
        { text: '', lines: 1 },
      ].slice(0, random.between(1, 2))
    : [];
  const footer = random.chance(0.15)
    ? [
        { text: '', lines: 1 },
        { text: 'Source: the exchange', lines: 1 },
      ]
    : [];
  const all: readonly Line[] = [...titles, { text: header, lines: 1 }, ...body, ...footer];
  const starts = all.map((_, at) => all.slice(0, at).reduce((line, { lines }) => line + lines, 1));
  const text = `${all.map((line) => line.text).join(end)}${random.chance(0.8) ? end : ''}`;
  return {
    bytes: encoded(text, encoding),
    records: all.flatMap(({ record }, at) =>
      record === undefined ? [] : [{ line: starts[at] ?? 0, cells: record }],
    ),
    rejects: all.flatMap(({ isReject }, at) => (isReject === true ? [starts[at] ?? 0] : [])),
    isRefused: titles.length > 0 || footer.length > 0,
    name: JSON.stringify({ delimiter, end, encoding, width, isOpen, isQuoted }),
  };
}

interface Shape {
  readonly delimiter: string;
  readonly header: string;
  /** Quotes are left open. */
  readonly isOpen: boolean;
  readonly width: number;
}

function pollutedLine(random: Seeded, at: number, shape: Shape): Line {
  const { delimiter, header, isOpen, width } = shape;
  const plain = [`k${at}`, '1', ...Array.from({ length: width - 2 }, () => 'z')];
  const kinds = ['short', 'long', 'empty', 'comment', 'header', 'blank'] as const;
  const kind = isOpen && random.chance(0.5) ? 'open' : random.pick(kinds);
  if (kind === 'comment') return { text: '# a remark', lines: 1 };
  if (kind === 'header') return { text: header, lines: 1 };
  if (kind === 'blank') return { text: '', lines: 1 };
  const cells = {
    short: plain.slice(1),
    long: [...plain, 'z'],
    empty: [...plain, ''],
    open: [...plain.slice(0, -1), '"open'],
  }[kind];
  return { text: cells.join(delimiter), lines: 1, isReject: true };
}

function encoded(text: string, encoding: string): Buffer {
  if (encoding === 'latin1') return Buffer.from(text, 'latin1');
  if (encoding === 'utf-16') return Buffer.from(`\uFEFF${text}`, 'utf16le');
  return Buffer.from(encoding === 'bom' ? `\uFEFF${text}` : text);
}

/** The rows of a relation, read by another CSV parser. */
async function rowsOf(relation: Relation): Promise<readonly (readonly string[])[]> {
  assert.equal(relation.kind, 'csv');
  if (relation.kind !== 'csv') return [];
  const text = await readFile(relation.path, 'utf8');
  const from = (relation.skip ?? 0) + (relation.headerless === true ? 1 : 2);
  const options = { bom: true, delimiter: relation.delimiter, from_line: from };
  return parse(text, { ...options, skip_empty_lines: relation.columns.length > 1 });
}

async function playFile(seed: number, folder: string): Promise<'plain' | 'tidy' | 'refused'> {
  const file = fileOf(seeded(seed));
  const label = `seed ${seed} ${file.name}`;
  const path = join(folder, 'body');
  await writeFile(path, file.bytes);
  // No statement runs for a CSV.
  const bench = { folder } as Workbench;
  const open = (reading: Reading): Promise<Relation> => openRelation({ path, reading }, bench);
  let relation: Relation;
  let isRefused = false;
  try {
    relation = await open({});
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [hint] = hintsIn(message);
    assert.ok(hint !== undefined && file.isRefused, `${label}: ${message}`);
    const members = Object.entries(hint.query).map(([name, value]) => [name, Number(value)]);
    relation = await open(Object.fromEntries(members) as Reading);
    isRefused = true;
  }
  const expectedRows = file.records.map(({ cells }) => cells);
  assert.deepEqual(await rowsOf(relation), expectedRows, label);
  const rejects = relation.unread?.rejects ?? [];
  assert.equal(
    relation.unread?.count ?? 0,
    file.rejects.length,
    `${label}: ${JSON.stringify(rejects)}`,
  );
  assert.deepEqual(
    rejects.map(({ line }) => line),
    file.rejects,
    label,
  );
  if (relation.lineSteps === undefined) return 'plain';
  const lines = file.records.map((_, at) => lineInFile(relation.lineSteps, at + 1));
  assert.deepEqual(
    lines,
    file.records.map(({ line }) => line),
    label,
  );
  return isRefused ? 'refused' : 'tidy';
}

/** Reads `count` random files; returns how many DuckDB read directly, were rewritten, and were refused. */
export async function csvFilesLaw(count: number, seed: number): Promise<string> {
  const tally = { plain: 0, tidy: 0, refused: 0 };
  const folder = await mkdtemp(join(tmpdir(), 'csv-files-'));
  try {
    for (let at = 0; at < count; at += 1) {
      const own = await mkdtemp(join(folder, 'file-'));
      tally[await playFile(seed * 100_003 + at, own)] += 1;
      await rm(own, { recursive: true });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return JSON.stringify(tally);
}
