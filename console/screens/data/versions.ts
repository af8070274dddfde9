// The versions of a dataset, newest first, with what each changed.
import { h, type JSX } from 'preact';
import type { Dataset, Version } from '../../asking/answers.ts';
import { hrefOf } from '../../routing/place.ts';
import { number, plural, time } from '../../showing/formats.ts';
import { Badge, Card, Empty } from '../../showing/parts.ts';
import { ROWS_SHOWN_MAX, Table } from '../../showing/table.ts';

interface VersionsProps {
  readonly dataset: Dataset;
  readonly versions: readonly Version[];
}

export function Versions({ dataset, versions }: VersionsProps): JSX.Element {
  const { datasetId, workspace } = dataset;
  const more =
    versions.length > ROWS_SHOWN_MAX ? `, the newest ${number(ROWS_SHOWN_MAX)} are shown` : '';
  return h(
    Card,
    { title: `${plural(versions.length, 'version')}${more}`, flush: true },
    versions.length === 0
      ? h(Empty, { title: 'No version yet' }, 'The first load makes one.')
      : h(Table<Version>, {
          label: 'Versions',
          rows: versions,
          columns: [
            { title: 'Snapshot', isHead: true, isNumber: true, show: ({ snapshot }) => snapshot },
            { title: 'When', class: 'nowrap', show: ({ date }) => time(date) },
            {
              title: 'What',
              show: ({ compaction, message }) => [
                message,
                compaction ? [' ', h(Badge, { text: 'compaction' })] : null,
              ],
            },
            { title: 'Inserted', isNumber: true, show: ({ inserted }) => changed(inserted, '+') },
            { title: 'Deleted', isNumber: true, show: ({ deleted }) => changed(deleted, '−') },
            {
              title: 'Job',
              show: ({ jobId }) =>
                jobId === null
                  ? ''
                  : h('a', { href: hrefOf(['jobs', workspace, jobId]) }, jobId.slice(0, 8)),
            },
            {
              title: 'Records',
              show: ({ snapshot }) =>
                h(
                  'a',
                  { href: hrefOf(['datasets', workspace, datasetId], { asOf: snapshot }) },
                  `as of ${snapshot}`,
                ),
            },
          ],
        }),
  );
}

const changed = (count: number, sign: string): string =>
  count === 0 ? '' : `${sign}${number(count)}`;
