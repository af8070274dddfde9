// Charts: their content, by structure; how many are rendered concurrently, and their maximum size.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { onTestFinished, test } from 'vitest';
import { HEIGHTS, computeLayout, USUAL_SIZE, WIDTHS } from '../../query/charts/chartLayout.ts';
import { FALLING, lookOf, PAPERS, RISING } from '../../query/charts/chartColours.ts';
import { type Chart, LINES_MAX } from '../../query/charts/records/chart.ts';
import { drawChart, RECORD_BYTES_MAX } from '../../query/charts/charts.ts';
import { WorkerPool } from '../../workers/workerPool.ts';
import type { DrawingOptions } from '../../query/charts/drawing.ts';
import { mergedBars } from '../../query/charts/chartThinning.ts';
import { pngChart } from '../../query/charts/pngChart.ts';
import { contrast } from '../console/contrast.ts';
import { SVG_POLICY, svgChart } from '../../query/charts/svgChart.ts';

const SIZE = { width: 400, height: 200 };
/** A chart of one line. */
const chartOf = (title: string, values: readonly number[], labels?: readonly string[]): Chart => ({
  title,
  labels: labels ?? values.map((_, at) => `d${at}`),
  labelled: 'text',
  lines: values.length === 0 ? [] : [{ name: 'v', values }],
});

const linesOf = (lines: Readonly<Record<string, readonly (number | undefined)[]>>): Chart => ({
  ...chartOf('lines', Object.values(lines)[0]?.map(() => 0) ?? []),
  lines: Object.entries(lines).map(([name, values]) => ({ name, values })),
});

type Quad = readonly [open: number, high: number, low: number, close: number];

const candlesOf = (quads: readonly Quad[], lines: Chart['lines'] = []): Chart => ({
  ...chartOf(
    'candles',
    quads.map(() => 0),
  ),
  lines,
  bars: quads.map(([open, high, low, close], at) => ({ from: at, to: at, open, high, low, close })),
});

/** Elements of a chart, one per line: names, texts, and of a path its number of places. */
function structureOf(svg: string): string {
  const elements = [...svg.matchAll(/<(\w+)([^>]*)>([^<]*)/g)].map(([, name, attributes, text]) => {
    const of = (attribute: string): string =>
      new RegExp(` ${attribute}="([^"]*)"`).exec(` ${attributes}`)?.[1] ?? '';
    const places = of('d') === '' ? '' : `${of('d').match(/[ML]/g)?.length} places`;
    const content = name === 'style' ? '' : (text ?? '').trim();
    return [name, of('class'), of('aria-label'), places, content]
      .filter((one) => one !== '')
      .join(' ');
  });
  return `${elements.join('\n')}\n`;
}

const HOSTILE = `</text><script>alert(1)</script>"'&\u0000\ud800]]>`;
const GOLDEN: Readonly<Record<string, Chart>> = {
  rising: chartOf('AAPL · PRICES · close', [1, 2, 3, 4, 5]),
  one: chartOf('one value', [42]),
  none: chartOf('no values', []),
  negative: chartOf('below nothing', [-5, 0, 5]),
  hostile: {
    ...chartOf(HOSTILE, [1, 2], [HOSTILE, HOSTILE]),
    lines: [HOSTILE, 'b'].map((name) => ({ name, values: [1, 2] })),
  },
  several: linesOf({ open: [1, 2, 3, 4], close: [2, undefined, 4, 5], ma: [undefined, 2, 3, 4] }),
  candles: candlesOf(
    [
      [1, 4, 0, 2],
      [2, 3, 1, 1],
      [1, 1, 1, 1],
    ],
    [{ name: 'ma', values: [1, 2, 1] }],
  ),
};

