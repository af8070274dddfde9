// Draws a chart as PNG. Uses a built-in font, since a server has none; it draws only lines and letters.
import type { Chart } from './records/chart.ts';
import { SWATCH, SWATCH_GAP } from './chartLegend.ts';
import { type Candle, type ChartSize, computeLayout } from './chartLayout.ts';
import { GLYPH_SIDE } from './glyphs.ts';
import { Dots, FALL, GRID, buildPalette, RISE, TEXT, TITLE } from './pngDots.ts';
import { pngFile } from './pngFile.ts';

export function pngChart(chart: Chart, size: ChartSize): Uint8Array {
  const layout = computeLayout(chart, size);
  const { between, first, grid, height, last, left, legend, lines, right } = layout;
  const dots = new Dots(size);
  const word = { colour: TEXT, scale: 1, atEnd: false };
  for (const { label, y: high } of grid) {
    const y = Math.round(high);
    dots.fill({ x: left, y }, { x: right, y }, GRID);
    dots.write(label, left - 8, y - 4, { ...word, atEnd: true });
  }
  const scale = [...layout.title].length * GLYPH_SIDE * 2 <= right - left ? 2 : 1;
  dots.write(layout.title, left, 12, { colour: TITLE, scale, atEnd: false });
  for (const { line, name, x, y } of legend) {
    if (line !== undefined)
      dots.draw(
        [
          { x, y },
          { x: x + SWATCH, y },
        ],
        line,
      );
    dots.write(name, line === undefined ? x : x + SWATCH + SWATCH_GAP, y - 4, word);
  }
  const middle = Math.round((left + right - between.length * GLYPH_SIDE) / 2);
  dots.write(first, left, height - 20, word);
  dots.write(between, middle, height - 20, word);
  dots.write(last, right, height - 20, { ...word, atEnd: true });
  for (const candle of layout.candles) drawCandle(dots, candle, layout.candleWidth);
  for (const [line, pieces] of lines.entries()) {
    for (const piece of pieces) dots.draw(piece, line);
  }
  return pngFile(dots.bytes, size, buildPalette(lines.length));
}

/** Draws a body of an odd number of dots if there is room, so that its wick is in the middle. */
function drawCandle(dots: Dots, candle: Candle, candleWidth: number): void {
  const { close, high, isRising, low, open } = candle;
  const colour = isRising ? RISE : FALL;
  const whole = Math.max(1, Math.round(candleWidth));
  const width = whole > 2 && whole % 2 === 0 ? whole - 1 : whole;
  const x = Math.floor(candle.x);
  const left = x - Math.floor((width - 1) / 2);
  const top = Math.round(Math.min(open, close));
  const bottom = Math.round(Math.max(open, close));
  dots.fill({ x, y: Math.round(high) }, { x: x + 1, y: Math.round(low) + 1 }, colour);
  dots.fill({ x: left, y: top }, { x: left + width, y: bottom }, colour);
}
