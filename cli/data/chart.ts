// `tapedeck chart`: prices of a symbol, or a column of a dataset, drawn on the terminal or into a file.
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings.ts';
import { type Point, USUAL_SIZE } from '../../query/charts/chartLayout.ts';
import { pngChart } from '../../query/charts/pngChart.ts';
import { svgChart } from '../../query/charts/svgChart.ts';
import { brailleChart } from '../print/brailleChart.ts';
import { harmless } from '../print/terminalText.ts';
import { type AskData, withFirstAccount } from '../reach/dataApi.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

export interface ChartOptions {
  readonly range: string;
  readonly dataset?: string;
  readonly column?: string;
  readonly out?: string;
}

const [WIDTH, HEIGHT] = [80, 16];
const [WIDTH_LEAST, WIDTH_MOST] = [30, 200];

export async function drawChart(
  name: string,
  options: ChartOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const say = sayTo(terminal);
  await withFirstAccount(settings, new AbortController().signal, async (ask) => {
    const points = await pointsOf(ask, name, options);
    const [first] = points;
    if (first === undefined)
      throw new Failure('NotFound', `${name} has no values in ${options.range}`);
    if (options.out !== undefined) {
      const isPng = options.out.toLowerCase().endsWith('.png');
      const picture = isPng ? pngChart : svgChart;
      const path = resolve(terminal.folder, options.out);
      await writeFile(path, picture(titleOf(name, options), points, USUAL_SIZE));
      return say(harmless(`${points.length} values are drawn in ${options.out}`));
    }
    const { columns = WIDTH } = terminal.stdout;
    const width = Math.min(WIDTH_MOST, Math.max(WIDTH_LEAST, columns - 1));
    say(harmless(titleOf(name, options)));
    for (const line of brailleChart(points, { width, height: HEIGHT })) say(harmless(line));
  });
}

const titleOf = (name: string, { column = 'close', dataset = '', range }: ChartOptions): string =>
  [name, ...(dataset === '' ? [] : [dataset]), column, range].join(' · ');

/** Oldest first; records without a value are left out. */
async function pointsOf(
  ask: AskData,
  name: string,
  { column = 'close', dataset, range }: ChartOptions,
): Promise<readonly Point[]> {
  const path = dataset === undefined ? chartPath(name, range) : seriesPath(name, dataset, range);
  const { body } = await ask({ method: 'GET', path });
  const rows = JSON.parse(await text(body)) as readonly Readonly<Record<string, unknown>>[];
  const known = rows.some((row) => row[column] !== undefined);
  if (rows.length > 0 && !known) {
    const there = Object.keys(rows[0] ?? {}).join(', ');
    throw new Failure('InvalidParameter', `--column ${column} is none of ${there}`);
  }
  return rows.flatMap((row): Point[] => {
    const value = row[column];
    if (typeof value !== 'number') return [];
    const minute = row['minute'] === undefined ? '' : ` ${String(row['minute'])}`;
    return [{ label: `${labelOf(row)}${minute}`, value }];
  });
}

/** The day: a property that is one, by the name that most have. */
const labelOf = (row: Readonly<Record<string, unknown>>): string => String(row['date'] ?? '');

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