for (const [name, chart] of Object.entries(GOLDEN)) {
  test(`the structure of ${name}`, async () => {
    const path = join(import.meta.dirname, 'charts', `${name}.txt`);
    const structure = structureOf(svgChart(chart));
    if (process.env['UPDATE'] === '1') await writeFile(path, structure);
    assert.equal(structure, await readFile(path, 'utf8'));
  });
}

test('a name is escaped as text of XML', () => {
  const svg = svgChart(GOLDEN['hostile'] ?? chartOf('', []));
  assert.ok(!/<script|\u0000/.test(svg) && svg.isWellFormed());
  assert.deepEqual([...new Set(svg.match(/<(\w+)/g))].toSorted(), [
    '<line',
    '<path',
    '<rect',
    '<style',
    '<svg',
    '<text',
  ]);
});

test('the policy of a chart allows its own style, and nothing else', () => {
  assert.match(SVG_POLICY, /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; .*sandbox$/);
});

test('for any values every place is within the chart', () => {
  const odd = [
    [1e308, -1e308],
    [5e-324, 0],
    [1, 1, 1],
    [0],
    [123456789.125, 123456789.25],
    Array.from({ length: 300_000 }, (_, at) => Math.sin(at) * at),
  ];
  for (const values of odd) {
    const { grid, lines } = computeLayout(chartOf('t', values), SIZE);
    const line = lines.flat(2);
    assert.ok(line.length > 0 && line.length <= 2_000);
    for (const { x, y } of line) assert.ok(x >= 0 && x <= 400 && y >= 0 && y <= 200, `${x} ${y}`);
    for (const { label } of grid) assert.ok(label.length <= 9, label);
  }
});

test('a peak among many values is rendered', () => {
  const values = Array.from({ length: 100_000 }, () => 1);
  values[77_777] = 500;
  const ys = computeLayout(chartOf('t', values), SIZE)
    .lines.flat(2)
    .map(({ y }) => y);
  assert.equal(Math.min(...ys), 44);
});

test('of eight long lines each has fewer places, and its peak', () => {
  const values = Array.from({ length: 30_000 }, (_, at) => (at === 22_222 ? -9 : at % 2));
  const names = Array.from({ length: LINES_MAX }, (_, at) => `l${at}`);
  const chart = linesOf(Object.fromEntries(names.map((name) => [name, values])));
  for (const pieces of computeLayout(chart, USUAL_SIZE).lines) {
    const places = pieces.flat();
    assert.ok(places.length > 900 && places.length <= 1_000, `${places.length}`);
    assert.equal(Math.max(...places.map(({ y }) => y)), 384);
  }
});

test('a text that does not fit is cut', () => {
  const { first, last, title } = computeLayout(
    chartOf('x'.repeat(500), [1, 1], ['a'.repeat(100), 'b'.repeat(100)]),
    { width: WIDTHS.least, height: HEIGHTS.least },
  );
  assert.ok(title.length <= 200 && title.endsWith('…'));
  assert.deepEqual([first.length, last], [40, '']);
});

/** The dots of a chart, each by its place in the palette. */
function dotsOf(png: Uint8Array): { width: number; height: number; rows: Buffer[] } {
  const bytes = Buffer.from(png);
  assert.equal(bytes.subarray(1, 4).toString('latin1'), 'PNG');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const at = bytes.indexOf('IDAT');
  const raw = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)));
  const rows = Array.from({ length: height }, (_, row) =>
    raw.subarray(row * (width + 1) + 1, (row + 1) * (width + 1)),
  );
  return { width, height, rows };
}

test('a PNG has the requested size, and the line where the layout has it', () => {
  const chart = chartOf('Übung: a title', [1, 5, 2, 8]);
  const { height, rows, width } = dotsOf(pngChart(chart, SIZE));
  assert.deepEqual([width, height], [400, 200]);
  for (const { x, y } of computeLayout(chart, SIZE).lines.flat(2)) {
    assert.ok((rows[Math.round(y)]?.[Math.round(x)] ?? 0) > 12, `${x} ${y}`);
  }
  assert.equal(
    rows[1]?.every((dot) => dot === 0),
    true,
  );
  const none = dotsOf(pngChart(chartOf('t', []), SIZE));
  assert.ok(none.rows.flatMap((row) => [...row]).every((dot) => dot < 4));
});

