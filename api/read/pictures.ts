// An answer as a picture: the records of the same request in JSON, drawn. It costs what they cost.
import { LINES_MAX } from '../../query/charts/records/chart.ts';
import { HEIGHTS, USUAL_SIZE, WIDTHS } from '../../query/charts/chartLayout.ts';
import { CHART_KINDS } from '../../query/charts/records/chartPoints.ts';
import type { PictureFormat } from '../../query/charts/drawing.ts';
import { type Body, lengthOf } from '../../store/duckdb/protocol.ts';
import type { SeriesShape } from '../../query/plan/seriesMembers.ts';
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import { callerOf } from '../auth/access.ts';
import type { Call, Services } from '../request/endpoint.ts';
import { numberOf, type Parameter, refuse, textOf, type Values } from '../request/parameters.ts';

export const PICTURES: readonly PictureFormat[] = ['svg', 'png', 'vega-lite'];

const TITLE_MAX = 200;

/** What a picture may be asked for beside its format. Each name begins alike: owners name parameters too. */
export const PICTURE_PARAMETERS: readonly Parameter[] = [
  {
    kind: 'text',
    name: 'chartColumn',
    help:
      `Of a picture: the attribute that is drawn, or up to ${LINES_MAX} between commas; by default close, ` +
      'price, value, or the first number. Of candles: what is drawn over them.',
  },
  {
    kind: 'choice',
    name: 'chartKind',
    choices: CHART_KINDS,
    help: 'Of a picture: line, or candles of open, high, low and close; line by default.',
  },
  {
    kind: 'text',
    name: 'chartTitle',
    charactersMax: TITLE_MAX,
    help: 'Of a picture: what stands above it; by default what was asked for.',
  },
  {
    kind: 'integer',
    name: 'chartWidth',
    ...WIDTHS,
    help: `Of a picture: its width in dots; ${USUAL_SIZE.width} by default.`,
  },
  {
    kind: 'integer',
    name: 'chartHeight',
    ...HEIGHTS,
    help: `Of a picture: its height in dots; ${USUAL_SIZE.height} by default.`,
  },
];

const told = `${PICTURES.slice(0, -1).join(', ')} or ${PICTURES.at(-1)}`;

/** Undefined for an answer that is none. @throws Failure for what goes with pictures alone, or never. */
export function pictureOf(query: Values): PictureFormat | undefined {
  const picture = PICTURES.find((item) => item === textOf(query, 'format'));
  if (picture === undefined) {
    const given = PICTURE_PARAMETERS.find(({ name }) => query[name] !== undefined);
    if (given !== undefined) refuse(given.name, `goes with format ${told}`);
  } else if (query['callback'] !== undefined) {
    refuse('callback', `is not allowed with format ${picture}`);
  }
  return picture;
}

/** What is drawn of an answer, and of what. */
export interface Shown {
  /** Undefined: nothing, its records are the answer. */
  readonly picture: PictureFormat | undefined;
  /** What stands above it, where the call names nothing. */
  readonly title: string;
  /** The attribute that names a line: records of several are several lines. */
  readonly key?: string | undefined;
}

interface Drawn extends Body {
  /** Of the records, whatever became of them: some are charged by their bytes. */
  readonly recordBytes: number;
}

/** A picture of records of a series: the keys that were asked for, and whose records they are. */
export const seriesShown = (
  { path }: Pick<Call, 'path'>,
  name: string,
  mapping: ColumnMapping,
  shape: SeriesShape,
): Omit<Shown, 'picture'> => ({
  title: [path['key'], path['subkey'], name].filter((part) => (part ?? '') !== '').join(' · '),
  key: shape === 'data' ? mapping.key : 'key',
});

/**
 * The records of a body as a picture; as they are where none is asked for.
 * @throws Failure InvalidParameter, Busy, TimedOut, TooLarge
 */
export async function drawn(
  call: Call,
  { charts }: Pick<Services, 'charts'>,
  body: Body,
  { key, picture, title }: Shown,
): Promise<Drawn> {
  const { query } = call;
  const recordBytes = lengthOf(body);
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
  const { accountId } = callerOf(call.caller);
  const bytes = await charts.draw(accountId, wish, body, call.departure());
  return { objects: body.objects, bytes, recordBytes };
}
