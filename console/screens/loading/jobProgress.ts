// A job as it goes: looked at each second until it has ended.
import { h, type JSX } from 'preact';
import { hasEnded, type Job } from '../../asking/answers.ts';
import { pathOf } from '../../asking/ask.ts';
import { useAsk, useEvery } from '../../asking/useAsk.ts';
import { hrefOf } from '../../routing/place.ts';
import { bytes, duration, number } from '../../showing/formats.ts';
import { Badge, Card, Facts, shown } from '../../showing/parts.ts';

interface ProgressProps {
  readonly workspace: string;
  readonly jobId: string;
}

const LOOK_MS = 700;

/** How a state is coloured. */
export function toneOf(status: string): 'good' | 'bad' | 'warn' | 'accent' {
  if (/^(INGESTED|COMPLETED|SUCCE)/.test(status)) return 'good';
  if (/FAIL|ERROR|INVALID/.test(status)) return 'bad';
  return /CANCEL/.test(status) ? 'warn' : 'accent';
}

/** The job, asked again until it has ended. */
export function useJob(workspace: string, jobId: string): ReturnType<typeof useAsk<Job>> {
  const asked = useAsk<Job>(pathOf(['jobs', workspace, 'ingest', jobId]));
  const job = asked.answer?.value;
  useEvery(LOOK_MS, job !== undefined && !hasEnded(job), asked.again);
  return asked;
}

export function JobProgress({ jobId, workspace }: ProgressProps): JSX.Element {
  const asked = useJob(workspace, jobId);
  const job = asked.answer?.value;
  return h(
    Card,
    {
      title: 'The load',
      actions: h('a', { href: hrefOf(['jobs', workspace, jobId]) }, 'Its job and log'),
    },
    job === undefined ? shown(asked, 'the job', () => null) : h(JobFacts, { job }),
    job?.status === 'INGESTED'
      ? h(
          'div',
          { class: 'row-of', style: { marginTop: '14px' } },
          h(
            'a',
            { class: 'button primary', href: hrefOf(['datasets', workspace, job.datasetId]) },
            `See ${job.datasetId}`,
          ),
          h(
            'a',
            {
              class: 'button',
              href: hrefOf(['datasets', workspace, job.datasetId], { tab: 'chart' }),
            },
            'Chart it',
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
      h(Badge, { text: job.status, tone: toneOf(job.status) }),
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
          h('strong', null, 'Why it failed'),
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
        ['Took', job.duration === null ? '–' : duration(job.duration)],
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
