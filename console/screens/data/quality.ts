// Quality tab of a dataset: records rejected by its jobs, and its quarantine.
import { h, type JSX } from 'preact';
import type { Dataset, Job } from '../../api/answers.ts';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction } from '../../api/useApi.ts';
import { screenHref } from '../../routing/place.ts';
import { number, plural, time } from '../../components/formats.ts';
import { Card, Empty, Failed, renderRequest } from '../../components/parts.ts';
import { type Row, Sheet } from '../../components/sheet.ts';
import { Table } from '../../components/table.ts';

const QUARANTINE_ROWS_MAX = 1_000;

export function Quality({ dataset }: { readonly dataset: Dataset }): JSX.Element {
  const { datasetId, workspace } = dataset;
  const jobs = useApi<readonly Job[]>(apiPath(['jobs', workspace, 'ingest'], { last: 1000 }));
  const quarantine = useApi<readonly Row[]>(
    apiPath(['quarantine', workspace, datasetId], { limit: QUARANTINE_ROWS_MAX }),
  );
  return h(
    'div',
    null,
    renderRequest(jobs, 'its jobs', (all) =>
      h(JobResults, { jobs: all.filter((job) => job.datasetId === datasetId), workspace }),
    ),
    renderRequest(quarantine, 'its quarantine', (rows) =>
      h(Quarantine, { dataset, rows, reload: quarantine.reload }),
    ),
  );
}

const JobResults = ({
  jobs,
  workspace,
}: {
  readonly jobs: readonly Job[];
  readonly workspace: string;
}): JSX.Element =>
  h(
    Card,
    { title: 'Records loaded and rejected by job', flush: true },
    jobs.length === 0
      ? h(Empty, { title: 'No jobs' }, 'Nothing has been loaded yet.')
      : h(Table<Job>, {
          label: 'Jobs of this dataset',
          rows: jobs,
          columns: [
            {
              title: 'Job',
              isHead: true,
              show: ({ jobId }) =>
                h('a', { href: screenHref(['jobs', workspace, jobId]) }, jobId.slice(0, 8)),
            },
            { title: 'When', class: 'nowrap', show: ({ created }) => time(created) },
            {
              title: 'Read',
              isNumber: true,
              show: ({ recordsValidated }) => number(recordsValidated),
            },
            {
              title: 'Loaded',
              isNumber: true,
              show: ({ recordsIngested }) => number(recordsIngested),
            },
            {
              title: 'Rejected',
              isNumber: true,
              show: ({ recordsInvalid }) => number(recordsInvalid),
            },
            {
              title: 'Duplicate',
              isNumber: true,
              show: ({ recordsDuplicate }) => number(recordsDuplicate),
            },
            {
              title: 'Quarantined',
              isNumber: true,
              show: ({ recordsQuarantined }) => number(recordsQuarantined),
            },
          ],
        }),
  );

interface QuarantineProps {
  readonly dataset: Dataset;
  readonly rows: readonly Row[];
  readonly reload: () => void;
}

function Quarantine({ reload, dataset, rows }: QuarantineProps): JSX.Element {
  const { datasetId, workspace } = dataset;
  const { isBusy, problem, run } = useAction();
  const act = (method: 'POST' | 'DELETE', ...more: readonly string[]): void =>
    run(async () => {
      await callApi(apiPath(['quarantine', workspace, datasetId, ...more]), { method });
      reload();
    });
  const actions =
    rows.length === 0
      ? null
      : [
          h(
            'button',
            { class: 'small', disabled: isBusy, onClick: () => act('POST', 'release') },
            'Release all',
          ),
          h(
            'button',
            { class: 'small danger', disabled: isBusy, onClick: () => act('DELETE') },
            'Discard all',
          ),
        ];
  return h(
    Card,
    { title: `Quarantine: ${plural(rows.length, 'record')}`, flush: true, actions },
    problem === undefined ? null : h(Failed, { problem }),
    rows.length === 0
      ? h(
          Empty,
          { title: 'Nothing in quarantine' },
          'Records that violate an expectation of the dataset wait here until you release or discard them.',
        )
      : h(Sheet, { label: 'Records in quarantine', rows }),
  );
}
