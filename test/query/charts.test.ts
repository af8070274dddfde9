// Charts: what they show, by structure; how many are drawn at once, and of what.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { onTestFinished, test } from 'vitest';
import { HEIGHTS, layoutOf, USUAL_SIZE, WIDTHS } from '../../query/charts/chartLayout.ts';
import { drawableOf } from '../../query/charts/chartPoints.ts';
import { Charts, RECORD_BYTES_MAX } from '../../query/charts/charts.ts';
import { pngChart } from '../../query/charts/pngChart.ts';
import { SVG_POLICY, svgChart } from '../../query/charts/svgChart.ts';

const SIZE = { width: 400, height: 200 };
const pointsOf = (values: readonly number[]): { label: string; value: number }[] =>
  values.map((value, at) => ({ label: `d${at}`, value }));

/** Elements of a picture, one a line: names, texts, and of a path how many places it has. */
function structureOf(svg: string): string {
  const elements = [...svg.matchAll(/<(\w+)([^>]*)>([^<]*)/g)].map(([, name, given, text]) => {
    const of = (attribute: string): string =>
      new RegExp(` ${attribute}="([^"]*)"`).exec(` ${given}`)?.[1] ?? '';
    const places = of('d') === '' ? '' : `${of('d').match(/[ML]/g)?.length} places`;
    const said = name === 'style' ? '' : (text ?? '').trim();
    return [name, of('class'), of('aria-label'), places, said]
      .filter((one) => one !== '')
      .join(' ');
  });
  return `${elements.join('\n')}\n`;
}

const HOSTILE = `</text><script>alert(1)</script>"'&\u0000\ud800]]>`;
const GOLDEN: Readonly<Record<string, readonly [string, { label: string; value: number }[]]>> = {
  rising: ['AAPL · PRICES · close', pointsOf([1, 2, 3, 4, 5])],
  one: ['one value', pointsOf([42])],
  none: ['no values', []],
  negative: ['below nothing', pointsOf([-5, 0, 5])],
  hostile: [HOSTILE, [1, 2].map((value) => ({ label: HOSTILE, value }))],
};

for (const [name, [title, points]] of Object.entries(GOLDEN)) {
  test(`the structure of ${name}`, async () => {
    const path = join(import.meta.dirname, 'charts', `${name}.txt`);
    const told = structureOf(svgChart(title, points));
    if (process.env['UPDATE'] === '1') await writeFile(path, told);
    assert.equal(told, await readFile(path, 'utf8'));
  });
}

test('what a name says is text, and XML', () => {
  const svg = svgChart(HOSTILE, [{ label: HOSTILE, value: 1 }]);
  assert.ok(!/<script|\u0000/.test(svg) && svg.isWellFormed());
  assert.deepEqual([...new Set(svg.match(/<(\w+)/g))].toSorted(), [
    ...['<line', '<path', '<rect', '<style', '<svg', '<text'],
  ]);
});

test('the policy of a picture allows its own style, and nothing else', () => {
  assert.match(SVG_POLICY, /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; .*sandbox$/);
});

test('whatever the values are, every place is within the picture', () => {
  const odd = [
    ...[[1e308, -1e308], [5e-324, 0], [1, 1, 1], [0], [123456789.125, 123456789.25]],
    Array.from({ length: 300_000 }, (_, at) => Math.sin(at) * at),
  ];
  for (const values of odd) {
    const { grid, line } = layoutOf('t', pointsOf(values), SIZE);
    assert.ok(line.length <= 2_000);
    for (const { x, y } of line) assert.ok(x >= 0 && x <= 400 && y >= 0 && y <= 200, `${x} ${y}`);
    for (const { label } of grid) assert.ok(label.length <= 9, label);
  }
});

test('a peak among many values is drawn', () => {
  const values = Array.from({ length: 100_000 }, () => 1);
  values[77_777] = 500;
  const ys = layoutOf('t', pointsOf(values), SIZE).line.map(({ y }) => y);
  assert.equal(Math.min(...ys), 44);
});

test('what does not fit is cut', () => {
  const { first, last, title } = layoutOf(
    'x'.repeat(500),
    ['a', 'b'].map((one) => ({ label: one.repeat(100), value: 1 })),
    { width: WIDTHS.least, height: HEIGHTS.least },
  );
  assert.ok(title.length <= 200 && title.endsWith('…'));
  assert.deepEqual([first.length, last], [40, '']);
});

/** The dots of a picture, each by its place in the palette. */
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

