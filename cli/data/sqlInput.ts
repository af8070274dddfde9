// Reads the input of `tapedeck sql`: the text of the query and the values of its parameters.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOfStream } from 'node:stream/consumers';
import { Failure } from '../../store/base/failure.ts';
import type { Terminal } from '../connect/terminal.ts';

/** Reads the query from the command line, a file, or stdin if that is no terminal. */
export async function queryText(
  query: string | undefined,
  file: string | undefined,
  { folder, stdin }: Terminal,
): Promise<string> {
  if (query !== undefined && file !== undefined) {
    throw new Failure('InvalidParameter', 'there is a query and --file: pass one of them');
  }
  if (query !== undefined) return query;
  if (file !== undefined) return readFile(resolve(folder, file), 'utf8');
  if (stdin.isTTY !== true) return textOfStream(stdin);
  throw new Failure('InvalidParameter', 'no query: tapedeck sql "SELECT …", or --file');
}

type ParameterValues = Readonly<Record<string, string | number | boolean | null>>;

const PARAMETER = /^([A-Za-z_]\w*)(:?)=([^]*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS: ParameterValues = { true: true, false: false, null: null };

/** Parses `name=value`, where a value may be a number, true, false or null, and `name:=text`. */
export function parametersOf(items: readonly string[]): ParameterValues {
  const entries = items.map((item) => {
    const [, name, mark, value = ''] = PARAMETER.exec(item) ?? [];
    if (name === undefined) {
      throw new Failure('InvalidParameter', `--param ${item}: write name=value, or name:=text`);
    }
    return [name, mark === ':' ? value : valueOf(value)] as const;
  });
  return Object.fromEntries(entries);
}

function valueOf(text: string): string | number | boolean | null {
  const word = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined;
  if (word !== undefined) return word;
  const number = NUMBER.test(text) ? Number(text) : Number.NaN;
  // A longer number would be rounded: as a text it is compared exactly.
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : text;
}

/** Formats of an answer beside a table. */
export const FORMATS = ['json', 'jsonl', 'csv', 'psv', 'arrow', 'parquet'];
