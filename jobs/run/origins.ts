// Where the records of a dataset came from, as its jobs tell it: each record bears the time at which it
// was stored, and each pull from a source had its time. What was stored at no such time came as a body.
import { storedTimes } from '../../pipeline/merge/storedTimes.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Database } from '../../store/catalog/database.ts';
import { type Job, jobsOf } from '../../store/work/jobs.ts';
import type { JobOrder, Repeat } from './order.ts';
import type { IngestServices } from '../../pipeline/conform/load.ts';

interface Origins {
  /** What stored records came from, in the order in which they are to be done. */
  readonly pulls: readonly Repeat[];
  readonly records: number;
  /** Records that no pull stored. */
  readonly others: number;
  /** Jobs of the dataset that have not ended, but for `except`. */
  readonly unfinished: readonly Job[];
}

/** The time of a job, and the pulls that it did; none in one that loaded a body. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly pulls: readonly Repeat[];
}

/** In the dataset's turn, with nothing pending. */
export async function originsOf(
  dataset: Dataset,
  database: Database,
  services: IngestServices,
  except?: string,
): Promise<Origins> {
  const jobs = (await jobsOf(database, dataset)).filter(({ job_id }) => job_id !== except);
  const unfinished = jobs.filter(({ finished_ms }) => finished_ms === null);
  const spans = jobs.filter((job) => job.finished_ms !== null).map(spanOf);
  const times = await storedTimes(dataset, services);
  const used = new Set<string>();
  let [others, records] = [0, 0];
  const open = openSpans(spans);
  for (const { records: count, timeMs } of times) {
    records += count;
    const around = open(timeMs);
    const pulled = around.flatMap(({ pulls }) => pulls.map(nameOf));
    // A load has its dataset's turn for itself: what was stored then is its own.
    if (pulled.length === 0 || around.some(({ pulls }) => pulls.length === 0)) others += count;
    else for (const name of pulled) used.add(name);
  }
  return { pulls: inOrder(spans, used), records, others, unfinished };
}

/** A source, and what is taken of it. */
const nameOf = ({ jsonPath, sourceId }: Repeat): string => `${sourceId} ${jsonPath ?? ''}`;

function spanOf(job: Job): Span {
  const pulls = pullsOf(JSON.parse(job.load_json) as JobOrder);
  // Pieces of a pull that was begun again may have been stored before its last start.
  const fromMs = pulls.length === 0 ? (job.started_ms ?? job.created_ms) : job.created_ms;
  return { fromMs, untilMs: job.finished_ms ?? job.created_ms, pulls };
}

function pullsOf(order: JobOrder): readonly Repeat[] {
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

/** The spans around a time; asked for ascending times. */
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
 * Each pull as it was done last. One that ignores what is stored stands where it was done first, one
 * that replaces it where it was done last: so the same record comes out on top.
 */
function inOrder(spans: readonly Span[], used: ReadonlySet<string>): readonly Repeat[] {
  const places = new Map<string, { first: number; last: number; pull: Repeat }>();
  spans.forEach(({ pulls }, at) => {
    for (const pull of pulls) {
      const name = nameOf(pull);
      if (!used.has(name)) continue;
      places.set(name, { first: places.get(name)?.first ?? at, last: at, pull });
    }
  });
  const placeOf = (one: { first: number; last: number; pull: Repeat }): number =>
    one.pull.duplicates === 'replace' ? one.last : one.first;
  return [...places.values()].sort((a, b) => placeOf(a) - placeOf(b)).map(({ pull }) => pull);
}
