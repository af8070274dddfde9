// Draws a chart as a self-contained SVG: no script, no font, light or dark by the reader's preference.
import { createHash } from 'node:crypto';
import type { Chart } from './records/chart.ts';
import { FALLING, lookOf, PAPERS, RISING } from './chartColours.ts';
import { type LegendEntry, SWATCH, SWATCH_GAP } from './chartLegend.ts';
import {
  type Candle,
  type ChartSize,
  computeLayout,
  type Place,
  USUAL_SIZE,
} from './chartLayout.ts';

const STYLE = `text{font:13px system-ui,sans-serif;fill:#444}.t{font-size:16px;fill:#111}
path{fill:none}line{stroke:#ddd}rect{fill:${PAPERS.light}}
@media (prefers-color-scheme:dark){text{fill:#aaa}.t{fill:#eee}line{stroke:#333}rect{fill:${PAPERS.dark}}}`;

/** Policy of an SVG that is opened directly: it may load and run nothing; its style is allowed by hash. */
export const SVG_POLICY =
  "default-src 'none'; style-src 'sha256-" +
  `${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; sandbox`;

export function svgChart(chart: Chart, size: ChartSize = USUAL_SIZE): string {
  const layout = computeLayout(chart, size);
  const { between, first, height, last, left, right, width } = layout;
  const below = height - 12;
  const labelParts = [layout.title, layout.legend.map(({ name }) => name).join(', ')];
  const label = labelParts.filter((text) => text !== '').join(': ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"`,
    `viewBox="0 0 ${width} ${height}" role="img" aria-label="${plain(label)}">`,
    `<style>${STYLE}</style><rect width="${width}" height="${height}"/>`,
    `<text class="t" x="${left}" y="26">${plain(layout.title)}</text>`,
    ...layout.legend.flatMap(entryOf),
    ...layout.grid.flatMap(({ label: value, y }) => [
      `<line x1="${left}" x2="${right}" y1="${y}" y2="${y}"/>`,
      `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${plain(value)}</text>`,
    ]),
    ...candlesOf(layout.candles, layout.candleWidth),
    ...layout.lines.flatMap(lineOf),
    `<text x="${left}" y="${below}">${plain(first)}</text>`,
    ...(between === ''
      ? []
      : [`<text x="${(left + right) / 2}" y="${below}" text-anchor="middle">${between}</text>`]),
    `<text x="${right}" y="${below}" text-anchor="end">${plain(last)}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

/** Draws one path of values with neighbours, and one of dots for values alone between gaps. */
function lineOf(pieces: readonly (readonly Place[])[], at: number): readonly string[] {
  const alone = pieces.filter((piece) => piece.length === 1);
  const joined = pieces.filter((piece) => piece.length > 1);
  const paths =
    joined.length === 0 ? [] : [`<path d="${joined.map(pathOf).join('')}"${lookOfLine(at)}/>`];
  if (alone.length === 0) return paths;
  const dots = alone.map((piece) => `${pathOf(piece)}h0`).join('');
  const look = `stroke="${lookOf(at).colour}" stroke-width="${DOT}" stroke-linecap="round"`;
  return [...paths, `<path d="${dots}" ${look}/>`];
}

const pathOf = (piece: readonly Place[]): string =>
  piece.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join('');

/** Diameter of a value without neighbours. */
const DOT = 5;
const LINE_WIDTH = 1.6;

/** Uses attributes, which the policy allows; it does not allow styles of elements. */
function lookOfLine(at: number): string {
  const { colour, dash } = lookOf(at);
  const dashes = dash.length === 0 ? '' : ` stroke-dasharray="${dash.join(' ')}"`;
  return ` stroke="${colour}" stroke-width="${LINE_WIDTH}"${dashes}`;
}

function entryOf({ line, name, x, y }: LegendEntry): readonly string[] {
  const text = (from: number): string => `<text x="${from}" y="${y + 4}">${plain(name)}</text>`;
  if (line === undefined) return [text(x)];
  return [`<path d="M${x} ${y}h${SWATCH}"${lookOfLine(line)}/>`, text(x + SWATCH + SWATCH_GAP)];
}

/** Draws the rising candles as one path of wicks and one of bodies, and the falling ones likewise. */
function candlesOf(candles: readonly Candle[], width: number): readonly string[] {
  return [true, false].flatMap((isRising) => {
    const some = candles.filter((candle) => candle.isRising === isRising);
    if (some.length === 0) return [];
    const colour = isRising ? RISING : FALLING;
    const wicks = some.map(({ high, low, x }) => `M${x} ${high}V${low}`).join('');
    const bodies = some.map((candle) => `M${candle.x} ${bodyOf(candle)}`).join('');
    return [
      `<path d="${wicks}" stroke="${colour}"/>`,
      `<path d="${bodies}" stroke="${colour}" stroke-width="${width}"/>`,
    ];
  });
}

/** Draws from open to close, at least one dot. */
const bodyOf = ({ close, open }: Candle): string =>
  Math.abs(close - open) < 1 ? `${open}v1` : `${open}V${close}`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that XML can't represent: with one of these no browser draws the chart. */
const INVALID_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const plain = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(INVALID_XML, '\ufffd')
    .replaceAll(/[&<>"']/g, (one) => ENTITIES[one] ?? '');
