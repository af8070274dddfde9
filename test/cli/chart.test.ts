// Charts on the terminal and in a file.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as plain } from 'vitest';
import { brailleChart } from '../../cli/print/brailleChart.ts';
import { svgChart } from '../../query/charts/svgChart.ts';
import { loaded } from '../client.ts';
import { test } from '../fixtures.ts';
import { runHere } from './commandHere.ts';

const pointsOf = (values: readonly number[]): { label: string; value: number }[] =>
  values.map((value, at) => ({ label: `d${at}`, value }));

plain('a rising line goes from the lower left to the upper right', () => {
  const lines = brailleChart(pointsOf([1, 2, 3, 4, 5, 6, 7, 8]), { width: 21, height: 4 });
  assert.equal(lines.length, 5);
  assert.ok(lines[0]?.startsWith('8.00 ') && lines[3]?.startsWith('1.00 '));
  assert.equal(lines[4]?.trim(), 'd0            d7');
  const inked = lines.slice(0, 4).map((line) => [...line.slice(5)].findIndex((one) => one > '⠀'));
  assert.deepEqual(
    inked,
    inked.toSorted((one, other) => other - one),
  );
  assert.ok(lines.slice(0, 4).every((line) => [...line].length === 21));
});

plain('one value, equal values and many values are drawn', () => {
  for (const values of [[5], [3, 3, 3], Array.from({ length: 100_000 }, (_, at) => Math.sin(at))]) {
    const lines = brailleChart(pointsOf(values), { width: 40, height: 8 });
    assert.ok(lines.some((line) => /[⠁-⣿]/.test(line)));
    assert.match(svgChart('x', pointsOf(values)), /<path d="M[\d.]+ [\d.]+/);
  }
});

plain('what a title says is text', () => {
  const svg = svgChart('</text><script>alert(1)</script>"', pointsOf([1, 2]));
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
    const drawn = await runHere([...of, '--column', 'v'], { env });
    assert.equal(drawn.code, 0, drawn.stderr);
    assert.match(drawn.stdout, /^A · WS\.P · v · 2024\n/);
    assert.match(drawn.stdout, /2024-01-01 +2024-01-20\n$/);
    const filed = await runHere([...of, '--column', 'v', '--out', 'a.svg'], { env, cwd: folder });
    assert.equal(filed.stdout, '20 values are drawn in a.svg\n');
    assert.match(await readFile(join(folder, 'a.svg'), 'utf8'), /^<svg [^]*<\/svg>\n$/);
    const dots = await runHere([...of, '--column', 'v', '--out', 'a.PNG'], { env, cwd: folder });
    assert.equal(dots.stdout, '20 values are drawn in a.PNG\n');
    assert.match(await readFile(join(folder, 'a.PNG'), 'latin1'), /^.PNG\r\n/);
    const wrong = await runHere([...of, '--column', 'close'], { env });
    assert.match(wrong.stderr, /--column close is none of symbol, date, v/);
    assert.notEqual(wrong.code, 0);
  } finally {
    await rm(folder, { recursive: true });
  }
});
