// Renders the records of an answer as a chart, at the price of the records.
import { LINES_MAX } from '../../query/charts/records/chart.ts';
import { HEIGHTS, USUAL_SIZE, WIDTHS } from '../../query/charts/chartLayout.ts';
import { drawChart } from '../../query/charts/charts.ts';
import { CHART_KINDS } from '../../query/charts/records/chartPoints.ts';
import type { PictureFormat } from '../../query/charts/drawing.ts';
import { type Body, bodyLength } from '../../store/duckdb/protocol.ts';
import type { SeriesShape } from '../../query/plan/seriesMembers.ts';
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { numberOf, type Parameter, refuse, textOf, type Values } from '../request/parameters.ts';
import { exclusionRule } from '../../store/base/valueRules.ts';

export const CHART_FORMATS: readonly PictureFormat[] = ['svg', 'png', 'vega-lite'];

const TITLE_MAX = 200;

/** Parameters of a chart. They share a prefix, because owners name parameters too. */
export const CHART_PARAMETERS: readonly Parameter[] = [
  {
    kind: 'text',
    name: 'chartColumn',
    help:
      `The attribute that the chart shows, or up to ${LINES_MAX} separated by commas; by default close, ` +
      'price, value, or the first number. For candles, attributes that are drawn over them.',
  },
  {
    kind: 'choice',
    name: 'chartKind',
    choices: CHART_KINDS,
    help: 'Kind of chart: line, or candles of open, high, low and close; line by default.',
  },
  {
    kind: 'text',
    name: 'chartTitle',
    charactersMax: TITLE_MAX,
    help: 'Title of the chart; by default the requested keys and dataset.',
  },
  {
    kind: 'integer',
    name: 'chartWidth',
    ...WIDTHS,
    help: `Width of the chart in pixels; ${USUAL_SIZE.width} by default.`,
  },
  {
    kind: 'integer',
    name: 'chartHeight',
    ...HEIGHTS,
    help: `Height of the chart in pixels; ${USUAL_SIZE.height} by default.`,
  },
];

const FORMATS_TEXT = `${CHART_FORMATS.slice(0, -1).join(', ')} or ${CHART_FORMATS.at(-1)}`;

/** The requested chart format, if any. @throws Failure for parameters that do not fit the format. */
export function parseChartFormat(query: Values): PictureFormat | undefined {
  const picture = CHART_FORMATS.find((item) => item === textOf(query, 'format'));
  if (picture === undefined) {
    const parameter = CHART_PARAMETERS.find(({ name }) => query[name] !== undefined);
    if (parameter !== undefined) refuse(parameter.name, `goes with format ${FORMATS_TEXT}`);
  } else if (query['callback'] !== undefined) {
    refuse('callback', exclusionRule(`format ${picture}`));
  }
  return picture;
}

/** How an answer is rendered as a chart. */
export interface ChartOptions {
  /** Undefined: the answer is the records. */
  readonly picture: PictureFormat | undefined;
  /** The default title. */
  readonly title: string;
  /** The attribute whose values separate records into lines. */
  readonly key?: string | undefined;
}

interface ChartBody extends Body {
  /** The bytes of the records before rendering: some reads are charged by bytes. */
  readonly recordBytes: number;
}

/** Builds the title and line key of a chart of a series from the requested keys. */
export const toSeriesChart = (
  { path }: Pick<ReadRequest, 'path'>,
  name: string,
  mapping: ColumnMapping,
  shape: SeriesShape,
): Omit<ChartOptions, 'picture'> => ({
  title: [path['key'], path['subkey'], name].filter((part) => (part ?? '') !== '').join(' · '),
  key: shape === 'data' ? mapping.key : 'key',
});

/**
 * Renders the records of a body as a chart; returns them unchanged if no chart is requested.
 * @throws Failure InvalidParameter, Busy, TimedOut, TooLarge
 */
export async function renderChart(
  call: ReadRequest,
  { workers }: Pick<ReadServices, 'workers'>,
  body: Body,
  { key, picture, title }: ChartOptions,
): Promise<ChartBody> {
  const { query } = call;
  const recordBytes = bodyLength(body);
  if (picture === undefined) return { ...body, recordBytes };
  const wish = {
    format: picture,
    size: {
      width: numberOf(query, 'chartWidth') ?? USUAL_SIZE.width,
      height: numberOf(query, 'chartHeight') ?? USUAL_SIZE.height,
    },
    title: textOf(query, 'chartTitle') ?? title,
    isTitled: query['chartTitle'] !== undefined,
    choice: {
      kind: CHART_KINDS.find((kind) => kind === query['chartKind']),
      columns: textOf(query, 'chartColumn'),
      key,
    },
  };
  const { accountId } = call.caller;
  const bytes = await drawChart(workers, accountId, wish, body, call.departure());
  return { objects: body.objects, bytes, recordBytes };
}
