// Versions tab of a dataset, newest first, with the changes of each.
import { h, type JSX } from 'preact';
import type { Dataset, Version } from '../../api/answers.ts';
import { screenHref } from '../../routing/place.ts';
import { number, plural, time } from '../../components/formats.ts';
import { Badge, Card, Empty } from '../../components/parts.ts';
import { TABLE_ROWS_MAX, Table } from '../../components/table.ts';

interface VersionsProps {
  readonly dataset: Dataset;
  readonly versions: readonly Version[];
}

export function Versions({ dataset, versions }: VersionsProps): JSX.Element {
  const { datasetId, workspace } = dataset;
  const more =
    versions.length > TABLE_ROWS_MAX ? `, showing the latest ${number(TABLE_ROWS_MAX)}` : '';
  return h(
    Card,
    { title: `${plural(versions.length, 'version')}${more}`, flush: true },
    versions.length === 0
      ? h(Empty, { title: 'No version yet' }, 'The first load creates one.')
      : h(Table<Version>, {
          label: 'Versions',
          rows: versions,
          columns: [
            { title: 'Snapshot', isHead: true, isNumber: true, show: ({ snapshot }) => snapshot },
            { title: 'When', class: 'nowrap', show: ({ date }) => time(date) },
            {
              title: 'Change',
              show: ({ compaction, message }) => [
                message,
                compaction ? [' ', h(Badge, { text: 'compaction' })] : null,
              ],
            },
            {
              title: 'Inserted',
              isNumber: true,
              show: ({ inserted }) => changeText(inserted, '+'),
            },
            { title: 'Deleted', isNumber: true, show: ({ deleted }) => changeText(deleted, '−') },
            {
              title: 'Job',
              show: ({ jobId }) =>
                jobId === null
                  ? ''
                  : h('a', { href: screenHref(['jobs', workspace, jobId]) }, jobId.slice(0, 8)),
            },
            {
              title: 'Records',
              show: ({ snapshot }) =>
                h(
                  'a',
                  { href: screenHref(['datasets', workspace, datasetId], { asOf: snapshot }) },
                  `as of ${snapshot}`,
                ),
            },
          ],
        }),
  );
}

const changeText = (count: number, sign: string): string =>
  count === 0 ? '' : `${sign}${number(count)}`;
