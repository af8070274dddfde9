// Profile of each column of a dataset: blanks, distinct values, range and distribution.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Dataset, type Price, sqlName, type Summary } from '../../api/answers.ts';
import { apiPath } from '../../api/client.ts';
import { useApi } from '../../api/useApi.ts';
import { number, percent, plural, shortNumber } from '../../components/formats.ts';
import { Bars } from '../../components/bars.ts';
import { renderRequest } from '../../components/parts.ts';
import type { Row } from '../../components/sheet.ts';

/** A more expensive profile shows its price and waits for confirmation. */
const FREE_MESSAGES_MAX = 1_000;
const BINS = 24;
const TOP_VALUES = 6;

export function Profile({ dataset }: { readonly dataset: Dataset }): JSX.Element {
  const { datasetId, workspace } = dataset;
  const [isConfirmed, setConfirmed] = useState(false);
  const name = sqlName(workspace, datasetId);
  const path = apiPath(['sql-query', workspace]);
  const sqlQuery = `SUMMARIZE ${name}`;
  const columns = Object.keys(dataset.schema.properties).length;
  const price = useApi<Price>(path, { json: { sqlQuery, estimate: true } });
  // A query over own data is charged by the rows it returns; the estimate is only an upper bound.
  const bound = price.answer?.value.messages ?? Infinity;
  const isInexpensive = bound <= FREE_MESSAGES_MAX || dataset.records != null;
  const isRequested = isConfirmed || (price.answer !== undefined && isInexpensive);
  const request = useApi<readonly Summary[]>(isRequested ? path : undefined, {
    json: { sqlQuery },
  });
  if (price.problem !== undefined || (!isRequested && price.answer === undefined)) {
    return h('div', null, [renderRequest(price, 'the profile', () => null)]);
  }
  if (!isRequested) {
    return h(
      'div',
      { class: 'notice' },
      h('strong', null, `The profile costs up to ${plural(bound, 'message')}`),
      h('p', null, `The dataset belongs to another account, so reading it is charged.`),
      h('button', { onClick: () => setConfirmed(true) }, 'Compute the profile'),
    );
  }
  return h('div', null, [
    renderRequest(request, `a profile of ${plural(columns, 'column')}`, (rows) =>
      h(
        'div',
        { class: 'profile' },
        rows.map((row) => h(ColumnProfile, { key: row.column_name, row, name, path })),
      ),
    ),
  ]);
}

interface ColumnProps {
  readonly row: Summary;
  readonly name: string;
  readonly path: string;
}

const NUMERIC = /^(DOUBLE|FLOAT|BIGINT|INTEGER|DECIMAL|HUGEINT|SMALLINT|TINYINT)/;

function ColumnProfile({ name, path, row }: ColumnProps): JSX.Element {
  const { approx_unique, column_name, column_type, max, min, null_percentage } = row;
  const isNumber = NUMERIC.test(column_type);
  const span = findSpan(row);
  const facts = [
    ['Blank', `${number(null_percentage)} %`],
    ['Distinct', `≈ ${shortNumber(approx_unique)}`],
    ...(isNumber && row.avg !== null ? [['Mean', number(row.avg)] as const] : []),
    ['Minimum', min ?? '–'],
    ['Maximum', max ?? '–'],
  ] as const;
  return h(
    'section',
    { class: 'card', 'aria-label': `Column ${column_name}` },
    h(
      'div',
      { class: 'body stack' },
      h(
        'h2',
        { class: 'row-of' },
        column_name,
        h('span', { class: 'badge' }, column_type.toLowerCase()),
      ),
      span !== undefined
        ? h(Histogram, { name, path, column: column_name, isTime: !isNumber, ...span })
        : h(TopValues, { name, path, column: column_name, count: row.count }),
      h(
        'dl',
        { class: 'top' },
        facts.map(([fact, value]) => [
          h('dt', { class: 'soft' }, fact),
          h('dd', { class: 'number', style: { whiteSpace: 'normal' } }, value),
        ]),
      ),
    ),
  );
}

/** Returns the range of the histogram; undefined if the values have no distance. */
function findSpan({ column_type, max, min }: Summary): Span | undefined {
  if (min === null || max === null) return undefined;
  if (NUMERIC.test(column_type)) return { least: Number(min), most: Number(max) };
  if (!/^(DATE|TIMESTAMP)/.test(column_type)) return undefined;
  const [least, most] = [min, max].map(
    (text) => Date.parse(`${text.replace(' ', 'T')}${zoneSuffix(text)}`) / 1_000,
  );
  return Number.isFinite(least) && Number.isFinite(most)
    ? { least: least ?? 0, most: most ?? 0 }
    : undefined;
}

const zoneSuffix = (text: string): string => (text.includes(':') ? 'Z' : '');

interface Span {
  readonly least: number;
  readonly most: number;
}

interface HistogramProps extends Span {
  readonly name: string;
  readonly path: string;
  readonly column: string;
  /** Distances are in seconds. */
  readonly isTime: boolean;
}

function Histogram({
  column,
  isTime,
  least,
  most,
  name,
  path,
}: HistogramProps): JSX.Element | null {
  const width = (most - least) / BINS;
  const value = isTime ? `epoch(${sqlName(column)})` : sqlName(column);
  const bin = `floor((${value} - (${least})) / ${width})`;
  const sqlQuery =
    `SELECT ${bin} AS bin, count(*) AS n FROM ${name} ` +
    `WHERE ${sqlName(column)} IS NOT NULL GROUP BY 1`;
  const request = useApi<readonly Row[]>(width > 0 ? path : undefined, { json: { sqlQuery } });
  const placeText = (place: number): string =>
    isTime ? new Date(place * 1_000).toISOString().slice(0, 10) : shortNumber(place);
  if (width <= 0) return h('p', { class: 'soft small' }, 'Only one value.');
  return h('div', { style: { minHeight: '44px' } }, [
    renderRequest(request, 'the histogram', (rows) => {
      const counts = Array.from({ length: BINS }, () => 0);
      for (const { bin: at, n } of rows) {
        const place = Math.min(BINS - 1, Number(at));
        counts[place] = (counts[place] ?? 0) + Number(n);
      }
      const fullest = counts.indexOf(Math.max(...counts));
      const label =
        `Histogram of ${column}: most values, ${number(counts[fullest] ?? 0)}, lie from ` +
        `${placeText(least + fullest * width)} to ${placeText(least + (fullest + 1) * width)}`;
      return h(Bars, { label, counts });
    }),
  ]);
}

interface TopProps {
  readonly name: string;
  readonly path: string;
  readonly column: string;
  readonly count: number;
}

function TopValues({ column, count, name, path }: TopProps): JSX.Element {
  const value = `CAST(${sqlName(column)} AS VARCHAR)`;
  const sqlQuery =
    `SELECT ${value} AS v, count(*) AS n FROM ${name} ` +
    `GROUP BY 1 ORDER BY n DESC, v LIMIT ${TOP_VALUES}`;
  const request = useApi<readonly Row[]>(path, { json: { sqlQuery } });
  return h('div', null, [
    renderRequest(request, 'its values', (rows) =>
      h(
        'ul',
        { class: 'top' },
        rows.map((row, index) =>
          h(
            'li',
            { key: index },
            h(
              'span',
              { class: row['v'] === null ? 'null clip' : 'clip' },
              row['v'] === null ? 'null' : String(row['v']),
            ),
            h('span', { class: 'soft number' }, percent(Number(row['n']) / Math.max(1, count))),
          ),
        ),
      ),
    ),
  ]);
}
