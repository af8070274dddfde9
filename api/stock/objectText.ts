// Objects as texts, made of values that are JSON already, which stay as they are to the last digit. Of a
// batch long ones stay where they are in memory, short ones are copied once. A copy for each symbol and one
// of all were most of what V8 had to collect after a batch, and in every tenth it stopped 50 ms for that.
import type { Body } from '../../store/duckdb/protocol.ts';

/** An answer of a batch: the place of a type, and that of a symbol. */
type BytesOf = (type: number, symbol: number) => Uint8Array;

type Text = Pick<Body, 'bytes' | 'pieces'>;

const CLOSE = Buffer.from('}');
const EMPTY = Buffer.from('{}');

/** An object of the symbols, each with its types. */
export function textOfSymbols(
  symbols: readonly string[],
  types: readonly string[],
  bytesOf: BytesOf,
): Text {
  if (symbols.length === 0) return { bytes: EMPTY };
  const heads = headsOf(types);
  const pieces = headsOf(symbols).flatMap((head, symbol) => [
    head,
    ...piecesOf(heads, (type) => bytesOf(type, symbol)),
  ]);
  return textOf([...pieces, CLOSE]);
}

/** Members as an object. */
export function asObject(
  members: readonly (readonly [name: string, value: Uint8Array])[],
): Uint8Array {
  if (members.length === 0) return EMPTY;
  const heads = headsOf(members.map(([name]) => name));
  return Buffer.concat(piecesOf(heads, (at) => members[at]?.[1] ?? EMPTY));
}

/** Before the value of each member. */
const headsOf = (names: readonly string[]): readonly Uint8Array[] =>
  names.map((name, at) => Buffer.from(`${at === 0 ? '{' : ','}${JSON.stringify(name)}:`));

const piecesOf = (
  heads: readonly Uint8Array[],
  valueOf: (at: number) => Uint8Array,
): readonly Uint8Array[] => [...heads.flatMap((head, at) => [head, valueOf(at)]), CLOSE];

/** A shorter text is sent whole. */
const WHOLE_BYTES = 1024 ** 2;
/** A shorter piece is copied: a write of its own would cost more. */
const OWN_BYTES = 4 * 1024;

function textOf(all: readonly Uint8Array[]): Text {
  const length = all.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (length < WHOLE_BYTES) return { bytes: Buffer.concat(all, length) };
  const pieces: Uint8Array[] = [];
  let short: Uint8Array[] = [];
  for (const piece of all) {
    if (piece.byteLength < OWN_BYTES) {
      short.push(piece);
      continue;
    }
    pieces.push(Buffer.concat(short), piece);
    short = [];
  }
  return { bytes: new Uint8Array(), pieces: [...pieces, Buffer.concat(short)] };
}
