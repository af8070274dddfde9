// A series as a chart: candles where it has open, high, low and close, else a line of a number.
import { h, type JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Dataset, sqlName } from '../../asking/answers.ts';
import { pathOf } from '../../asking/ask.ts';
import { type Asked, useAsk } from '../../asking/useAsk.ts';
import { restate } from '../../routing/place.ts';
import { Chart } from '../../showing/chart.ts';
import { number, plural } from '../../showing/formats.ts';
import { Card, Choice, Empty, shown } from '../../showing/parts.ts';
import type { Series } from '../../showing/plot.ts';
import type { Row } from '../../showing/sheet.ts';
import { candlesOf, numbersOf, ohlcOf, secondsOf } from '../../showing/points.ts';

interface SeriesChartProps {
  readonly dataset: Dataset;
  readonly query: URLSearchParams;
}

/** Keys offered: those with the most records. */
const KEYS_MAX = 100;
const POINTS = [250, 1_000, 5_000] as const;

export function SeriesChart({ dataset, query }: SeriesChartProps): JSX.Element {
  const { columnMapping, datasetId, schema, workspace } = dataset;
  const { date, key } = columnMapping;
  const numeric = Object.entries(schema.properties)
    .filter(([, { type }]) => type === 'number' || type === 'integer')
    .map(([name]) => name);
  const keys = useAsk<readonly Row[]>(
    key === undefined || date === undefined ? undefined : pathOf(['sql-query', workspace]),
    { json: { sqlQuery: keysQuery(workspace, datasetId, key ?? '') } },
  );
  if (date === undefined || numeric.length === 0) {
    return h(
      Card,
      { title: 'Chart', flush: true },
      h(
        Empty,
        { title: 'There is no series to draw' },
        date === undefined
          ? 'The unique index of this dataset has no date.'
          : 'No column of this dataset is a number.',
      ),
    );
  }
  if (key === undefined) return h(Drawn, { dataset, query, numeric, keys: [] });
  return h('div', null, [
    shown(keys, 'its keys', (rows) =>
      h(Drawn, { dataset, query, numeric, keys: rows.map((row) => String(row['k'])) }),
    ),
  ]);
}

const keysQuery = (workspace: string, id: string, key: string): string =>
  `SELECT ${sqlName(key)} AS k, count(*) AS n FROM ${sqlName(workspace, id)} ` +
  `GROUP BY 1 ORDER BY n DESC, k LIMIT ${KEYS_MAX}`;

interface DrawnProps extends SeriesChartProps {
  readonly numeric: readonly string[];
  readonly keys: readonly string[];
}

function Drawn({ dataset, keys, numeric, query }: DrawnProps): JSX.Element {
  const { columnMapping, datasetId } = dataset;
  const { date = '' } = columnMapping;
  const key = query.get('key') ?? keys[0] ?? '';
  const points = Number(query.get('points') ?? POINTS[1]) || POINTS[1];
  const ohlc = useMemo(() => ohlcOf(numeric), [numeric.join()]);
  const column = query.get('column') ?? (ohlc === undefined ? numeric[0] : 'candles') ?? '';
  const asked = useSeries(dataset, key, points, query.get('asOf') ?? undefined);
  const said = (more: object): void => restate({ ...Object.fromEntries(query), ...more });
  const kinds = kindsOf(ohlc !== undefined, numeric);
  return h(
    Card,
    {
      title: key === '' ? datasetId : key,
      flush: true,
      actions: h(
        'div',
        { class: 'row-of' },
        keys.length === 0
          ? null
          : h(Choice, {
              label: columnMapping.key ?? 'Key',
              value: key,
              options: [...new Set([...keys, key])].map((name) => [name, name] as const),
              onPick: (value) => said({ key: value }),
            }),
        h(Choice, {
          label: 'Draw',
          value: column,
          options: kinds,
          onPick: (value) => said({ column: value }),
        }),
        h(Choice, {
          label: 'Newest points',
          value: String(points),
          options: POINTS.map((count) => [String(count), number(count)] as const),
          onPick: (value) => said({ points: value }),
        }),
      ),
    },
    h(
      'div',
      { class: 'body' },
      shown(asked, 'the series', (rows, messages) =>
        rows.length === 0
          ? h(Empty, { title: 'No records of this key' })
          : [
              h(Lines, { rows, date, column, ohlc, label: `${datasetId} ${key}` }),
              h(
                'p',
                { class: 'soft small' },
                `${plural(rows.length, 'record')}, ${plural(messages, 'message')}.`,
              ),
            ],
      ),
    ),
  );
}

const kindsOf = (
  hasBars: boolean,
  numeric: readonly string[],
): readonly (readonly [kind: string, title: string])[] => [
  ...(hasBars ? [['candles', 'Candles'] as const] : []),
  ...numeric.map((name) => [name, name] as const),
];

const useSeries = (
  { datasetId, workspace }: Dataset,
  key: string,
  points: number,
  asOf: string | undefined,
): Asked<readonly Row[]> =>
  useAsk(
    pathOf(['data', workspace, datasetId, ...(key === '' ? [] : [key])], { last: points, asOf }),
  );

interface LinesProps {
  readonly rows: readonly Row[];
  readonly date: string;
  readonly column: string;
  readonly ohlc: ReturnType<typeof ohlcOf>;
  readonly label: string;
}

function Lines({ column, date, label, ohlc, rows }: LinesProps): JSX.Element {
  const [x, series] = useMemo(() => {
    const oldestFirst = rows.toReversed();
    const drawn: Series =
      column === 'candles' && ohlc !== undefined
        ? candlesOf(oldestFirst, ohlc)
        : { kind: 'line', name: column, values: numbersOf(oldestFirst, column) };
    return [secondsOf(oldestFirst, date), [drawn]] as const;
  }, [rows, column]);
  return h(Chart, { label, x, isTime: true, series });
}
