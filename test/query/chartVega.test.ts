// Charts as Vega-Lite: the specification, and, where its package is installed, that Vega-Lite accepts it.
import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { Row } from '../../query/charts/records/chartColumns.ts';
import { USUAL_SIZE } from '../../query/charts/chartLayout.ts';
import { type Choice, toDrawable } from '../../query/charts/records/chartPoints.ts';
import { vegaChart } from '../../query/charts/vegaChart.ts';

interface Channel {
  readonly field?: string;
  readonly type?: string;
  readonly sort?: null;
  readonly scale?: { readonly type?: string; readonly domain?: readonly string[] };
  readonly legend?: object | null;
}

interface View {
  readonly mark?: { readonly type: string };
  readonly data?: { readonly values: readonly Row[] };
  readonly encoding?: Readonly<Record<string, Channel>>;
  readonly layer?: readonly View[];
}

interface Specification extends View {
  readonly $schema: string;
  readonly title: string | { readonly text: string; readonly subtitle: string };
  readonly width: number;
  readonly height: number;
}

const TITLE = 'A · <b>"PRICES"';

function textOf(records: readonly Row[], choice: Choice): string {
  const drawable = toDrawable(records, choice);
  assert.ok(drawable.kind === 'chart', JSON.stringify(drawable));
  return vegaChart({ ...drawable, title: TITLE }, USUAL_SIZE);
}

const specified = (records: readonly Row[], choice: Choice = {}): Specification =>
  JSON.parse(textOf(records, choice)) as Specification;

const dayAt = (at: number): string =>
  new Date(Date.UTC(2024, 0, 1 + at)).toISOString().slice(0, 10);
const bars = Array.from({ length: 30 }, (_, at) => ({
  date: dayAt(at),
  open: at,
  high: at + 3,
  low: at - 3,
  close: at + (at % 3) - 1,
  ma: at < 5 ? null : at,
}));
const keyed = ['B', 'A'].flatMap((symbol) => bars.map((bar) => ({ symbol, ...bar })));
const gapped = [1, null, 3, null, 5, 6].map((v, at) => ({ date: dayAt(at), v, w: at }));
const minutes = bars.slice(0, 9).map((bar, at) => ({
  ...bar,
  date: '2024-03-01',
  minute: `09:3${at}`,
}));

test('a line over days: title, size, values inline, an axis of time that is the same everywhere', () => {
  const { data, encoding, height, mark, title, width, $schema } = specified(bars);
  assert.equal($schema, 'https://vega.github.io/schema/vega-lite/v5.json');
  assert.deepEqual([title, width, height, mark?.type], [TITLE, 960, 420, 'line']);
  assert.deepEqual(data?.values[1], { label: '2024-01-02', line: 'close', value: 1 });
  assert.equal(data?.values.length, 30);
  const { color, x } = encoding ?? {};
  assert.deepEqual([x?.field, x?.type, x?.scale?.type], ['label', 'temporal', 'utc']);
  assert.equal(color?.legend, null, 'one line needs no legend');
});

test('several lines are distinguished by colour and dash, in one order', () => {
  for (const [records, choice, names] of [
    [bars, { columns: 'open,close,ma' }, ['open', 'close', 'ma']],
    [keyed, { columns: 'close', key: 'symbol' }, ['A', 'B']],
  ] as const) {
    const { data, encoding = {} } = specified(records, choice);
    for (const channel of [encoding['color'], encoding['strokeDash']]) {
      assert.deepEqual([channel?.field, channel?.scale?.domain], ['line', names]);
      assert.ok(channel?.legend !== null);
    }
    assert.deepEqual([...new Set(data?.values.map(({ line }) => line))], names);
  }
});

test('a gap is a null, and a single value between gaps is a dot', () => {
  const { data, layer } = specified(gapped, { columns: 'v,w' });
  const values = data?.values.filter(({ line }) => line === 'v') ?? [];
  assert.deepEqual(
    values.map(({ value }) => value),
    [1, null, 3, null, 5, 6],
  );
  assert.deepEqual(
    values.map(({ alone }) => alone === true),
    [true, false, true, false, false, false],
  );
  assert.deepEqual(
    layer?.map(({ mark }) => mark?.type),
    ['line', 'point'],
  );
});

