// Origins of the records of a dataset, derived from its jobs: each record has the time at which it was
// stored, and each pull from a source has its span. Records stored outside every span came as a body.
import { storedTimes } from '../../pipeline/merge/storedTimes.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Database } from '../../store/catalog/database.ts';
import { type Job, listDatasetJobs } from '../../store/work/jobs.ts';
import type { JobOrder, RepeatedPull } from './order.ts';
import type { IngestServices } from '../../pipeline/conform/load.ts';

interface Origins {
  /** Pulls that stored records, in the order in which to repeat them. */
  readonly pulls: readonly RepeatedPull[];
  readonly records: number;
  /** Records that no pull stored. */
  readonly others: number;
  /** Unfinished jobs of the dataset, except for `except`. */
  readonly unfinished: readonly Job[];
}

/** The time span of a job, and its pulls; none if it loaded a body. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly pulls: readonly RepeatedPull[];
}

/** Runs in the dataset's turn, with nothing pending. */
export async function findOrigins(
  dataset: Dataset,
  database: Database,
  services: IngestServices,
  except?: string,
): Promise<Origins> {
  const jobs = (await listDatasetJobs(database, dataset)).filter(({ job_id }) => job_id !== except);
  const unfinished = jobs.filter(({ finished_ms }) => finished_ms === null);
  const spans = jobs.filter((job) => job.finished_ms !== null).map(toSpan);
  const times = await storedTimes(dataset, services);
  const used = new Set<string>();
  let [others, records] = [0, 0];
  const open = openSpans(spans);
  for (const { records: count, timeMs } of times) {
    records += count;
    const around = open(timeMs);
    const pulled = around.flatMap(({ pulls }) => pulls.map(pullName));
    // A load has its dataset's turn for itself: records stored then are its own.
    if (pulled.length === 0 || around.some(({ pulls }) => pulls.length === 0)) others += count;
    else for (const name of pulled) used.add(name);
  }
  return { pulls: inOrder(spans, used), records, others, unfinished };
}

/** Identifies a source and the part of it that is read. */
const pullName = ({ jsonPath, sourceId }: RepeatedPull): string => `${sourceId} ${jsonPath ?? ''}`;

function toSpan(job: Job): Span {
  const pulls = parsePulls(JSON.parse(job.load_json) as JobOrder);
  // A restarted pull may have stored pieces before its last start.
  const fromMs = pulls.length === 0 ? (job.started_ms ?? job.created_ms) : job.created_ms;
  return { fromMs, untilMs: job.finished_ms ?? job.created_ms, pulls };
}

function parsePulls(order: JobOrder): readonly RepeatedPull[] {
  if (order.fetch === undefined) return [];
  const { again, credentialId, sourceId } = order.fetch;
  if (again !== undefined) return again.pulls;
  const { dateOrder, duplicates, jsonPath, reading, rejectsMax } = order;
  return [
    {
      sourceId,
      duplicates,
      rejectsMax,
      ...(credentialId === undefined ? {} : { credentialId }),
      ...(jsonPath === undefined ? {} : { jsonPath }),
      ...(dateOrder === undefined ? {} : { dateOrder }),
      ...(reading === undefined ? {} : { reading }),
    },
  ];
}

/** Returns the spans around a time; call it with ascending times. */
function openSpans(spans: readonly Span[]): (timeMs: number) => readonly Span[] {
  const waiting = spans.toSorted((a, b) => b.fromMs - a.fromMs);
  let open: Span[] = [];
  return (timeMs) => {
    for (let next = waiting.at(-1); next !== undefined && next.fromMs <= timeMs;) {
      open.push(next);
      waiting.pop();
      next = waiting.at(-1);
    }
    open = open.filter(({ untilMs }) => untilMs >= timeMs);
    return open;
  };
}

/**
 * Each pull as it was done last. One that ignores stored records keeps its first position, one that replaces
 * them its last: so the same record wins.
 */
function inOrder(spans: readonly Span[], used: ReadonlySet<string>): readonly RepeatedPull[] {
  const places = new Map<string, { first: number; last: number; pull: RepeatedPull }>();
  spans.forEach(({ pulls }, at) => {
    for (const pull of pulls) {
      const name = pullName(pull);
      if (!used.has(name)) continue;
      places.set(name, { first: places.get(name)?.first ?? at, last: at, pull });
    }
  });
  const placeOf = (one: { first: number; last: number; pull: RepeatedPull }): number =>
    one.pull.duplicates === 'replace' ? one.last : one.first;
  return [...places.values()].sort((a, b) => placeOf(a) - placeOf(b)).map(({ pull }) => pull);
}