test('each line has its own colour and dash, with a gap where it has no value', () => {
  const chart = linesOf({
    a: [1, 1, 1, 1, 1],
    b: [3, 3, undefined, 3, undefined],
    c: [2, 2, 2, 2, 2],
  });
  const svg = svgChart(chart, SIZE);
  const strokes = [
    ...svg.matchAll(/<path d="([^"]+)" stroke="(#\w+)"[^>]*?(dasharray="[^"]+")?\/>/g),
  ];
  // Three pieces of the legend, then the lines.
  assert.equal(strokes.length, 7);
  const [dot] = strokes.splice(5, 1);
  assert.equal(dot?.[1], 'M302.5 62h0', 'a value between gaps is a dot');
  const looks = strokes.map(([, , colour, dash]) => `${colour} ${dash}`);
  assert.deepEqual(looks.slice(0, 3), looks.slice(3), 'the legend matches the lines');
  assert.equal(new Set(looks).size, 3);
  const [, gapped = ''] = strokes.slice(3).map(([, path]) => path);
  assert.match(gapped, /^M70 62L147.5 62$/, 'a gap is neither a zero nor a line across');
  const layout = computeLayout(chart, SIZE);
  assert.deepEqual(
    layout.grid.map(({ label }) => label),
    ['1.00', '1.50', '2.00', '2.50', '3.00'],
  );
  const { rows } = dotsOf(pngChart(chart, SIZE));
  const inked = (line: number, row: number): number =>
    [...(rows[row] ?? [])].filter((dot) => dot >= 6 + 16 * line && dot < 22 + 16 * line).length;
  const [solid, dashed, dotted] = [inked(0, 164), inked(1, 62), inked(2, 113)];
  assert.ok(solid > 300, `the first line is whole: ${solid}`);
  assert.ok(dashed > 40 && dashed < 80, `a quarter of the second, in dashes: ${dashed}`);
  assert.ok(dotted > 80 && dotted < 250, `the third in dots: ${dotted}`);
});

test('a legend is above all values, for any size and any names', () => {
  const lines = Object.fromEntries(
    Array.from({ length: LINES_MAX }, (_, at) => [`${at} ${'n'.repeat(at * 8)}`, [at, at + 1]]),
  );
  for (const width of [WIDTHS.least, 400, 960, WIDTHS.most]) {
    for (const height of [HEIGHTS.least, 200, 420, HEIGHTS.most]) {
      const {
        grid,
        legend,
        lines: plotLines,
        right,
      } = computeLayout(linesOf(lines), { width, height });
      const highest = Math.min(...plotLines.flat(2).map(({ y }) => y), ...grid.map(({ y }) => y));
      assert.ok(legend.length > 1, `${width} ${height}`);
      for (const { line, name, x, y } of legend) {
        const end = x + (line === undefined ? 0 : 30) + [...name].length * 8;
        assert.ok(y + 8 <= highest && end <= right, `${width} ${height}: ${name} at ${x} ${y}`);
      }
      const legendCount = legend.filter(({ line }) => line !== undefined).length;
      const more = /^\+(\d)$/.exec(legend.at(-1)?.name ?? '')?.[1] ?? '0';
      assert.equal(legendCount + Number(more), LINES_MAX);
      if (width >= 960 && height >= 420) assert.equal(legendCount, LINES_MAX);
      assert.ok(plotLines.flat(2).every(({ y }) => y <= height - 36));
    }
  }
  assert.deepEqual(computeLayout(chartOf('one', [1, 2]), SIZE).legend, []);
});

