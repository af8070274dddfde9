// The dots of a chart, and letters, lines and bodies drawn with them. Each dot is a byte, its index in a
// palette.
import { lookOf, FALLING, PAPERS, RISING } from './chartColours.ts';
import type { ChartSize, Place } from './chartLayout.ts';
import { GLYPH_SIDE, glyphOf } from './glyphs.ts';

type Colour = readonly [number, number, number];

/** Shades between the background and the colour of a line, for its edges. */
const SHADES = 16;
/** Indexes in the palette; the shades of each line follow. */
export const [GRID, TEXT, TITLE, RISE, FALL] = [1, 2, 3, 4, 5];
const LINE = 6;

/** Builds the palette for a number of lines. */
export function buildPalette(lines: number): readonly Colour[] {
  const paper = partsOf(PAPERS.light);
  return [
    paper,
    [221, 221, 221],
    [68, 68, 68],
    [17, 17, 17],
    partsOf(RISING),
    partsOf(FALLING),
    ...Array.from({ length: lines }, (_, line) => partsOf(lookOf(line).colour)).flatMap((ink) =>
      Array.from({ length: SHADES }, (_, at) => mixed(paper, ink, (at + 1) / SHADES)),
    ),
  ] as Colour[];
}

const partsOf = (colour: string): Colour => [
  Number.parseInt(colour.slice(1, 3), 16),
  Number.parseInt(colour.slice(3, 5), 16),
  Number.parseInt(colour.slice(5, 7), 16),
];

function mixed(paper: Colour, ink: Colour, share: number): Colour {
  const of = (at: 0 | 1 | 2): number => Math.round(paper[at] + (ink[at] - paper[at]) * share);
  return [of(0), of(1), of(2)];
}

/** Half of a line's width. */
const HALF = 0.8;

interface Writing {
  readonly colour: number;
  readonly scale: number;
  /** The text ends at x instead of starting there. */
  readonly atEnd: boolean;
}

export class Dots {
  readonly bytes: Uint8Array;
  readonly #width: number;
  readonly #height: number;

  constructor({ height, width }: ChartSize) {
    this.bytes = new Uint8Array(width * height);
    this.#width = width;
    this.#height = height;
  }

  #set(x: number, y: number, colour: number): void {
    if (x < 0 || y < 0 || x >= this.#width || y >= this.#height) return;
    this.bytes[y * this.#width + x] = colour;
  }

  /** Fills a rectangle between two corners, at least one dot in each direction. */
  fill(from: Place, to: Place, colour: number): void {
    for (let y = from.y; y < Math.max(to.y, from.y + 1); y += 1) {
      for (let x = from.x; x < Math.max(to.x, from.x + 1); x += 1) this.#set(x, y, colour);
    }
  }

  write(text: string, x: number, y: number, { atEnd, colour, scale }: Writing): void {
    // The font has no ellipsis.
    const characters = [...text.replace('…', '.')];
    const side = GLYPH_SIDE * scale;
    let at = atEnd ? x - characters.length * side : x;
    for (const character of characters) {
      const rows = glyphOf(character);
      for (let dot = 0; dot < side * side; dot += 1) {
        const [column, row] = [dot % side, Math.floor(dot / side)];
        const isSet = ((rows[Math.floor(row / scale)] ?? 0) >> Math.floor(column / scale)) & 1;
        if (isSet === 1) this.#set(at + column, y + row, colour);
      }
      at += side;
    }
  }

  /** Draws a piece of a line in its colour and dash; a single place is a dot. */
  draw(piece: readonly Place[], line: number): void {
    const [only] = piece;
    if (only !== undefined && piece.length === 1) this.#dot(only, line);
    let way = 0;
    for (const [at, to] of piece.entries()) {
      const from = piece[at - 1];
      if (from === undefined) continue;
      this.#stroke(from, to, line, way);
      way += Math.hypot(to.x - from.x, to.y - from.y);
    }
  }

  #dot(place: Place, line: number): void {
    const [x, y] = [Math.round(place.x), Math.round(place.y)];
    const colour = LINE + line * SHADES + SHADES - 1;
    this.fill({ x: x - 1, y: y - 2 }, { x: x + 2, y: y + 3 }, colour);
    this.fill({ x: x - 2, y: y - 1 }, { x: x + 3, y: y + 2 }, colour);
  }

  /** Draws a straight segment, dot by dot along its longer side, `way` dots after the start of its piece. */
  #stroke(from: Place, to: Place, line: number, way: number): void {
    const [wide, high] = [to.x - from.x, to.y - from.y];
    const steps = Math.max(1, Math.ceil(Math.max(Math.abs(wide), Math.abs(high))));
    const isFlat = Math.abs(wide) >= Math.abs(high);
    const each = Math.hypot(wide, high) / steps;
    const { dash } = lookOf(line);
    const period = dash.reduce((sum, one) => sum + one, 0);
    for (let step = 0; step <= steps; step += 1) {
      if (period > 0 && !isInked(dash, (way + step * each) % period)) continue;
      const x = from.x + (wide * step) / steps;
      const y = from.y + (high * step) / steps;
      const across = isFlat ? y : x;
      for (let dot = Math.floor(across) - 1; dot <= Math.floor(across) + 2; dot += 1) {
        const share = Math.min(1, HALF + 0.5 - Math.abs(dot - across));
        if (isFlat) this.#shade(Math.round(x), dot, share, line);
        else this.#shade(dot, Math.round(y), share, line);
      }
    }
  }

  #shade(x: number, y: number, share: number, line: number): void {
    const shade = Math.round(share * SHADES);
    if (shade < 1 || x < 0 || x >= this.#width) return;
    const before = this.bytes[y * this.#width + x] ?? 0;
    const first = LINE + line * SHADES;
    const colour = first - 1 + shade;
    // The pale edge of a line must not cut a gap into what it crosses.
    const isOwn = before >= first && before < first + SHADES;
    const isFree = before < RISE || (!isOwn && shade > SHADES / 2);
    if (isFree || (isOwn && colour > before)) this.#set(x, y, colour);
  }
}

/** Whether a dash pattern is drawn at a distance from its beginning. */
function isInked(dash: readonly number[], way: number): boolean {
  let end = 0;
  for (const [at, length] of dash.entries()) {
    end += length;
    if (way < end) return at % 2 === 0;
  }
  return true;
}
