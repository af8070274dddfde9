// A chart of lines or candles over time or numbers, with a text description. The charting library is loaded
// with the first chart.
import { h, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PlotHandle, Mark, Series } from './plot.ts';
import { number, shortNumber, time } from './formats.ts';
import { onTheme } from './theme.ts';

interface ChartProps {
  readonly label: string;
  /** Seconds since 1970, or numbers, in ascending order. */
  readonly x: readonly number[];
  readonly isTime: boolean;
  readonly series: readonly Series[];
  readonly marks?: readonly Mark[];
  readonly height?: number;
}

export function Chart(props: ChartProps): JSX.Element {
  const { height = 320, isTime, label, marks = [], series, x } = props;
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | undefined>(undefined);
  useEffect(() => {
    const place = box.current;
    if (place === null) return undefined;
    let handle: PlotHandle | undefined;
    let isUnmounted = false;
    const draw = async (): Promise<void> => {
      const { plot } = await import('./plot.ts');
      if (isUnmounted) return;
      handle?.end();
      handle = plot(place, { height, isTime, marks, series, x, onPoint: setAt });
    };
    void draw();
    const stop = onTheme(() => void draw());
    return () => {
      isUnmounted = true;
      stop();
      handle?.end();
    };
  }, [x, series, marks, height, isTime]);
  return h(
    'figure',
    { class: 'chart' },
    h('div', { class: 'reading', 'aria-hidden': true }, renderReading(props, at ?? x.length - 1)),
    h('div', {
      ref: box,
      role: 'img',
      'aria-label': describeChart(props),
      style: { minHeight: `${height}px` },
    }),
    h('figcaption', { class: 'hidden' }, label),
  );
}

function renderReading({ isTime, series, x }: ChartProps, at: number): readonly JSX.Element[] {
  const place = x[at];
  if (place === undefined) return [];
  const head = h('span', { key: 'x' }, h('b', null, placeText(place, isTime)));
  const values = series.flatMap((one, index) =>
    one.kind === 'candles'
      ? (['open', 'high', 'low', 'close'] as const).map((name) =>
          h('span', { key: name }, `${name} `, h('b', null, valueText(one[name][at]))),
        )
      : [
          h(
            'span',
            { key: one.name },
            h('span', { class: `swatch c${(index % 6) + 1}` }),
            `${one.name} `,
            h('b', null, valueText(one.values[at])),
          ),
        ],
  );
  return [head, ...values];
}

const valueText = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : number(value);

const placeText = (place: number, isTime: boolean): string => {
  if (!isTime) return number(place);
  const iso = new Date(place * 1_000).toISOString();
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : time(place * 1_000);
};

function describeChart({ isTime, label, series, x }: ChartProps): string {
  const [first, last] = [x[0], x.at(-1)];
  if (first === undefined || last === undefined) return `${label}: no points`;
  const span = `${placeText(first, isTime)} to ${placeText(last, isTime)}`;
  const seriesTexts = series.map((one) => {
    const values = (one.kind === 'candles' ? one.close : one.values).filter(
      (value) => value !== null,
    );
    const name = one.kind === 'candles' ? 'close' : one.name;
    const least = values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
    return values.length === 0
      ? `${name} has no values`
      : `${name} from ${shortNumber(least)} to ${shortNumber(most)}, last ${number(values.at(-1) ?? 0)}`;
  });
  return `${label}: ${x.length} points, ${span}; ${seriesTexts.join('; ')}`;
}
