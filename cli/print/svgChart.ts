// A line of values as a picture that stands alone: no script, no font, light and dark by who looks at it.
import type { Point } from './brailleChart.ts';

const [WIDTH, HEIGHT] = [960, 420];
const EDGE = { left: 70, right: 20, top: 44, bottom: 36 };
const LINES = 4;
/** Points that are drawn; of more each nth. */
const POINTS_MAX = 2_000;

const STYLE = `text{font:13px system-ui,sans-serif;fill:#444}.t{font-size:16px;fill:#111}
path{fill:none;stroke:#1f6feb;stroke-width:1.6}line{stroke:#ddd}rect{fill:#fff}
@media (prefers-color-scheme:dark){text{fill:#aaa}.t{fill:#eee}line{stroke:#333}rect{fill:#111}}`;

export function svgChart(title: string, points: readonly Point[]): string {
  const shown = thinned(points);
  const values = shown.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = most === least ? 1 : most - least;
  const [wide, high] = [WIDTH - EDGE.left - EDGE.right, HEIGHT - EDGE.top - EDGE.bottom];
  const x = (at: number): number => EDGE.left + (wide * at) / Math.max(1, shown.length - 1);
  const y = (value: number): number => EDGE.top + high * (1 - (value - least) / span);
  const line = values.map(
    (value, at) => `${at === 0 ? 'M' : 'L'}${tenth(x(at))} ${tenth(y(value))}`,
  );
  const steps = Array.from({ length: LINES + 1 }, (_, at) => least + (span * at) / LINES);
  const right = WIDTH - EDGE.right;
  const grid = steps.flatMap((value) => {
    const at = tenth(y(value));
    const ends = `x1="${EDGE.left}" x2="${right}" y1="${at}" y2="${at}"`;
    const place = `x="${EDGE.left - 8}" y="${tenth(at + 4)}" text-anchor="end"`;
    return [`<line ${ends}/>`, `<text ${place}>${value.toPrecision(5)}</text>`];
  });
  const [first = '', last = ''] = [shown[0]?.label, shown.at(-1)?.label].map((one) =>
    plain(one ?? ''),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"`,
    `aria-label="${plain(title)}">`,
    `<style>${STYLE}</style><rect width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="t" x="${EDGE.left}" y="26">${plain(title)}</text>`,
    ...grid,
    `<path d="${line.join('')}"/>`,
    `<text x="${EDGE.left}" y="${HEIGHT - 12}">${first}</text>`,
    `<text x="${WIDTH - EDGE.right}" y="${HEIGHT - 12}" text-anchor="end">${last}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

/** The last one is always among them. */
function thinned(points: readonly Point[]): readonly Point[] {
  const every = Math.ceil(points.length / POINTS_MAX);
  return points.filter((_, at) => (points.length - 1 - at) % every === 0);
}

const tenth = (value: number): number => Math.round(value * 10) / 10;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const plain = (text: string): string => text.replaceAll(/[&<>"]/g, (one) => ENTITIES[one] ?? '');
