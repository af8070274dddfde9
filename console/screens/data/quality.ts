// What of a dataset was not taken: records rejected by its jobs, and those in quarantine.
import { h, type JSX } from 'preact';
import type { Dataset, Job } from '../../asking/answers.ts';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed } from '../../asking/useAsk.ts';
import { hrefOf } from '../../routing/place.ts';
import { number, plural, time } from '../../showing/formats.ts';
import { Card, Empty, Failed, shown } from '../../showing/parts.ts';
import { type Row, Sheet } from '../../showing/sheet.ts';
import { Table } from '../../showing/table.ts';

const QUARANTINE_SHOWN = 1_000;

export function Quality({ dataset }: { readonly dataset: Dataset }): JSX.Element {
  const { datasetId, workspace } = dataset;
  const jobs = useAsk<readonly Job[]>(pathOf(['jobs', workspace, 'ingest'], { last: 1000 }));
  const held = useAsk<readonly Row[]>(
    pathOf(['quarantine', workspace, datasetId], { limit: QUARANTINE_SHOWN }),
  );
  return h(
    'div',
    null,
    shown(jobs, 'its jobs', (all) =>
      h(Taken, { jobs: all.filter((job) => job.datasetId === datasetId), workspace }),
    ),
    shown(held, 'its quarantine', (rows) => h(Quarantine, { dataset, rows, again: held.again })),
  );
}

const Taken = ({
  jobs,
  workspace,
}: {
  readonly jobs: readonly Job[];
  readonly workspace: string;
}): JSX.Element =>
  h(
    Card,
    { title: 'What its jobs took and rejected', flush: true },
    jobs.length === 0
      ? h(Empty, { title: 'No jobs' }, 'Nothing was loaded into it yet.')
      : h(Table<Job>, {
          label: 'Jobs of this dataset',
          rows: jobs,
          columns: [
            {
              title: 'Job',
              isHead: true,
              show: ({ jobId }) =>
                h('a', { href: hrefOf(['jobs', workspace, jobId]) }, jobId.slice(0, 8)),
            },
            { title: 'When', class: 'nowrap', show: ({ created }) => time(created) },
            {
              title: 'Read',
              isNumber: true,
              show: ({ recordsValidated }) => number(recordsValidated),
            },
            {
              title: 'Taken',
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
  readonly again: () => void;
}

function Quarantine({ again, dataset, rows }: QuarantineProps): JSX.Element {
  const { datasetId, workspace } = dataset;
  const { isBusy, problem, run } = useDeed();
  const act = (method: 'POST' | 'DELETE', ...more: readonly string[]): void =>
    run(async () => {
      await ask(pathOf(['quarantine', workspace, datasetId, ...more]), { method });
      again();
    });
  const actions =
    rows.length === 0
      ? null
      : [
          h(
            'button',
            { class: 'small', disabled: isBusy, onClick: () => act('POST', 'release') },
            'Let all in',
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
          'Records that do not keep an expectation of the dataset wait here until you decide.',
        )
      : h(Sheet, { label: 'Records in quarantine', rows }),
  );
}
