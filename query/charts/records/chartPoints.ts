// Converts records to a chart: which values are drawn, their labels, their order and their lines.
import type { Bar, Chart, Line } from './chart.ts';
import {
  type BarColumns,
  barColumns,
  parseColumns,
  isRefusal,
  type LabelColumn,
  labelColumn,
  labelOf,
  namesOf,
  numberOf,
  type Refusal,
  makeRefusal,
  type Row,
  joinNames,
  usualColumn,
} from './chartColumns.ts';
import { differs, type Labelled, groupLines, chooseNaming, refuseTooMany } from './chartLines.ts';

export const CHART_KINDS = ['line', 'candles'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

/** The parts of records to draw. */
export interface Choice {
  readonly kind?: ChartKind | undefined;
  /** One column or several between commas; undefined for the default. */
  readonly columns?: string | undefined;
  /** The column that names a series. */
  readonly key?: string | undefined;
}

interface Drawable extends Pick<Chart, 'bars' | 'labelled' | 'labels' | 'lines'> {
  readonly kind: 'chart';
  /** The drawn column, if it is the only one. */
  readonly column: string | undefined;
}

/** Converts records, oldest first if they have days, else in their order; skips records without a value. */
export function toDrawable(
  records: readonly Row[],
  { columns: text, key, kind = 'line' }: Choice = {},
): Drawable | Refusal {
  const names = records.length === 0 ? undefined : namesOf(records);
  const chosenColumns = text === undefined ? undefined : parseColumns(text, names);
  if (chosenColumns !== undefined && isRefusal(chosenColumns)) return chosenColumns;
  if (names === undefined)
    return { kind: 'chart', ...emptyContent(kind), column: onlyColumn(chosenColumns) };
  const bars = kind === 'candles' ? barColumns(names) : undefined;
  if (bars !== undefined && isRefusal(bars)) return bars;
  const barNames = bars === undefined ? [] : Object.values(bars);
  const label = labelColumn(records, names, [...(chosenColumns ?? []), ...barNames]);
  const usual = bars === undefined ? usualColumn(records, names, label?.name) : undefined;
  const drawnColumns = chosenColumns ?? (usual === undefined ? [] : [usual]);
  if (drawnColumns.length === 0 && bars === undefined) {
    const rule = `must name a column of numbers; there are ${joinNames(names)}`;
    return makeRefusal('column', rule);
  }
  const items = selectItems(records, drawnColumns, bars, label);
  const empty = drawnColumns.find((name) => items.every(({ record }) => isEmpty(record, name)));
  if (empty !== undefined) return makeRefusal('column', `has no numbers in ${empty}`);
  const ordered = label?.isDay === true ? items.toSorted(byLabel) : items;
  const chart =
    bars === undefined
      ? buildLines(ordered, drawnColumns, { key, label, names })
      : buildBars(ordered, drawnColumns, { bars, key, label });
  if (isRefusal(chart)) return chart;
  return {
    kind: 'chart',
    ...chart,
    column: bars === undefined ? onlyColumn(drawnColumns) : undefined,
  };
}

const onlyColumn = (columns: readonly string[] | undefined): string | undefined =>
  columns?.length === 1 ? columns[0] : undefined;

const isEmpty = (record: Row, name: string): boolean => numberOf(record[name]) === undefined;

type Content = Omit<Drawable, 'kind' | 'column'>;

const emptyContent = (kind: ChartKind): Content => ({
  labels: [],
  labelled: 'place',
  lines: [],
  ...(kind === 'candles' ? { bars: [] } : {}),
});

/** Returns the records that have a bar or a value, in their order. */
function selectItems(
  records: readonly Row[],
  drawnColumns: readonly string[],
  bars: BarColumns | undefined,
  label: LabelColumn | undefined,
): readonly Labelled[] {
  return records.flatMap((record, at): Labelled[] => {
    const isDrawn =
      drawnColumns.some((name) => !isEmpty(record, name)) ||
      (bars !== undefined && barOf(record, bars, at) !== undefined);
    if (!isDrawn) return [];
    return [{ record, label: label === undefined ? String(at + 1) : labelOf(record, label.name) }];
  });
}

const byLabel = (one: Labelled, other: Labelled): number =>
  one.label < other.label ? -1 : Number(one.label > other.label);

interface Named {
  readonly label: LabelColumn | undefined;
  readonly key: string | undefined;
}

function buildLines(
  items: readonly Labelled[],
  drawnColumns: readonly string[],
  { key, label, names }: Named & { readonly names: readonly string[] },
): Content | Refusal {
  if (label?.isDay !== true) {
    if (key !== undefined && differs(items, key)) {
      return makeRefusal('records', `draws one line where there are no days: request one ${key}`);
    }
    return {
      ...labelItems(items, label),
      lines: drawnColumns.map((name) => lineOf(name, items, name)),
    };
  }
  const others = names.filter((name) => name !== label.name && !drawnColumns.includes(name));
  const naming = chooseNaming(items, others, key);
  if (isRefusal(naming)) return naming;
  if (naming.length === 0) {
    return {
      ...labelItems(items, label),
      lines: drawnColumns.map((name) => lineOf(name, items, name)),
    };
  }
  const groups = groupLines(items, naming);
  const many = refuseTooMany(naming, groups.size, drawnColumns.length);
  if (many !== undefined) return many;
  const labels = [...new Set(items.map((item) => item.label))];
  const places = new Map(labels.map((text, at) => [text, at]));
  const lines = [...groups].flatMap(([group, own]) =>
    drawnColumns.map((name) => {
      const values = new Array<number | undefined>(labels.length).fill(undefined);
      for (const item of own) values[places.get(item.label) ?? 0] = numberOf(item.record[name]);
      return { name: drawnColumns.length === 1 ? group : `${group} · ${name}`, values };
    }),
  );
  const filled = lines.filter(({ values }) => values.some((value) => value !== undefined));
  return { labels, labelled: 'day', lines: filled };
}

const lineOf = (name: string, items: readonly Labelled[], column: string): Line => ({
  name,
  values: items.map(({ record }) => numberOf(record[column])),
});

const labelItems = (
  items: readonly Labelled[],
  label: LabelColumn | undefined,
): Pick<Chart, 'labels' | 'labelled'> => ({
  labels: items.map((item) => item.label),
  labelled: label === undefined ? 'place' : label.isDay ? 'day' : 'text',
});

/** Builds candles of one key, and lines over them. */
function buildBars(
  items: readonly Labelled[],
  drawnColumns: readonly string[],
  { bars: columns, key, label }: Named & { readonly bars: BarColumns },
): Content | Refusal {
  if (key !== undefined && differs(items, key)) {
    return makeRefusal('records', `draws candles of one ${key}: request one`);
  }
  const twice = items.find((item, at) => item.label === items[at - 1]?.label);
  if (label?.isDay === true && twice !== undefined) {
    const rule = `draws one candle of a day, and there are several of ${twice.label}: request one`;
    return makeRefusal('records', rule);
  }
  const bars = items.flatMap(({ record }, at) => barOf(record, columns, at) ?? []);
  if (bars.length === 0) {
    return makeRefusal('kind', 'candles needs numbers in open, high, low and close');
  }
  const lines = drawnColumns.map((name) => lineOf(name, items, name));
  return { ...labelItems(items, label), lines, bars };
}

function barOf(record: Row, columns: BarColumns, at: number): Bar | undefined {
  const open = numberOf(record[columns.open]);
  const high = numberOf(record[columns.high]);
  const low = numberOf(record[columns.low]);
  const close = numberOf(record[columns.close]);
  if (open === undefined || high === undefined || low === undefined || close === undefined) {
    return undefined;
  }
  return { from: at, to: at, open, high, low, close };
}