test('candles rise and fall; if there are too many, neighbours are merged, and no peak is lost', () => {
  const few = computeLayout(
    candlesOf([
      [1, 4, 0, 2],
      [2, 3, 1, 1],
    ]),
    SIZE,
  );
  assert.deepEqual(
    few.candles.map(({ isRising }) => isRising),
    [true, false],
  );
  const [first] = few.candles;
  assert.deepEqual([first?.high, first?.low], [44, 164]);
  const quads = Array.from({ length: 10_000 }, (_, at): Quad => [at, at + 2, at - 2, at + 1]);
  quads[7_777] = [7_777, 50_000, -50_000, 7_778];
  const many = computeLayout(candlesOf(quads), SIZE);
  assert.ok(many.candles.length > 50 && many.candles.length <= 310 / 3, `${many.candles.length}`);
  assert.equal(Math.min(...many.candles.map(({ high }) => high)), 44);
  assert.equal(Math.max(...many.candles.map(({ low }) => low)), 164);
  assert.equal(many.between, '98 records a candle');
  for (const { x } of many.candles) assert.ok(x >= 70 && x <= 380, `${x}`);
  assert.deepEqual(
    mergedBars(
      candlesOf([
        [1, 5, 1, 2],
        [2, 9, 2, 3],
        [3, 4, 0, 4],
      ]).bars ?? [],
      2,
    ),
    [
      { from: 0, to: 1, open: 1, high: 9, low: 1, close: 3 },
      { from: 2, to: 2, open: 3, high: 4, low: 0, close: 4 },
    ],
  );
  const { rows } = dotsOf(
    pngChart(
      candlesOf([
        [1, 4, 0, 2],
        [2, 3, 1, 1],
      ]),
      SIZE,
    ),
  );
  const dots = rows.flatMap((row) => [...row]);
  assert.ok(dots.filter((dot) => dot === 4).length > 500, 'one rises');
  assert.ok(dots.filter((dot) => dot === 5).length > 500, 'one falls');
});

test('lines of a year at the usual size are each its own candle', () => {
  const year = candlesOf(Array.from({ length: 252 }, (): Quad => [1, 2, 0, 1]));
  assert.equal(computeLayout(year, USUAL_SIZE).candles.length, 252);
});

test('each line is visible on a light and a dark background, and has its own style', () => {
  const looks = Array.from({ length: LINES_MAX }, (_, at) => lookOf(at));
  for (const colour of [...looks.map((look) => look.colour), RISING, FALLING]) {
    for (const paper of Object.values(PAPERS)) {
      const ratio = contrast(colour, paper);
      assert.ok(ratio >= 3, `${colour} on ${paper}: ${ratio.toFixed(2)} to 1`);
    }
  }
  assert.equal(new Set(looks.map(({ colour }) => colour)).size, LINES_MAX);
  assert.equal(new Set(looks.map(({ dash }) => dash.join())).size, LINES_MAX);
});

const drawingOptions: DrawingOptions = {
  format: 'png',
  size: USUAL_SIZE,
  title: 't',
  isTitled: false,
  choice: {},
};
const bodyOf = (value: unknown): { objects: number; bytes: Uint8Array } => ({
  objects: 1,
  bytes: Buffer.from(JSON.stringify(value)),
});
const never = new AbortController().signal;

test('too many bytes are refused by name, and so is a column that records do not have', async () => {
  const workers = new WorkerPool();
  onTestFinished(() => workers.close());
  const large = { objects: 1, bytes: new Uint8Array(RECORD_BYTES_MAX + 1) };
  await assert.rejects(
    drawChart(workers, 'a', drawingOptions, large, never),
    /"format" png draws at most/,
  );
  const body = bodyOf([{ n: 1 }]);
  await assert.rejects(
    drawChart(workers, 'a', { ...drawingOptions, choice: { columns: 'x' } }, body, never),
    /"chartColumn" is none of n/,
  );
  assert.ok((await drawChart(workers, 'a', drawingOptions, body, never)).length > 500);
});
