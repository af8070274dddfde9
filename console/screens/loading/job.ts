// One job: its state, what it rejected, its log; ended or done again.
import { h, type JSX } from 'preact';
import { hasEnded, type Job, type LogLine } from '../../asking/answers.ts';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed } from '../../asking/useAsk.ts';
import { go, hrefOf } from '../../routing/place.ts';
import { plural } from '../../showing/formats.ts';
import { Card, Empty, Failed, Head, shown } from '../../showing/parts.ts';
import { JobFacts, useJob } from './jobProgress.ts';
import { Log } from './log.ts';

interface JobProps {
  readonly workspace: string;
  readonly jobId: string;
}

export function JobScreen({ jobId, workspace }: JobProps): JSX.Element {
  const asked = useJob(workspace, jobId);
  const job = asked.answer?.value;
  return h(
    'div',
    null,
    h(
      Head,
      {
        title: `Job ${jobId.slice(0, 8)}`,
        crumb: [h('a', { href: hrefOf(['jobs', workspace]) }, `Jobs of ${workspace}`), ' / job'],
      },
      job === undefined ? null : h(Deeds, { job, again: asked.again }),
    ),
    h(
      Card,
      {
        title: job === undefined ? 'Job' : `Load into ${job.datasetId}`,
        actions:
          job === undefined
            ? null
            : h('a', { href: hrefOf(['datasets', workspace, job.datasetId]) }, 'See the dataset'),
      },
      job === undefined ? shown(asked, 'the job', () => null) : h(JobFacts, { job }),
    ),
    job === undefined || job.recordsInvalid === 0 ? null : h(Rejected, { job }),
    job === undefined ? null : h(JobLog, { key: job.status, job }),
  );
}

function Deeds({
  again,
  job,
}: {
  readonly job: Job;
  readonly again: () => void;
}): JSX.Element | null {
  const { isBusy, problem, run } = useDeed();
  const path = ['jobs', job.workspace, job.jobType, job.jobId];
  const end = (): void =>
    run(async () => {
      await ask(pathOf([...path, 'cancel']));
      again();
    });
  const retry = (): void =>
    run(async () => {
      const { value } = await ask<{ readonly jobId: string }>(pathOf([...path, 'retry']), {
        method: 'POST',
      });
      go(hrefOf(['jobs', job.workspace, value.jobId]));
    });
  return h(
    'div',
    { class: 'row-of' },
    problem === undefined ? null : h(Failed, { problem }),
    hasEnded(job)
      ? null
      : h('button', { class: 'danger', disabled: isBusy, onClick: end }, 'End it'),
    hasEnded(job) && job.sourceType !== 'UPLOAD'
      ? h('button', { disabled: isBusy, onClick: retry }, 'Do it again')
      : null,
  );
}

/** Lines of rejects that are shown; all of them are in the answer of the request below. */
const REJECTS_SHOWN = 200;

function Rejected({ job }: { readonly job: Job }): JSX.Element {
  const path = pathOf(['jobs', job.workspace, job.jobType, job.jobId, 'invalid-records-log']);
  const asked = useAsk<string>(path);
  return h(
    Card,
    { title: `Rejected: ${plural(job.recordsInvalid, 'record')}` },
    shown(asked, 'what was rejected', (text) =>
      h(
        'pre',
        null,
        text
          .trimEnd()
          .split('\n')
          .slice(0, REJECTS_SHOWN + 1)
          .join('\n'),
      ),
    ),
  );
}

function JobLog({ job }: { readonly job: Job }): JSX.Element {
  const asked = useAsk<readonly LogLine[]>(
    pathOf(['logs', job.workspace], { jobId: job.jobId, period: '52w' }),
  );
  return h(
    Card,
    { title: 'Log', flush: true },
    shown(asked, 'its log', (lines) =>
      lines.length === 0 ? h(Empty, { title: 'Its log is not kept any more' }) : h(Log, { lines }),
    ),
  );
}
