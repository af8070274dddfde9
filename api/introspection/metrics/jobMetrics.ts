// Metrics of finished jobs: status, duration, and the results of their records.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { countQuarantinedByTable } from '../../../store/lake/datasets/quarantine.ts';
import type { Job } from '../../../store/work/jobs.ts';
import type { Services } from '../../request/endpoint.ts';
import { LABELED_ITEMS_MAX } from './accountMetrics.ts';

/** Upper bounds in seconds: a pushed file takes less than one second, years of a source take hours. */
const BOUNDS = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200];

export function addJobMetrics(jobEnds: Services['jobEnds'], registers: Registry[]): void {
  const ended = new Counter({
    name: 'tapedeck_jobs_ended',
    help: 'Jobs that ended since the start, by how.',
    labelNames: ['status'],
    registers,
  });
  const durations = new Histogram({
    name: 'tapedeck_job_seconds',
    help: 'Time from when a job began, at last, until it ended.',
    buckets: BOUNDS,
    registers,
  });
  const records = new Counter({
    name: 'tapedeck_job_records',
    help: 'Records of jobs that ended since the start, by what became of them.',
    labelNames: ['result'],
    registers,
  });
  for (const status of ['INGESTED', 'ERROR', 'CANCELLED']) ended.inc({ status }, 0);
  const count = (job: Job): void => {
    const { finished_ms: finishedMs, started_ms: startedMs, status } = job;
    ended.inc({ status });
    // A job that was cancelled while it waited has no duration.
    if (finishedMs !== null && startedMs !== null) {
      durations.observe(Math.max(0, finishedMs - startedMs) / 1_000);
    }
    for (const [result, some] of Object.entries(countRecordResults(job)))
      records.inc({ result }, some);
  };
  jobEnds.add(count);
}

const countRecordResults = (job: Job): Readonly<Record<string, number>> => ({
  ingested: job.records_ingested,
  duplicate: job.records_duplicate,
  invalid: job.records_invalid,
  quarantined: job.records_quarantined,
});

export function addQuarantineGauge(
  { database, lake }: Pick<Services, 'database' | 'lake'>,
  registers: Registry[],
): void {
  new Gauge({
    name: 'tapedeck_quarantined_records',
    help: 'Records that a dataset keeps aside until somebody releases or discards them.',
    labelNames: ['workspace', 'dataset'],
    registers,
    async collect() {
      this.reset();
      for (const { records, tableId } of await countQuarantinedByTable(
        database,
        LABELED_ITEMS_MAX,
      )) {
        const dataset = lake.directory.datasetById(tableId);
        if (dataset === undefined) continue;
        this.set({ workspace: dataset.workspace, dataset: dataset.dataset }, records);
      }
    },
  });
}
