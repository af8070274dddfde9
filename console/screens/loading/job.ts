// Screen of one job: state, rejected records, log, cancel and retry.
import { h, type JSX } from 'preact';
import { hasEnded, type Job, type LogLine } from '../../api/answers.ts';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction } from '../../api/useApi.ts';
import { go, screenHref } from '../../routing/place.ts';
import { plural } from '../../components/formats.ts';
import { Card, Empty, Failed, Head, renderRequest } from '../../components/parts.ts';
import { JobFacts, useJob } from './jobProgress.ts';
import { Log } from './log.ts';

interface JobProps {
  readonly workspace: string;
  readonly jobId: string;
}

export function JobScreen({ jobId, workspace }: JobProps): JSX.Element {
  const request = useJob(workspace, jobId);
  const job = request.answer?.value;
  return h(
    'div',
    null,
    h(
      Head,
      {
        title: `Job ${jobId.slice(0, 8)}`,
        crumb: [
          h('a', { href: screenHref(['jobs', workspace]) }, `Jobs of ${workspace}`),
          ' / job',
        ],
      },
      job === undefined ? null : h(JobActions, { job, reload: request.reload }),
    ),
    h(
      Card,
      {
        title: job === undefined ? 'Job' : `Load into ${job.datasetId}`,
        actions:
          job === undefined
            ? null
            : h(
                'a',
                { href: screenHref(['datasets', workspace, job.datasetId]) },
                'Open the dataset',
              ),
      },
      job === undefined ? renderRequest(request, 'the job', () => null) : h(JobFacts, { job }),
    ),
    job === undefined || job.recordsInvalid === 0 ? null : h(Rejected, { job }),
    job === undefined ? null : h(JobLog, { key: job.status, job }),
  );
}

function JobActions({
  reload,
  job,
}: {
  readonly job: Job;
  readonly reload: () => void;
}): JSX.Element | null {
  const { isBusy, problem, run } = useAction();
  const path = ['jobs', job.workspace, job.jobType, job.jobId];
  const cancel = (): void =>
    run(async () => {
      await callApi(apiPath([...path, 'cancel']));
      reload();
    });
  const retry = (): void =>
    run(async () => {
      const { value } = await callApi<{ readonly jobId: string }>(apiPath([...path, 'retry']), {
        method: 'POST',
      });
      go(screenHref(['jobs', job.workspace, value.jobId]));
    });
  return h(
    'div',
    { class: 'row-of' },
    problem === undefined ? null : h(Failed, { problem }),
    hasEnded(job)
      ? null
      : h('button', { class: 'danger', disabled: isBusy, onClick: cancel }, 'Cancel the job'),
    hasEnded(job) && job.sourceType !== 'UPLOAD'
      ? h('button', { disabled: isBusy, onClick: retry }, 'Retry')
      : null,
  );
}

/** Maximum number of rejected records shown; the request below returns all. */
const REJECTS_MAX = 200;

function Rejected({ job }: { readonly job: Job }): JSX.Element {
  const path = apiPath(['jobs', job.workspace, job.jobType, job.jobId, 'invalid-records-log']);
  const request = useApi<string>(path);
  return h(
    Card,
    { title: `Rejected: ${plural(job.recordsInvalid, 'record')}` },
    renderRequest(request, 'rejected records', (text) =>
      h(
        'pre',
        null,
        text
          .trimEnd()
          .split('\n')
          .slice(0, REJECTS_MAX + 1)
          .join('\n'),
      ),
    ),
  );
}

function JobLog({ job }: { readonly job: Job }): JSX.Element {
  const request = useApi<readonly LogLine[]>(
    apiPath(['logs', job.workspace], { jobId: job.jobId, period: '52w' }),
  );
  return h(
    Card,
    { title: 'Log', flush: true },
    renderRequest(request, 'its log', (lines) =>
      lines.length === 0 ? h(Empty, { title: 'The log has expired' }) : h(Log, { lines }),
    ),
  );
}
