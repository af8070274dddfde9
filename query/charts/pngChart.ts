// A chart as dots. Letters come from a font of our own: a server has none, and a line is all that is drawn.
import { type ChartSize, layoutOf, type Place, type Point } from './chartLayout.ts';
import { GLYPH_SIDE, glyphOf } from './glyphs.ts';
import { pngFile } from './pngFile.ts';

type Colour = readonly [number, number, number];

const PAPER: Colour = [255, 255, 255];
const INK: Colour = [31, 111, 235];
/** Shades between paper and ink: the edges of a line. */
const SHADES = 16;
/** Places in the palette; those of the line's shades follow. */
const [GRID, TEXT, TITLE, LINE] = [1, 2, 3, 4];

const PALETTE: readonly Colour[] = [
  PAPER,
  [221, 221, 221],
  [68, 68, 68],
  [17, 17, 17],
  ...Array.from({ length: SHADES }, (_, at) => mixed((at + 1) / SHADES)),
];

function mixed(share: number): Colour {
  const of = (at: 0 | 1 | 2): number => Math.round(PAPER[at] + (INK[at] - PAPER[at]) * share);
  return [of(0), of(1), of(2)];
}

/** Half of a line's width. */
const HALF = 0.8;

export function pngChart(title: string, points: readonly Point[], size: ChartSize): Uint8Array {
  const layout = layoutOf(title, points, size);
  const { first, grid, height, last, left, line, right, width } = layout;
  const dots = new Dots(width, height);
  for (const { label, y } of grid) {
    dots.level(left, right, Math.round(y));
    dots.write(label, left - 8, Math.round(y) - 4, { colour: TEXT, scale: 1, atEnd: true });
  }
  const scale = [...layout.title].length * GLYPH_SIDE * 2 <= right - left ? 2 : 1;
  dots.write(layout.title, left, 12, { colour: TITLE, scale, atEnd: false });
  const below = { colour: TEXT, scale: 1 };
  const told = line.length === 0 ? 'no values' : first;
  dots.write(told, left, height - 20, { ...below, atEnd: false });
  dots.write(last, right, height - 20, { ...below, atEnd: true });
  const [only] = line;
  if (only !== undefined && line.length === 1) dots.stroke(only, { x: only.x + 3, y: only.y });
  for (const [at, to] of line.entries()) {
    const from = line[at - 1];
    if (from !== undefined) dots.stroke(from, to);
  }
  return pngFile(dots.bytes, size, PALETTE);
}

interface Writing {
  readonly colour: number;
  readonly scale: number;
  /** The text ends there. */
  readonly atEnd: boolean;
}

/** A byte a dot: its place in the palette. */
class Dots {
  readonly bytes: Uint8Array;
  readonly #width: number;
  readonly #height: number;

  constructor(width: number, height: number) {
    this.bytes = new Uint8Array(width * height);
    this.#width = width;
    this.#height = height;
  }

  #put(x: number, y: number, colour: number): void {
    if (x < 0 || y < 0 || x >= this.#width || y >= this.#height) return;
    this.bytes[y * this.#width + x] = colour;
  }

  level(from: number, to: number, y: number): void {
    for (let x = from; x < to; x += 1) this.#put(x, y, GRID);
  }

  write(text: string, x: number, y: number, { atEnd, colour, scale }: Writing): void {
    // The font ends before it.
    const characters = [...text.replace('…', '.')];
    const side = GLYPH_SIDE * scale;
    let at = atEnd ? x - characters.length * side : x;
    for (const character of characters) {
      const rows = glyphOf(character);
      for (let dot = 0; dot < side * side; dot += 1) {
        const [column, row] = [dot % side, Math.floor(dot / side)];
        const isSet = ((rows[Math.floor(row / scale)] ?? 0) >> Math.floor(column / scale)) & 1;
        if (isSet === 1) this.#put(at + column, y + row, colour);
      }
      at += side;
    }
  }

  /** A straight piece of the line, from dot to dot along its longer side. */
  stroke(from: Place, to: Place): void {
    const [wide, high] = [to.x - from.x, to.y - from.y];
    const steps = Math.max(1, Math.ceil(Math.max(Math.abs(wide), Math.abs(high))));
    const isFlat = Math.abs(wide) >= Math.abs(high);
    for (let step = 0; step <= steps; step += 1) {
      const x = from.x + (wide * step) / steps;
      const y = from.y + (high * step) / steps;
      const across = isFlat ? y : x;
      for (let dot = Math.floor(across) - 1; dot <= Math.floor(across) + 2; dot += 1) {
        const share = Math.min(1, HALF + 0.5 - Math.abs(dot - across));
        if (isFlat) this.#shade(Math.round(x), dot, share);
        else this.#shade(dot, Math.round(y), share);
      }
    }
  }

  #shade(x: number, y: number, share: number): void {
    const shade = Math.round(share * SHADES);
    if (shade < 1 || x < 0 || x >= this.#width) return;
    const before = this.bytes[y * this.#width + x] ?? 0;
    const colour = LINE - 1 + shade;
    if (before < LINE || colour > before) this.#put(x, y, colour);
  }
}