test('a PNG has the size that was asked for, and the line where the layout has it', () => {
  const points = pointsOf([1, 5, 2, 8]);
  const { height, rows, width } = dotsOf(pngChart('Übung: a title', points, SIZE));
  assert.deepEqual([width, height], [400, 200]);
  for (const { x, y } of layoutOf('', points, SIZE).line) {
    assert.ok((rows[Math.round(y)]?.[Math.round(x)] ?? 0) > 10, `${x} ${y}`);
  }
  assert.equal(
    rows[1]?.every((dot) => dot === 0),
    true,
  );
  const none = dotsOf(pngChart('t', [], SIZE));
  assert.ok(none.rows.flatMap((row) => [...row]).every((dot) => dot < 4));
});

test('the column and the days are found', () => {
  const days = [
    { key: 'A', date: 1_577_923_200_000, updated: 1, volume: 7, close: 2 },
    { key: 'A', date: 1_577_836_800_000, updated: 1, volume: 5, close: 1 },
  ];
  const of = (
    records: readonly Record<string, unknown>[],
    column?: string,
    key?: string,
  ): unknown => {
    const { kind, ...rest } = drawableOf(records, { column, key });
    return kind === 'line' && 'points' in rest
      ? rest.points.map(({ label, value }) => `${label} ${value}`)
      : rest;
  };
  assert.deepEqual(of(days), ['2020-01-01 1', '2020-01-02 2'], 'oldest first');
  assert.deepEqual(of(days, 'volume'), ['2020-01-01 5', '2020-01-02 7']);
  assert.deepEqual(
    of([
      { sector: 'b', n: 3 },
      { sector: 'a', n: null },
      { sector: 'c', n: 1 },
    ]),
    [...['b 3', 'c 1']],
  );
  assert.deepEqual(of([{ n: 3 }, { n: 1 }]), ['1 3', '2 1']);
  const at = { date: '2020-01-01', minute: '09:31', close: 1 };
  assert.deepEqual(of([at]), ['2020-01-01 09:31 1']);
  assert.deepEqual(of([{ n: 1 }, { n: '9007199254740993' }]), ['1 1', '2 9007199254740992']);
  assert.deepEqual(of([]), []);
  const refused = (records: readonly Record<string, unknown>[], column?: string): unknown =>
    (of(records, column) as { rule: string }).rule;
  assert.match(String(refused(days, 'zz')), /^is none of key, date/);
  assert.match(String(refused([{ a: 'x' }])), /^must name a column of numbers; there are a/);
  assert.match(String(refused(days, 'key')), /^has no numbers in key/);
  const two = days.map((row) => ({ ...row, date: '2020-01-01' }));
  assert.match(String(refused(two)), /several values of 2020-01-01: ask for one/);
  const keys = [
    { s: 'A', n: 1 },
    { s: 'B', n: 2 },
  ];
  assert.match(String((of(keys, 'n', 's') as { rule: string }).rule), /one line: ask for one s/);
});

const wish = { format: 'png', size: USUAL_SIZE, title: 't', isTitled: false } as const;
const bodyOf = (value: unknown): { objects: number; bytes: Uint8Array } => ({
  objects: 1,
  bytes: Buffer.from(JSON.stringify(value)),
});
const never = new AbortController().signal;

function charts(deadlineMs?: number): Charts {
  const made = new Charts(deadlineMs);
  onTestFinished(() => made.close());
  return made;
}

test('pictures of one account wait up to a limit, and one who leaves is not drawn', async () => {
  const made = charts();
  const asked = { ...wish, column: undefined };
  const body = bodyOf(Array.from({ length: 20_000 }, (_, at) => ({ n: at % 97 })));
  const leaving = new AbortController();
  const many = Array.from({ length: 17 }, () => made.draw('a', asked, body, never));
  await assert.rejects(made.draw('a', asked, body, never), /pictures wait/);
  const left = made.draw('b', asked, body, leaving.signal);
  leaving.abort(new Error('gone'));
  await assert.rejects(left, /gone/);
  const drawn = await Promise.all(many);
  assert.ok(drawn.every((bytes) => bytes.length > 1_000));
});

test('too many bytes are refused by name; what takes too long costs only its own picture', async () => {
  const made = charts(1);
  const asked = { ...wish, column: undefined };
  const large = { objects: 1, bytes: new Uint8Array(RECORD_BYTES_MAX + 1) };
  await assert.rejects(made.draw('a', asked, large, never), /"format" png draws at most/);
  const body = bodyOf(Array.from({ length: 200_000 }, (_, at) => ({ n: at })));
  await assert.rejects(made.draw('a', asked, body, never), /took too long/);
  const patient = charts();
  await assert.rejects(
    patient.draw('a', { ...asked, column: 'x' }, body, never),
    /"chartColumn" is none of n/,
  );
  assert.ok((await patient.draw('a', asked, bodyOf([{ n: 1 }]), never)).length > 500);
  await patient.close();
  await assert.rejects(patient.draw('a', asked, bodyOf([{ n: 1 }]), never), /the server ends/);
});
