// Shows the progress of a job until it ends.
import type { LoadCounts } from '../../pipeline/conform/loadCounts.ts';
import { type Terminal, printTo } from '../connect/terminal.ts';
import { progress } from './progress.ts';
import { escapeControls } from './terminalText.ts';
import type { CallJson } from '../connect/workspaceApi.ts';

/** Polling starts fast, so that a short job does not wait, and slows down for a long one. */
const [POLL_MS_LEAST, POLL_MS_MOST] = [20, 200];

/** A job as returned by the API. */
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

/** Shows progress on standard error and the result on standard output; a failed job exits with 1. */
export async function followJob(
  call: CallJson,
  jobId: string,
  label: string,
  { json }: { readonly json?: boolean },
  terminal: Terminal,
): Promise<JobView> {
  const bar = progress(label, terminal.stderr, json === true);
  for (let waitMs = POLL_MS_LEAST; ; waitMs = Math.min(2 * waitMs, POLL_MS_MOST)) {
    const job = (await call('GET', `/jobs/ingest/${jobId}`)) as JobView;
    const { bytes, recordsValidated: records, status } = job;
    bar.update({ percent: job.progress, status, bytes, records });
    if (job.finished !== null) {
      bar.end();
      printResult(job, json === true, terminal);
      return job;
    }
    await new Promise((done) => setTimeout(done, waitMs));
  }
}

function printResult(job: JobView, json: boolean, terminal: Terminal): void {
  const print = printTo(terminal);
  if (job.status !== 'INGESTED') terminal.endWith(1);
  if (!json) for (const note of job.notes) print(escapeControls(note));
  print(
    json
      ? JSON.stringify(job)
      : `${job.datasetId}: ${escapeControls(job.error ?? countsText(job))}`,
  );
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
