// Charts on the terminal and in a file.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as plain } from 'vitest';
import { brailleChart } from '../../cli/print/brailleChart.ts';
import type { Chart } from '../../query/charts/records/chart.ts';
import { svgChart } from '../../query/charts/svgChart.ts';
import { loaded } from '../base/client.ts';
import { test } from '../base/fixtures.ts';
import { runHere } from './commandHere.ts';

/** A chart of lines with these values. */
const chartOf = (...lines: readonly (readonly (number | undefined)[])[]): Chart => ({
  title: 't',
  labels: (lines[0] ?? []).map((_, at) => `d${at}`),
  labelled: 'text',
  lines: lines.map((values, at) => ({ name: `line ${at + 1}`, values })),
});
/** A character that has dots. */
const INKED = /[⠁-⣿]/;

plain('a rising line goes from the lower left to the upper right', () => {
  const lines = brailleChart(chartOf([1, 2, 3, 4, 5, 6, 7, 8]), { width: 21, height: 4 });
  assert.equal(lines.length, 5);
  assert.ok(lines[0]?.startsWith('8.00 ') && lines[3]?.startsWith('1.00 '));
  assert.equal(lines[4]?.trim(), 'd0            d7');
  const inked = lines
    .slice(0, 4)
    .map((line) => Array.from(line.slice(5)).findIndex((one) => one > '⠀'));
  assert.deepEqual(
    inked,
    inked.toSorted((one, other) => other - one),
  );
  assert.ok(lines.slice(0, 4).every((line) => [...line].length === 21));
});

plain('one value, equal values and many values are rendered', () => {
  for (const values of [[5], [3, 3, 3], Array.from({ length: 100_000 }, (_, at) => Math.sin(at))]) {
    const lines = brailleChart(chartOf(values), { width: 40, height: 8 });
    assert.ok(lines.some((line) => INKED.test(line)));
    assert.match(svgChart(chartOf(values)), /<path d="M[\d.]+ [\d.]+/);
  }
});

plain('a peak among many values is rendered', () => {
  const values = Array.from({ length: 10_000 }, (_, at) => (at === 7_777 ? 9 : 1));
  const [top = ''] = brailleChart(chartOf(values), { width: 40, height: 8 });
  assert.match(top, INKED);
});

plain('several lines have one scale, numbers where they end, and names', () => {
  const chart = chartOf([1, 2, 3, 4], [9, 9, undefined, undefined], [4, 3, 2, 1]);
  const lines = brailleChart(chart, { width: 40, height: 4 });
  assert.ok(lines[0]?.startsWith('9.00 ') && lines[3]?.startsWith('1.00 '));
  assert.ok(lines[0]?.endsWith(' 2') && lines[2]?.endsWith(' 1') && lines[3]?.endsWith(' 3'));
  assert.equal(lines[5]?.trim(), '1 line 1  2 line 2  3 line 3');
  assert.ok(lines.every((line) => [...line].length <= 40));
  // The second line ends in the middle: a missing value is neither a zero nor a line.
  const [, ended = ''] = lines[0]?.split('9.00 ') ?? [];
  assert.match(ended, /^[⠀-⣿]{17}⠀{16} 2$/);
});

plain('a title is rendered as text', () => {
  const svg = svgChart({ ...chartOf([1, 2]), title: '</text><script>alert(1)</script>"' });
  assert.ok(!svg.includes('<script'));
  assert.ok(svg.includes('&lt;script&gt;'));
});

test('a column of a dataset, on the terminal and in a file', async ({ server }) => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-chart-'));
  try {
    const rows = Array.from(
      { length: 20 },
      (_, at) => `A,2024-01-${String(at + 1).padStart(2, '0')},${at}`,
    );
    await loaded(server, 'P', `symbol,date,v\n${rows.join('\n')}\n`, {
      key: 'symbol',
      date: 'date',
    });
    const env = { TAPEDECK_SERVER: server.base, TAPEDECK_TOKEN: server.secret };
    const of = ['chart', 'A', '--dataset', 'WS.P', '--range', '2024'];
    const result = await runHere([...of, '--column', 'v'], { env });
    assert.equal(result.code, 0, result.stderr);
    assert.match(result.stdout, /^A · WS\.P · v · 2024\n/);
    assert.match(result.stdout, /2024-01-01 +2024-01-20\n$/);
    const filed = await runHere([...of, '--column', 'v', '--out', 'a.svg'], { env, cwd: folder });
    assert.equal(filed.stdout, 'a.svg: 20 values\n');
    assert.match(await readFile(join(folder, 'a.svg'), 'utf8'), /^<svg [^]*<\/svg>\n$/);
    const dots = await runHere([...of, '--column', 'v', '--out', 'a.PNG'], { env, cwd: folder });
    assert.equal(dots.stdout, 'a.PNG: 20 values\n');
    assert.match(await readFile(join(folder, 'a.PNG'), 'latin1'), /^.PNG\r\n/);
    const wrong = await runHere([...of, '--column', 'close'], { env });
    assert.match(wrong.stderr, /--columns is none of symbol, date, v/);
    assert.notEqual(wrong.code, 0);
    const unsaid = await runHere([...of, '--out', 'a.pdf'], { env, cwd: folder });
    assert.match(unsaid.stderr, /--out must end in \.svg, \.png or \.vl\.json/);
    assert.notEqual(unsaid.code, 0);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('candles, several columns and several keys, on the terminal and in files', async ({
  server,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-chart-'));
  try {
    const rows = ['A', 'B'].flatMap((symbol) =>
      [1, 2, 3].map((day) => `${symbol},2024-01-0${day},${day},${day + 2},${day - 1},${day + 1}`),
    );
    const csv = `symbol,date,Open,High,Low,Close\n${rows.join('\n')}\n`;
    await loaded(server, 'P', csv, { key: 'symbol', date: 'date' });
    const env = { TAPEDECK_SERVER: server.base, TAPEDECK_TOKEN: server.secret };
    const of = ['--dataset', 'WS.P', '--range', '2024'];
    const run = (...more: readonly string[]): ReturnType<typeof runHere> =>
      runHere(['chart', ...more, ...of], { env, cwd: folder });
    const several = await run('A', '--columns', 'High,Low');
    assert.match(several.stdout, /^A · WS\.P · High,Low · 2024\n[^]*\n +1 High {2}2 Low\n$/);
    const keys = await run('A,B', '--columns', 'Close');
    assert.match(keys.stdout, /\n +1 A {2}2 B\n$/, keys.stderr);
    const closes = await run('A', '--kind', 'candles');
    assert.match(closes.stdout, /^A · WS\.P · close · 2024\n4\.00 /);
    const candles = await run('A', '--kind', 'candles', '--columns', 'High', '--out', 'a.vl.json');
    assert.equal(candles.stdout, 'a.vl.json: 3 candles and 3 values\n');
    const specification = JSON.parse(await readFile(join(folder, 'a.vl.json'), 'utf8')) as {
      readonly layer: readonly { readonly mark: { readonly type: string } }[];
    };
    assert.deepEqual(
      specification.layer.map(({ mark }) => mark.type),
      ['rule', 'bar', 'line'],
    );
    const two = await run('A,B', '--kind', 'candles');
    assert.match(two.stderr, /A,B draws candles of one symbol: request one/);
    const unknown = await run('A', '--kind', 'pie');
    assert.match(unknown.stderr, /--kind.*line, candles/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
