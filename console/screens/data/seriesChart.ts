// Chart tab of a dataset: candles if it has open, high, low and close columns, otherwise a line.
import { h, type JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Dataset, sqlName } from '../../api/answers.ts';
import { apiPath } from '../../api/client.ts';
import { type ApiRequest, useApi } from '../../api/useApi.ts';
import { replaceQuery } from '../../routing/place.ts';
import { Chart } from '../../components/chart.ts';
import { number, plural } from '../../components/formats.ts';
import { Card, Choice, Empty, renderRequest } from '../../components/parts.ts';
import type { Series } from '../../components/plot.ts';
import type { Row } from '../../components/sheet.ts';
import { toCandles, toNumbers, findOhlc, toSeconds } from '../../components/points.ts';

interface SeriesChartProps {
  readonly dataset: Dataset;
  readonly query: URLSearchParams;
}

/** Maximum number of keys to choose from: those with the most records. */
const KEYS_MAX = 100;
const POINTS = [250, 1_000, 5_000] as const;

export function SeriesChart({ dataset, query }: SeriesChartProps): JSX.Element {
  const { columnMapping, datasetId, schema, workspace } = dataset;
  const { date, key } = columnMapping;
  const numeric = Object.entries(schema.properties)
    .filter(([, { type }]) => type === 'number' || type === 'integer')
    .map(([name]) => name);
  const keys = useApi<readonly Row[]>(
    key === undefined || date === undefined ? undefined : apiPath(['sql-query', workspace]),
    { json: { sqlQuery: keysQuery(workspace, datasetId, key ?? '') } },
  );
  if (date === undefined || numeric.length === 0) {
    return h(
      Card,
      { title: 'Chart', flush: true },
      h(
        Empty,
        { title: 'No series to chart' },
        date === undefined
          ? 'The unique index of this dataset has no date.'
          : 'No column of this dataset is a number.',
      ),
    );
  }
  if (key === undefined) return h(SeriesCard, { dataset, query, numeric, keys: [] });
  return h('div', null, [
    renderRequest(keys, 'its keys', (rows) =>
      h(SeriesCard, { dataset, query, numeric, keys: rows.map((row) => String(row['k'])) }),
    ),
  ]);
}

const keysQuery = (workspace: string, id: string, key: string): string =>
  `SELECT ${sqlName(key)} AS k, count(*) AS n FROM ${sqlName(workspace, id)} ` +
  `GROUP BY 1 ORDER BY n DESC, k LIMIT ${KEYS_MAX}`;

interface SeriesCardProps extends SeriesChartProps {
  readonly numeric: readonly string[];
  readonly keys: readonly string[];
}

function SeriesCard({ dataset, keys, numeric, query }: SeriesCardProps): JSX.Element {
  const { columnMapping, datasetId } = dataset;
  const { date = '' } = columnMapping;
  const key = query.get('key') ?? keys[0] ?? '';
  const points = Number(query.get('points') ?? POINTS[1]) || POINTS[1];
  const ohlc = useMemo(() => findOhlc(numeric), [numeric.join()]);
  const column = query.get('column') ?? (ohlc === undefined ? numeric[0] : 'candles') ?? '';
  const request = useSeries(dataset, key, points, query.get('asOf') ?? undefined);
  const setQuery = (more: object): void => replaceQuery({ ...Object.fromEntries(query), ...more });
  const kinds = listKinds(ohlc !== undefined, numeric);
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
              onPick: (value) => setQuery({ key: value }),
            }),
        h(Choice, {
          label: 'Series',
          value: column,
          options: kinds,
          onPick: (value) => setQuery({ column: value }),
        }),
        h(Choice, {
          label: 'Latest points',
          value: String(points),
          options: POINTS.map((count) => [String(count), number(count)] as const),
          onPick: (value) => setQuery({ points: value }),
        }),
      ),
    },
    h(
      'div',
      { class: 'body' },
      renderRequest(request, 'the series', (rows, messages) =>
        rows.length === 0
          ? h(Empty, { title: 'No records with this key' })
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

const listKinds = (
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
): ApiRequest<readonly Row[]> =>
  useApi(
    apiPath(['data', workspace, datasetId, ...(key === '' ? [] : [key])], { last: points, asOf }),
  );

interface LinesProps {
  readonly rows: readonly Row[];
  readonly date: string;
  readonly column: string;
  readonly ohlc: ReturnType<typeof findOhlc>;
  readonly label: string;
}

function Lines({ column, date, label, ohlc, rows }: LinesProps): JSX.Element {
  const [x, series] = useMemo(() => {
    const oldestFirst = rows.toReversed();
    const line: Series =
      column === 'candles' && ohlc !== undefined
        ? toCandles(oldestFirst, ohlc)
        : { kind: 'line', name: column, values: toNumbers(oldestFirst, column) };
    return [toSeconds(oldestFirst, date), [line]] as const;
  }, [rows, column]);
  return h(Chart, { label, x, isTime: true, series });
}