test('candles are wicks and bodies, with lines over them', () => {
  const { data, layer = [] } = specified(bars, { kind: 'candles', columns: 'ma' });
  const types = layer.map(({ mark }) => mark?.type);
  assert.deepEqual(types, ['rule', 'bar', 'line']);
  const first = { label: '2024-01-01', open: 0, high: 3, low: -3, close: -1 };
  assert.deepEqual(data?.values[0], first);
  const [wick, body, line] = layer.map(({ encoding }) => encoding);
  assert.deepEqual([wick?.['y']?.field, wick?.['y2']?.field], ['low', 'high']);
  assert.deepEqual([body?.['y']?.field, body?.['y2']?.field], ['open', 'close']);
  assert.equal(line?.['color']?.scale?.domain?.join(), 'ma');
});

test('as many values and candles as in SVG charts, and no peak is lost', () => {
  const many = Array.from({ length: 50_000 }, (_, at) => ({ n: at === 33_333 ? 900 : at % 7 }));
  const values = specified(many).data?.values ?? [];
  assert.ok(values.length <= 2_000 && values.some(({ value }) => value === 900));
  const candles = Array.from({ length: 3_000 }, (_, at) => ({
    open: 1,
    high: at === 1234 ? 99 : 2,
    low: 0,
    close: 1,
    date: dayAt(at),
  }));
  const { data, title } = specified(candles, { kind: 'candles' });
  assert.deepEqual(title, { text: TITLE, subtitle: '11 records a candle' });
  assert.ok((data?.values.length ?? 0) <= 290);
  assert.ok(data?.values.some(({ high }) => high === 99));
});

test('minutes are times; names are places in their order; other records have their position', () => {
  const timed = specified(minutes, { columns: 'close' });
  assert.equal(timed.data?.values[2]?.['label'], '2024-03-01T09:32Z');
  assert.ok(timed.data.values.every(({ label }) => !Number.isNaN(Date.parse(String(label)))));
  const named = specified([
    { sector: 'b', n: 1 },
    { sector: 'a', n: 2 },
  ]);
  assert.deepEqual([named.encoding?.['x']?.type, named.encoding?.['x']?.sort], ['nominal', null]);
  // Vega-Lite would merge two places of one name.
  const twice = specified([
    { sector: 'b', n: 1 },
    { sector: 'b', n: 2 },
  ]);
  assert.deepEqual(twice.data?.values[1], { place: 2, label: 'b', line: 'n', value: 2 });
  assert.equal(twice.encoding?.['x']?.type, 'quantitative');
  const odd = specified(['2024-13-45 x', '2024-13-46 x'].map((date) => ({ date, n: 1 })));
  assert.equal(odd.encoding?.['x']?.type, 'nominal', 'an invalid date is a name');
});

test('no records give a specification that states so', () => {
  for (const kind of ['line', 'candles'] as const) {
    const { title } = specified([], { kind });
    assert.deepEqual(title, { text: TITLE, subtitle: 'no values' });
  }
});

interface VegaLite {
  readonly compile: (
    specification: object,
    options: { readonly logger: object },
  ) => { readonly spec: object };
}

const PACKAGE = 'vega-lite';
const vegaLite = await (import(PACKAGE) as Promise<VegaLite>).catch(() => undefined);

describe.skipIf(vegaLite === undefined)('Vega-Lite compiles, without complaint,', () => {
  const cases: Readonly<Record<string, readonly [readonly Row[], Choice]>> = {
    'a line': [bars, {}],
    'several columns': [bars, { columns: 'open,close,ma' }],
    'several keys': [keyed, { columns: 'close', key: 'symbol' }],
    gaps: [gapped, { columns: 'v,w' }],
    candles: [bars, { kind: 'candles' }],
    'candles with lines': [bars, { kind: 'candles', columns: 'open,ma' }],
    minutes: [minutes, { kind: 'candles' }],
    names: [[{ sector: 'b', n: 1 }], {}],
    places: [[{ n: 1 }, { n: 2 }], {}],
    nothing: [[], {}],
    'candles of nothing': [[], { kind: 'candles' }],
  };
  test.each(Object.entries(cases))('%s', (_, [records, choice]) => {
    const complaints: unknown[] = [];
    const heard = (...words: readonly unknown[]): object => {
      complaints.push(...words);
      return logger;
    };
    const silent = (): object => logger;
    const logger = { level: silent, info: silent, debug: silent, warn: heard, error: heard };
    const compiledSpec = vegaLite?.compile(specified(records, choice), { logger });
    assert.ok(Object.keys(compiledSpec?.spec ?? {}).includes('marks'));
    assert.deepEqual(complaints, []);
  });
});
