// `tapedeck chart`: prices of a symbol, or columns of a dataset, drawn on the terminal or into a file.
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Chart } from '../../query/charts/records/chart.ts';
import { isRefusal, type Row } from '../../query/charts/records/chartColumns.ts';
import { USUAL_SIZE } from '../../query/charts/chartLayout.ts';
import { type ChartKind, drawableOf } from '../../query/charts/records/chartPoints.ts';
import { painted, type PictureFormat } from '../../query/charts/drawing.ts';
import { brailleChart } from '../print/brailleChart.ts';
import { harmless } from '../print/terminalText.ts';
import { type AskData, withFirstAccount } from '../reach/dataApi.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

export interface ChartOptions {
  readonly range: string;
  readonly dataset?: string;
  readonly columns?: string;
  /** What `columns` was called when there was one. */
  readonly column?: string;
  readonly kind?: ChartKind;
  readonly out?: string;
}

/** What the end of a file's name says. */
const ENDINGS: readonly (readonly [ending: string, format: PictureFormat])[] = [
  ['.svg', 'svg'],
  ['.png', 'png'],
  ['.vl.json', 'vega-lite'],
];

const [WIDTH, HEIGHT] = [80, 16];
const [WIDTH_LEAST, WIDTH_MOST] = [30, 200];

export async function drawChart(
  name: string,
  options: ChartOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const say = sayTo(terminal);
  const { out } = options;
  const format = out === undefined ? undefined : formatOf(out);
  await withFirstAccount(settings, new AbortController().signal, async (ask) => {
    const chart = chartOf(await recordsOf(ask, name, options), name, options);
    if (out !== undefined && format !== undefined) {
      const path = resolve(terminal.folder, out);
      await writeFile(path, painted(chart, { format, size: USUAL_SIZE }));
      return say(harmless(`${countOf(chart)} are drawn in ${out}`));
    }
    const { columns = WIDTH } = terminal.stdout;
    const width = Math.min(WIDTH_MOST, Math.max(WIDTH_LEAST, columns - 1));
    say(harmless(chart.title));
    for (const line of brailleChart(closesOf(chart), { width, height: HEIGHT }))
      say(harmless(line));
  });
}

/** @throws Failure InvalidParameter for a name that does not say what the file is to be. */
function formatOf(out: string): PictureFormat {
  const found = ENDINGS.find(([ending]) => out.toLowerCase().endsWith(ending));
  if (found !== undefined) return found[1];
  throw new Failure('InvalidParameter', '--out must end in .svg, .png or .vl.json');
}

/** @throws Failure NotFound, or InvalidParameter naming the option that does not fit the records. */
function chartOf(records: readonly Row[], name: string, options: ChartOptions): Chart {
  const { dataset = '', kind, out, range } = options;
  const columns = options.columns ?? options.column;
  if (records.length === 0) throw new Failure('NotFound', `${name} has no values in ${range}`);
  const drawable = drawableOf(records, { columns, kind, key: keyOf(records, name) });
  if (isRefusal(drawable)) {
    const about = { column: '--columns', kind: '--kind', records: name };
    throw new Failure('InvalidParameter', `${about[drawable.about]} ${drawable.rule}`);
  }
  // What a terminal shows of candles.
  const shown = kind === 'candles' && out === undefined ? 'close' : '';
  const column = drawable.column ?? columns ?? shown;
  const parts = [name, dataset, column, range];
  return { ...drawable, title: parts.filter((part) => part !== '').join(' · ') };
}

/** The column that has the keys, where several were asked for. */
function keyOf(records: readonly Row[], name: string): string | undefined {
  const keys = name.split(',');
  if (keys.length === 1) return undefined;
  const [first = {}] = records;
  return Object.keys(first).find((column) =>
    records.every((record) => keys.includes(String(record[column]))),
  );
}

/** A terminal has no room for candles: their closes are a line. */
function closesOf({ bars, labels, lines }: Chart): Pick<Chart, 'labels' | 'lines'> {
  if (bars === undefined) return { labels, lines };
  const closes = new Map(bars.map(({ close, from }) => [from, close]));
  return {
    labels,
    lines: [{ name: 'close', values: labels.map((_, at) => closes.get(at)) }, ...lines],
  };
}

function countOf({ bars, lines }: Chart): string {
  const values = lines.flatMap((line) => line.values).filter((value) => value !== undefined);
  const told = [
    ...(bars === undefined ? [] : [`${bars.length} candles`]),
    ...(values.length === 0 ? [] : [`${values.length} values`]),
  ];
  return told.join(' and ');
}

async function recordsOf(
  ask: AskData,
  name: string,
  { dataset, range }: ChartOptions,
): Promise<readonly Row[]> {
  const path = dataset === undefined ? chartPath(name, range) : seriesPath(name, dataset, range);
  const { body } = await ask({ method: 'GET', path });
  return JSON.parse(await text(body)) as readonly Row[];
}

const chartPath = (symbol: string, range: string): string =>
  `/stock/${encodeURIComponent(symbol)}/chart/${encodeURIComponent(range)}`;

function seriesPath(key: string, dataset: string, range: string): string {
  const parts = dataset.split('.');
  if (parts.length !== 2) {
    throw new Failure('InvalidParameter', '--dataset must be WORKSPACE.DATASET');
  }
  const place = [...parts, key].map(encodeURIComponent).join('/');
  return `/data/${place}?${new URLSearchParams({ range, sort: 'asc' })}`;
}
