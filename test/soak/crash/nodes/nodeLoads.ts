// Loads and purges concurrent with the writers of nodes: an acknowledged load ends and has stored each of
// its records once, on any node; purged records are gone from all nodes.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchText, headers } from '../rounds/killable.ts';
import type { Node } from './nodes.ts';
import type { Seeded } from '../rounds/seeded.ts';

/** Records of a load too large to run on the serving node: some 20 bytes each. */
const LARGE = 15_000;
const DAY_MS = 86_400_000;
const TRIES = 5;

/**
 * Into `K`, which streams read, into `P`, whose records are purged (a purge ends the history that a stream
 * resumes from, so the stream reports a gap), or a large one into its own dataset.
 */
const KINDS = ['K', 'P', 'large'] as const;

interface Load {
  /** The symbol of its records. */
  readonly name: string;
  readonly kind: (typeof KINDS)[number];
  /** Undefined: it was not acknowledged. */
  readonly jobId: string | undefined;
}

export interface NodeLoads {
  /** Submits a load through any node. */
  handIn(name: string, random: Seeded): Promise<void>;
  /** Purges one of the stored loads through any node; does nothing if there is none. */
  purge(random: Seeded): Promise<void>;
  /** Faults since the last call. @param stored receives the versions of the loaded records */
  faults(base: string, stored: Map<string, number>): Promise<readonly string[]>;
  /** Counts of acknowledged large loads, and of purges that succeeded. */
  summary(): string;
}

export function nodeLoads(living: readonly Node[]): NodeLoads {
  const open: Load[] = [];
  const stored: string[] = [];
  const purgedNames: string[] = [];
  const wrong: string[] = [];
  let [large, purges, purged] = [0, 0, 0];
  const anyOf = (random: Seeded): string => random.pick(living as [Node, ...Node[]]).base;
  return {
    handIn: async (name, random) => {
      const kind = random.pick(KINDS);
      const url = `${anyOf(random)}/v1/data/WS/${datasetOf(name, kind)}?key=symbol&date=day`;
      const body = `symbol,day,v\n${linesOf(name, recordsOf(kind))}`;
      const text = await answered(url, 'POST', body, wrong);
      const jobId = text && (JSON.parse(text) as { readonly jobId: string }).jobId;
      open.push({ name, kind, jobId });
    },
    purge: async (random) => {
      const name = stored.length === 0 ? undefined : random.pick(stored as [string, ...string[]]);
      if (name === undefined) return;
      stored.splice(stored.indexOf(name), 1);
      purges += 1;
      const url = `${anyOf(random)}/v1/data/WS/P/${name}?purge=true`;
      if ((await answered(url, 'DELETE', undefined, wrong)) === undefined) return;
      purged += 1;
      purgedNames.push(name);
    },
    faults: async (base, versions) => {
      for (const { kind, jobId, name } of open.splice(0)) {
        if (jobId === undefined) continue;
        const status = await endOf(base, jobId);
        const expectedCount = recordsOf(kind);
        const count = await countOf(base, name, kind);
        if (count !== expectedCount)
          wrong.push(`load ${name}: ${status}, ${count} of ${expectedCount} records`);
        if (kind === 'large') large += 1;
        else if (kind === 'P') stored.push(name);
        else versions.set(name, 1);
      }
      for (const name of purgedNames) {
        const count = await countOf(base, name, 'P');
        if (count > 0) wrong.push(`purged ${name}: ${count} records`);
      }
      return wrong.splice(0);
    },
    summary: () => `${large} large loads, ${purged} of ${purges} purges`,
  };
}

const datasetOf = (name: string, kind: Load['kind']): string => (kind === 'large' ? name : kind);

const recordsOf = (kind: Load['kind']): number => (kind === 'large' ? LARGE : 1);

/** CSV lines of one symbol, whose values count from 1. */
const linesOf = (symbol: string, records: number): string =>
  Array.from({ length: records }, (_, at) => {
    const day = new Date(at * DAY_MS).toISOString().slice(0, 10);
    return `${symbol},${day},${at + 1}\n`;
  }).join('');

/** Undefined for any status but 200: it acknowledges nothing; a 500 is a fault. */
async function answered(
  url: string,
  method: string,
  body: string | undefined,
  wrong: string[],
): Promise<string | undefined> {
  const bodyInit = body === undefined ? {} : { body };
  const answer = await fetch(url, { method, headers, ...bodyInit }).catch(() => undefined);
  const text = await answer?.text().catch(() => undefined);
  if (answer?.status === 500) wrong.push(`${method} ${url}: 500 ${text}`);
  return answer?.status === 200 ? text : undefined;
}

async function countOf(base: string, name: string, kind: Load['kind']): Promise<number> {
  const from = `${datasetOf(name, kind)} WHERE symbol = '${name}'`;
  const sql = encodeURIComponent(`SELECT count(*) AS n FROM ${from}`);
  // On a busy machine a query may exceed its time limit: the client retries.
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await fetch(`${base}/v1/sql-query/WS?sqlQuery=${sql}`, { headers });
    const text = await answer.text();
    if (answer.status === 200) return (JSON.parse(text) as readonly Counted[])[0]?.n ?? -1;
    assert.match(String(answer.status), /^50[34]$/, text);
  }
  return -1;
}

interface Counted {
  readonly n: number;
}

/** The state of a job that has ended. */
export async function endOf(base: string, jobId: string): Promise<string> {
  for (;;) {
    const text = await fetchText(base, 'GET', `/jobs/WS/ingest/${jobId}`);
    const job = JSON.parse(text) as { readonly status: string; readonly finished?: number | null };
    if (job.finished !== undefined && job.finished !== null) return job.status;
    await sleep(50);
  }
}
