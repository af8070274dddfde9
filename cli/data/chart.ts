// `tapedeck chart`: draws prices of a symbol, or columns of a dataset, on the terminal or into a file.
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Chart } from '../../query/charts/records/chart.ts';
import { isRefusal, type Row } from '../../query/charts/records/chartColumns.ts';
import { USUAL_SIZE } from '../../query/charts/chartLayout.ts';
import { type ChartKind, toDrawable } from '../../query/charts/records/chartPoints.ts';
import { paintChart, type PictureFormat } from '../../query/charts/drawing.ts';
import { brailleChart } from '../print/brailleChart.ts';
import { escapeControls } from '../print/terminalText.ts';
import { type CallData, withFirstAccount } from '../connect/dataApi.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';

export interface ChartOptions {
  readonly range: string;
  readonly dataset?: string;
  readonly columns?: string;
  /** Former name of `columns`. */
  readonly column?: string;
  readonly kind?: ChartKind;
  readonly out?: string;
}

/** Formats by file extension. */
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
  const print = printTo(terminal);
  const { out } = options;
  const format = out === undefined ? undefined : formatOf(out);
  await withFirstAccount(settings, new AbortController().signal, async (call) => {
    const chart = buildChart(await fetchRecords(call, name, options), name, options);
    if (out !== undefined && format !== undefined) {
      const path = resolve(terminal.folder, out);
      await writeFile(path, paintChart(chart, { format, size: USUAL_SIZE }));
      return print(escapeControls(`${out}: ${countText(chart)}`));
    }
    const { columns = WIDTH } = terminal.stdout;
    const width = Math.min(WIDTH_MOST, Math.max(WIDTH_LEAST, columns - 1));
    print(escapeControls(chart.title));
    for (const line of brailleChart(toCloses(chart), { width, height: HEIGHT }))
      print(escapeControls(line));
  });
}

/** @throws Failure InvalidParameter for a name with another extension */
function formatOf(out: string): PictureFormat {
  const match = ENDINGS.find(([ending]) => out.toLowerCase().endsWith(ending));
  if (match !== undefined) return match[1];
  throw new Failure('InvalidParameter', '--out must end in .svg, .png or .vl.json');
}

/** @throws Failure NotFound, or InvalidParameter naming the option that does not fit the records. */
function buildChart(records: readonly Row[], name: string, options: ChartOptions): Chart {
  const { dataset = '', kind, out, range } = options;
  const columns = options.columns ?? options.column;
  if (records.length === 0) throw new Failure('NotFound', `${name} has no values in ${range}`);
  const drawable = toDrawable(records, { columns, kind, key: findKeyColumn(records, name) });
  if (isRefusal(drawable)) {
    const about = { column: '--columns', kind: '--kind', records: name };
    throw new Failure('InvalidParameter', `${about[drawable.about]} ${drawable.rule}`);
  }
  // A terminal shows only the close of candles.
  const defaultColumn = kind === 'candles' && out === undefined ? 'close' : '';
  const column = drawable.column ?? columns ?? defaultColumn;
  const parts = [name, dataset, column, range];
  return { ...drawable, title: parts.filter((part) => part !== '').join(' · ') };
}

/** Finds the column that has the keys, if several were requested. */
function findKeyColumn(records: readonly Row[], name: string): string | undefined {
  const keys = name.split(',');
  if (keys.length === 1) return undefined;
  const [first = {}] = records;
  return Object.keys(first).find((column) =>
    records.every((record) => keys.includes(String(record[column]))),
  );
}

/** Converts candles to a line of their closes: a terminal has no room for candles. */
function toCloses({ bars, labels, lines }: Chart): Pick<Chart, 'labels' | 'lines'> {
  if (bars === undefined) return { labels, lines };
  const closes = new Map(bars.map(({ close, from }) => [from, close]));
  return {
    labels,
    lines: [{ name: 'close', values: labels.map((_, at) => closes.get(at)) }, ...lines],
  };
}

function countText({ bars, lines }: Chart): string {
  const values = lines.flatMap((line) => line.values).filter((value) => value !== undefined);
  const counts = [
    ...(bars === undefined ? [] : [`${bars.length} candles`]),
    ...(values.length === 0 ? [] : [`${values.length} values`]),
  ];
  return counts.join(' and ');
}

async function fetchRecords(
  call: CallData,
  name: string,
  { dataset, range }: ChartOptions,
): Promise<readonly Row[]> {
  const path = dataset === undefined ? chartPath(name, range) : seriesPath(name, dataset, range);
  const { body } = await call({ method: 'GET', path });
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
