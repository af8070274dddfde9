// Derives the symbol of a file from its name, if its records have none: vendors name such files by symbol.
import { basename } from 'node:path';

const ENDINGS = new Set([
  'us',
  'csv',
  'tsv',
  'psv',
  'txt',
  'json',
  'jsonl',
  'ndjson',
  'parquet',
  'arrow',
  'gz',
  'zst',
  'zip',
]);
/** Up to five letters or six digits, and optionally a class or a market. */
const SYMBOL = /^(?:[a-z]{1,5}|\d{1,6})(?:[ ._-][a-z]{1,3})?$/i;
/** Common names of price files that are no symbols. */
const WORDS = new Set(['bars', 'daily', 'data', 'ohlc', 'ohlcv', 'price', 'stock', 'table']);

/** `aapl.us.txt` -> AAPL; undefined for a name that is no symbol. */
export function symbolOfFile(path: string): string | undefined {
  const parts = basename(path).split('.');
  while (parts.length > 1 && ENDINGS.has(parts.at(-1)?.toLowerCase() ?? '')) parts.pop();
  const name = parts.join('.');
  return SYMBOL.test(name) && !WORDS.has(name.toLowerCase()) ? name.toUpperCase() : undefined;
}
