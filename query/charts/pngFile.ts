// Encodes a PNG file whose dots are indexes in a palette (RFC 2083).
import { crc32, deflateSync } from 'node:zlib';
import type { ChartSize } from './chartLayout.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Bits of a dot, and the colour type of palette indexes. */
const [DEPTH, BY_PALETTE] = [8, 3];

export function pngFile(
  dots: Uint8Array,
  { height, width }: ChartSize,
  palette: readonly (readonly [number, number, number])[],
): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([DEPTH, BY_PALETTE, 0, 0, 0], 8);
  // The byte before each row is its filter: 0, none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row += 1) {
    rows.set(dots.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
