// Progress of a job, polled until it has finished.
import { h, type JSX } from 'preact';
import { hasEnded, type Job } from '../../api/answers.ts';
import { apiPath } from '../../api/client.ts';
import { useApi, useInterval } from '../../api/useApi.ts';
import { screenHref } from '../../routing/place.ts';
import { bytes, duration, number } from '../../components/formats.ts';
import { Badge, Card, Facts, renderRequest } from '../../components/parts.ts';

interface ProgressProps {
  readonly workspace: string;
  readonly jobId: string;
}

const POLL_MS = 700;

/** Returns the badge colour of a job status. */
export function statusTone(status: string): 'good' | 'bad' | 'warn' | 'accent' {
  if (/^(INGESTED|COMPLETED|SUCCE)/.test(status)) return 'good';
  if (/FAIL|ERROR|INVALID/.test(status)) return 'bad';
  return /CANCEL/.test(status) ? 'warn' : 'accent';
}

/** Requests the job repeatedly until it has finished. */
export function useJob(workspace: string, jobId: string): ReturnType<typeof useApi<Job>> {
  const request = useApi<Job>(apiPath(['jobs', workspace, 'ingest', jobId]));
  const job = request.answer?.value;
  useInterval(POLL_MS, job !== undefined && !hasEnded(job), request.reload);
  return request;
}

export function JobProgress({ jobId, workspace }: ProgressProps): JSX.Element {
  const request = useJob(workspace, jobId);
  const job = request.answer?.value;
  return h(
    Card,
    {
      title: 'Load',
      actions: h('a', { href: screenHref(['jobs', workspace, jobId]) }, 'Job and log'),
    },
    job === undefined ? renderRequest(request, 'the job', () => null) : h(JobFacts, { job }),
    job?.status === 'INGESTED'
      ? h(
          'div',
          { class: 'row-of', style: { marginTop: '14px' } },
          h(
            'a',
            { class: 'button primary', href: screenHref(['datasets', workspace, job.datasetId]) },
            `Open ${job.datasetId}`,
          ),
          h(
            'a',
            {
              class: 'button',
              href: screenHref(['datasets', workspace, job.datasetId], { tab: 'chart' }),
            },
            'Chart',
          ),
        )
      : null,
  );
}

export const JobFacts = ({ job }: { readonly job: Job }): JSX.Element =>
  h(
    'div',
    { class: 'stack' },
    h(
      'div',
      { class: 'row-of', role: 'status' },
      h(Badge, { text: job.status, tone: statusTone(job.status) }),
      hasEnded(job)
        ? null
        : h('progress', {
            class: 'meter-bar',
            style: { width: '220px' },
            'aria-label': 'Progress of the job',
            max: 100,
            value: job.progress,
          }),
      h('span', { class: 'soft' }, hasEnded(job) ? '' : `${Math.round(job.progress)} %`),
    ),
    job.error === null
      ? null
      : h(
          'div',
          { class: 'notice bad', role: 'alert' },
          h('strong', null, 'The job failed'),
          job.error,
        ),
    h(Facts, {
      of: [
        ['Received', number(job.received)],
        ['Stored', number(job.stored)],
        ['Replaced', number(job.replaced)],
        ['Duplicates', number(job.duplicates)],
        ['Unchanged', number(job.unchanged)],
        ['Rejected', number(job.rejected)],
        ['Quarantined', number(job.recordsQuarantined)],
        ['Size', bytes(job.bytes)],
        ['Duration', job.duration === null ? '–' : duration(job.duration)],
      ],
    }),
    job.notes.length === 0
      ? null
      : h(
          'ul',
          { class: 'small soft' },
          job.notes.map((note) => h('li', { key: note }, note)),
        ),
  );
