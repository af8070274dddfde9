// A line of values as a picture that stands alone: no script, no font, light and dark by who looks at it.
import { createHash } from 'node:crypto';
import { type ChartSize, layoutOf, type Point, USUAL_SIZE } from './chartLayout.ts';

const STYLE = `text{font:13px system-ui,sans-serif;fill:#444}.t{font-size:16px;fill:#111}
path{fill:none;stroke:#1f6feb;stroke-width:1.6}line{stroke:#ddd}rect{fill:#fff}
@media (prefers-color-scheme:dark){text{fill:#aaa}.t{fill:#eee}line{stroke:#333}rect{fill:#111}}`;

/** What a picture that is opened by itself may load and do: nothing; its own style is named by its hash. */
export const SVG_POLICY =
  "default-src 'none'; style-src 'sha256-" +
  `${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; sandbox`;

export function svgChart(
  title: string,
  points: readonly Point[],
  size: ChartSize = USUAL_SIZE,
): string {
  const layout = layoutOf(title, points, size);
  const { first, height, last, left, line, right, width } = layout;
  const below = height - 12;
  const path = line.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join('');
  const only = line.length === 1 ? 'h3' : '';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"`,
    `viewBox="0 0 ${width} ${height}" role="img" aria-label="${plain(layout.title)}">`,
    `<style>${STYLE}</style><rect width="${width}" height="${height}"/>`,
    `<text class="t" x="${left}" y="26">${plain(layout.title)}</text>`,
    ...layout.grid.flatMap(({ label, y }) => [
      `<line x1="${left}" x2="${right}" y1="${y}" y2="${y}"/>`,
      `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${plain(label)}</text>`,
    ]),
    ...(line.length === 0 ? [] : [`<path d="${path}${only}"/>`]),
    `<text x="${left}" y="${below}">${line.length === 0 ? 'no values' : plain(first)}</text>`,
    `<text x="${right}" y="${below}" text-anchor="end">${plain(last)}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** What XML can not say at all: with one of these no browser draws any of it. */
const UNSAID = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const plain = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(UNSAID, '\ufffd')
    .replaceAll(/[&<>"']/g, (one) => ENTITIES[one] ?? '');
