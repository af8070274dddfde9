// Joins JSON values to objects as text, so that every digit is preserved. Long values of a batch are not
// copied, short ones are copied once. A copy for each symbol and one of all caused most of V8's garbage after
// a batch, and in every tenth a pause of 50 ms.
import type { Body } from '../../store/duckdb/protocol.ts';

/** Returns a value of a batch by the index of its type and of its symbol. */
type BytesOf = (type: number, symbol: number) => Uint8Array;

type Text = Pick<Body, 'bytes' | 'pieces'>;

const CLOSE = Buffer.from('}');
const EMPTY = Buffer.from('{}');

/** Builds an object of symbols, each with its types. */
export function joinSymbols(
  symbols: readonly string[],
  types: readonly string[],
  bytesOf: BytesOf,
): Text {
  if (symbols.length === 0) return { bytes: EMPTY };
  const heads = buildHeads(types);
  const pieces = buildHeads(symbols).flatMap((head, symbol) => [
    head,
    ...buildPieces(heads, (type) => bytesOf(type, symbol)),
  ]);
  return joinPieces([...pieces, CLOSE]);
}

/** Builds an object of members. */
export function joinObject(
  members: readonly (readonly [name: string, value: Uint8Array])[],
): Uint8Array {
  if (members.length === 0) return EMPTY;
  const heads = buildHeads(members.map(([name]) => name));
  return Buffer.concat(buildPieces(heads, (at) => members[at]?.[1] ?? EMPTY));
}

/** Builds the text before the value of each member. */
const buildHeads = (names: readonly string[]): readonly Uint8Array[] =>
  names.map((name, at) => Buffer.from(`${at === 0 ? '{' : ','}${JSON.stringify(name)}:`));

const buildPieces = (
  heads: readonly Uint8Array[],
  valueOf: (at: number) => Uint8Array,
): readonly Uint8Array[] => [...heads.flatMap((head, at) => [head, valueOf(at)]), CLOSE];

/** Minimum bytes of a text that is sent in pieces. */
const WHOLE_BYTES = 1024 ** 2;
/** Minimum bytes of a piece that is not copied: below, a separate write would cost more. */
const OWN_BYTES = 4 * 1024;

function joinPieces(all: readonly Uint8Array[]): Text {
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
