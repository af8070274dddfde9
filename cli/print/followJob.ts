// A job as it goes on, until it has ended.
import type { LoadCounts } from '../../pipeline/conform/loadCounts.ts';
import { type Terminal, sayTo } from '../reach/terminal.ts';
import { progress } from './progress.ts';
import { harmless } from './terminalText.ts';
import type { AskValue } from '../reach/workspaceApi.ts';

/** A short job is not waited for longer than it takes, a long one is not asked of all the time. */
const [LOOK_MS_LEAST, LOOK_MS_MOST] = [20, 200];

/** A job as the API shows it. */
export interface JobView extends LoadCounts {
  readonly jobId: string;
  readonly datasetId: string;
  readonly status: string;
  readonly progress: number;
  readonly bytes: number;
  readonly recordsValidated: number;
  readonly error: string | null;
  readonly finished: number | null;
  readonly recordsIngested: number;
  readonly recordsDuplicate: number;
  readonly recordsInvalid: number;
  readonly notes: readonly string[];
}

/** Shows it on standard error and its end on standard output; an end in vain is exit code 1. */
export async function followJob(
  ask: AskValue,
  jobId: string,
  label: string,
  { json }: { readonly json?: boolean },
  terminal: Terminal,
): Promise<JobView> {
  const shown = progress(label, terminal.stderr, json === true);
  for (let waitMs = LOOK_MS_LEAST; ; waitMs = Math.min(2 * waitMs, LOOK_MS_MOST)) {
    const job = (await ask('GET', `/jobs/ingest/${jobId}`)) as JobView;
    const { bytes, recordsValidated: records, status } = job;
    shown.update({ percent: job.progress, status, bytes, records });
    if (job.finished !== null) {
      shown.end();
      tell(job, json === true, terminal);
      return job;
    }
    await new Promise((done) => setTimeout(done, waitMs));
  }
}

function tell(job: JobView, json: boolean, terminal: Terminal): void {
  const say = sayTo(terminal);
  if (job.status !== 'INGESTED') terminal.endWith(1);
  if (!json) for (const note of job.notes) say(harmless(note));
  say(json ? JSON.stringify(job) : `${job.datasetId}: ${harmless(job.error ?? countsText(job))}`);
}

/** `3 records received, 2 stored, 1 replaced, 0 duplicates, 0 rejected` */
export function countsText(counts: LoadCounts): string {
  const { duplicates, received, rejected, replaced, stored, unchanged } = counts;
  const same = unchanged === 0 ? '' : ` (${unchanged} unchanged)`;
  return (
    `${received} records received, ${stored} stored, ${replaced} replaced, ` +
    `${duplicates} duplicates${same}, ${rejected} rejected`
  );
}
