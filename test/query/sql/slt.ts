// The cases of *.slt, in the format of sqllogictest as far as it is needed; README.md shows it.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Cell, Table } from './plain.ts';

/** `query`: an answer; `statement error`: a refusal, whose message has the pattern. */
export interface Case {
  readonly kind: 'query' | 'error';
  readonly file: string;
  readonly line: number;
  /** One letter for each column: T text, I whole number, R number, B boolean, J JSON. */
  readonly types: string;
  readonly sorted: boolean;
  /** JSON text of named parameters. */
  readonly parameters: string | undefined;
  /** The text for DuckDB, where it does not read the same text. */
  readonly plain: string | undefined;
  readonly sql: string;
  /** Lines below `----`; of an error the pattern. */
  readonly expected: readonly string[];
}

export interface Suite {
  readonly file: string;
  readonly path: string;
  readonly text: string;
  readonly cases: readonly Case[];
}

const FOLDER = join(import.meta.dirname, 'cases');

export function allSuites(): readonly Suite[] {
  const paths = globSync(join(FOLDER, '*', '*.slt'));
  const named = paths.map((path) => ({ file: basename(path), path }));
  return named
    .toSorted((a, b) => (a.file < b.file ? -1 : 1))
    .map(({ file, path }) => {
      const text = readFileSync(path, 'utf8');
      return { file, path, text, cases: casesOf(file, text) };
    });
}

/** A case is lines without an empty one between; lines that begin with `#` are for readers. */
function casesOf(file: string, text: string): readonly Case[] {
  const cases: Case[] = [];
  let block: string[] = [];
  for (const [at, line] of [...text.split('\n'), ''].entries()) {
    if (line !== '') {
      if (block.length > 0 || !line.startsWith('#')) block.push(line);
      continue;
    }
    if (block.length > 0) cases.push(caseOf(file, at - block.length + 1, block));
    block = [];
  }
  return cases;
}

function caseOf(file: string, line: number, block: readonly string[]): Case {
  const place = `${file}:${line}`;
  const [head = '', ...rest] = block;
  const error = /^statement error (\S.*)$/.exec(head);
  const query = /^query ([TIRBJ]+)( rowsort)?$/.exec(head);
  if (error === null && query === null) throw new Error(`${place}: what is "${head}"?`);
  let at = 0;
  const option = (word: string): string | undefined => {
    const optionLine = rest[at] ?? '';
    if (!optionLine.startsWith(`${word} `)) return undefined;
    at += 1;
    return optionLine.slice(word.length + 1);
  };
  const parameters = option('with');
  const plain = option('plain');
  const bar = rest.indexOf('----');
  const sql = rest.slice(at, bar < 0 ? undefined : bar).join('\n');
  const common = { file, line, parameters, plain, sql };
  if (error !== null) {
    return { ...common, kind: 'error', types: '', sorted: false, expected: [error[1] ?? ''] };
  }
  const expected = bar < 0 ? [] : rest.slice(bar + 1);
  const types = query?.[1] ?? '';
  return { ...common, kind: 'query', types, sorted: query?.[2] !== undefined, expected };
}

/** Rows as a file has them: cells between tabs. */
export const linesOf = ({ rows }: Table): readonly string[] =>
  rows.map((row) => row.map(cellText).join('\t'));

function cellText(cell: Cell): string {
  if (cell === null) return 'NULL';
  if (cell === '') return '(empty)';
  if (typeof cell === 'string') {
    return cell.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  }
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

const JSON_KINDS: Readonly<Record<string, readonly string[]>> = {
  T: ['string'],
  // Past 2 to the power of 53 a whole number is text.
  I: ['number', 'string'],
  R: ['number', 'string'],
  B: ['boolean'],
  J: ['string', 'number', 'boolean', 'object'],
};

/** Whether the columns match the types of the case. */
export function fitsTypes({ types }: Case, { names, rows }: Table): boolean {
  if (rows.length > 0 && names.length !== types.length) return false;
  return rows.every((row) =>
    row.every((cell, at) => cell === null || JSON_KINDS[types[at] ?? '']?.includes(typeof cell)),
  );
}
