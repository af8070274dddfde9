// Records as a chart: which values are drawn, what each is called, in which order, on which line.
import type { Bar, Chart, Line } from './chart.ts';
import {
  type BarColumns,
  barColumns,
  columnsSaid,
  isRefusal,
  type LabelColumn,
  labelColumn,
  labelOf,
  namesOf,
  numberOf,
  type Refusal,
  refused,
  type Row,
  told,
  usualColumn,
} from './chartColumns.ts';
import { differs, type Labelled, linesOf, namingOf, tooMany } from './chartLines.ts';

export const CHART_KINDS = ['line', 'candles'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

/** What of records is wanted. */
export interface Choice {
  readonly kind?: ChartKind | undefined;
  /** One column or several between commas; undefined for the one that is most likely meant. */
  readonly columns?: string | undefined;
  /** The column that names a series. */
  readonly key?: string | undefined;
}

interface Drawable extends Pick<Chart, 'bars' | 'labelled' | 'labels' | 'lines'> {
  readonly kind: 'chart';
  /** The only column that is drawn, where there is only one. */
  readonly column: string | undefined;
}

/** Oldest first where records have days, else as they come; records without a value are left out. */
export function drawableOf(
  records: readonly Row[],
  { columns: text, key, kind = 'line' }: Choice = {},
): Drawable | Refusal {
  const names = records.length === 0 ? undefined : namesOf(records);
  const said = text === undefined ? undefined : columnsSaid(text, names);
  if (said !== undefined && isRefusal(said)) return said;
  if (names === undefined) return { kind: 'chart', ...nothing(kind), column: onlyOf(said) };
  const bars = kind === 'candles' ? barColumns(names) : undefined;
  if (bars !== undefined && isRefusal(bars)) return bars;
  const barNames = bars === undefined ? [] : Object.values(bars);
  const label = labelColumn(records, names, [...(said ?? []), ...barNames]);
  const usual = bars === undefined ? usualColumn(records, names, label?.name) : undefined;
  const drawn = said ?? (usual === undefined ? [] : [usual]);
  if (drawn.length === 0 && bars === undefined) {
    const rule = `must name a column of numbers; there are ${told(names)}`;
    return refused('column', rule);
  }
  const items = itemsOf(records, drawn, bars, label);
  const empty = drawn.find((name) => items.every(({ record }) => isEmpty(record, name)));
  if (empty !== undefined) return refused('column', `has no numbers in ${empty}`);
  const ordered = label?.isDay === true ? items.toSorted(byLabel) : items;
  const chart =
    bars === undefined
      ? chartOfLines(ordered, drawn, { key, label, names })
      : chartOfBars(ordered, drawn, { bars, key, label });
  if (isRefusal(chart)) return chart;
  return { kind: 'chart', ...chart, column: bars === undefined ? onlyOf(drawn) : undefined };
}

const onlyOf = (columns: readonly string[] | undefined): string | undefined =>
  columns?.length === 1 ? columns[0] : undefined;

const isEmpty = (record: Row, name: string): boolean => numberOf(record[name]) === undefined;

type Content = Omit<Drawable, 'kind' | 'column'>;

const nothing = (kind: ChartKind): Content => ({
  labels: [],
  labelled: 'place',
  lines: [],
  ...(kind === 'candles' ? { bars: [] } : {}),
});

/** Records that have a bar or a value, as they come. */
function itemsOf(
  records: readonly Row[],
  drawn: readonly string[],
  bars: BarColumns | undefined,
  label: LabelColumn | undefined,
): readonly Labelled[] {
  return records.flatMap((record, at): Labelled[] => {
    const isDrawn =
      drawn.some((name) => !isEmpty(record, name)) ||
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

function chartOfLines(
  items: readonly Labelled[],
  drawn: readonly string[],
  { key, label, names }: Named & { readonly names: readonly string[] },
): Content | Refusal {
  if (label?.isDay !== true) {
    if (key !== undefined && differs(items, key)) {
      return refused('records', `draws one line where there are no days: ask for one ${key}`);
    }
    return { ...labelledBy(items, label), lines: drawn.map((name) => lineOf(name, items, name)) };
  }
  const others = names.filter((name) => name !== label.name && !drawn.includes(name));
  const naming = namingOf(items, others, key);
  if (isRefusal(naming)) return naming;
  if (naming.length === 0) {
    return { ...labelledBy(items, label), lines: drawn.map((name) => lineOf(name, items, name)) };
  }
  const groups = linesOf(items, naming);
  const many = tooMany(naming, groups.size, drawn.length);
  if (many !== undefined) return many;
  const labels = [...new Set(items.map((item) => item.label))];
  const places = new Map(labels.map((text, at) => [text, at]));
  const lines = [...groups].flatMap(([group, own]) =>
    drawn.map((name) => {
      const values = new Array<number | undefined>(labels.length).fill(undefined);
      for (const item of own) values[places.get(item.label) ?? 0] = numberOf(item.record[name]);
      return { name: drawn.length === 1 ? group : `${group} · ${name}`, values };
    }),
  );
  const filled = lines.filter(({ values }) => values.some((value) => value !== undefined));
  return { labels, labelled: 'day', lines: filled };
}

const lineOf = (name: string, items: readonly Labelled[], column: string): Line => ({
  name,
  values: items.map(({ record }) => numberOf(record[column])),
});

const labelledBy = (
  items: readonly Labelled[],
  label: LabelColumn | undefined,
): Pick<Chart, 'labels' | 'labelled'> => ({
  labels: items.map((item) => item.label),
  labelled: label === undefined ? 'place' : label.isDay ? 'day' : 'text',
});

/** Candles of one key, and lines over them. */
function chartOfBars(
  items: readonly Labelled[],
  drawn: readonly string[],
  { bars: columns, key, label }: Named & { readonly bars: BarColumns },
): Content | Refusal {
  if (key !== undefined && differs(items, key)) {
    return refused('records', `draws candles of one ${key}: ask for one`);
  }
  const twice = items.find((item, at) => item.label === items[at - 1]?.label);
  if (label?.isDay === true && twice !== undefined) {
    const rule = `draws one candle of a day, and there are several of ${twice.label}: ask for one`;
    return refused('records', rule);
  }
  const bars = items.flatMap(({ record }, at) => barOf(record, columns, at) ?? []);
  if (bars.length === 0) {
    return refused('kind', 'candles needs numbers in open, high, low and close');
  }
  const lines = drawn.map((name) => lineOf(name, items, name));
  return { ...labelledBy(items, label), lines, bars };
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
