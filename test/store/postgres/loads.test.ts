// A load runs at a node that does not serve: the result is the same as on the serving node, and no caller
// notices when that node sleeps, or is killed.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { until } from '../../api/streams/listening.ts';
import { ADMIN_TOKEN, type Node, ready, startNodes } from '../../soak/crash/nodes/nodes.ts';
import { fetchText } from '../../soak/crash/rounds/killable.ts';
import { hasServers, isLeftOut } from '../../base/servers/hasServers.ts';

const isHere = await hasServers('postgres', 'swift');
const skip = isLeftOut(isHere);
let here: Awaited<ReturnType<typeof startNodes>>;
let first: Node;
let second: Node;
beforeAll(async () => {
  if (skip) return;
  here = await startNodes(1, { TAPEDECK_JOBS: '1' });
  [first] = here.living as [Node];
}, 60_000);
afterAll(() => here?.[Symbol.asyncDispose]());

const dayOf = (n: number): string => new Date(n * 86_400_000).toISOString().slice(0, 10);

/** Some 20 bytes each. */
const lines = (records: number, from = 0): string => {
  const all = Array.from({ length: records }, (_, n) => `S${n % 7},${dayOf(from + n)},${n}`);
  return `symbol,day,v\n${all.join('\n')}\n`;
};

const LARGE = 20_000;
const HUGE = 400_000;

/** Bodies, each loaded into its own dataset, with their settings; the last one is refused. */
const BODIES: readonly (readonly [string, string, string])[] = [
  ['made', '', lines(LARGE)],
  ['known', '', lines(LARGE, LARGE - 100)],
  ['rejected', '&maximumValidationErrors=3', `${lines(LARGE)}S,no day,1\nS,1970-01-02,no number\n`],
  ['refused', '&maximumValidationErrors=0', `${lines(LARGE)}S,no day,1\n`],
  ['replaced', '&duplicateKeyHandling=replace', lines(LARGE, LARGE / 2)],
  ['page', '', `<!doctype html><html><body>${'<p>no records</p>'.repeat(LARGE)}</body></html>`],
];

interface Job {
  readonly jobId: string;
  readonly status: string;
}

const jobOf = async (jobId: string): Promise<Job> =>
  JSON.parse(await fetchText(first.base, 'GET', `/jobs/WS/ingest/${jobId}`)) as Job;

async function begin(dataset: string, body: string, more = ''): Promise<string> {
  const path = `/data/WS/${dataset}?key=symbol&date=day${more}`;
  return (JSON.parse(await fetchText(first.base, 'POST', path, body)) as Job).jobId;
}

async function ended(jobId: string): Promise<Job> {
  let job = await jobOf(jobId);
  await until(async () => {
    job = await jobOf(jobId);
    return /INGESTED|ERROR|CANCELLED/.test(job.status);
  });
  return job;
}

/** The members of a job, without those that differ from one load to another. */
const comparableFields = (job: Job, dataset: string): unknown =>
  Object.fromEntries(
    Object.entries(job)
      .filter(
        ([name]) => !/id$|url|snapshot|created|started|finished|duration|progress/i.test(name),
      )
      .map(([name, value]) => [name, JSON.stringify(value)?.replaceAll(dataset, 'D')]),
  );

async function outcomes(dataset: string): Promise<unknown> {
  const jobs: unknown[] = [];
  for (const [, more, body] of BODIES) {
    jobs.push(comparableFields(await ended(await begin(dataset, body, more)), dataset));
  }
  const query = `SELECT count(*) AS n, sum(v) AS total, min(day) AS a, max(day) AS b FROM ${dataset}`;
  const sql = encodeURIComponent(query);
  const records = await fetchText(first.base, 'GET', `/sql-query/WS?sqlQuery=${sql}`);
  const schema = await fetchText(first.base, 'GET', `/datasets/WS/${dataset}`);
  const { schema: properties } = JSON.parse(schema) as { readonly schema: unknown };
  return { jobs, records, properties };
}

async function gauge(name: string): Promise<number> {
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const answer = await fetch(`${first.base}/metrics`, { headers: { authorization } });
  return Number(new RegExp(`^tapedeck_${name} (\\d+)$`, 'm').exec(await answer.text())?.[1] ?? -1);
}

test.skipIf(skip)('the result is the same as on the serving node', async () => {
  const atHome = await outcomes('HOME');
  assert.equal(await gauge('loads_elsewhere'), 0);
  second = await here.nodes.start();
  await ready(second);
  await until(async () => (await gauge('load_places_elsewhere')) === 1);
  assert.deepEqual(await outcomes('AWAY'), atHome);
  const done = BODIES.length - 2;
  assert.equal(await gauge('loads_elsewhere'), done, 'except those that their file ended');
  await ended(await begin('SMALL', lines(10)));
  assert.equal(await gauge('loads_elsewhere'), done, 'a small one is loaded locally');
});

/** Waits until the log shows that the other node reads its file. */
const waitForRemoteRead = (jobId: string): Promise<void> =>
  until(async () => {
    const logs = JSON.parse(await fetchText(first.base, 'GET', '/logs/WS')) as readonly object[];
    return logs
      .map((line) => JSON.stringify(line))
      .some((line) => line.includes(jobId) && line.includes('reads the file'));
  });

/** A load that the other node has, and does not work on. */
async function stuck(dataset: string): Promise<string> {
  await until(async () => (await gauge('load_places_elsewhere')) === 1);
  second.serving.child.kill('SIGSTOP');
  const jobId = await begin(dataset, lines(LARGE));
  await waitForRemoteRead(jobId);
  return jobId;
}

async function countIn(dataset: string): Promise<number> {
  const sql = encodeURIComponent(`SELECT count(*) AS n FROM ${dataset}`);
  const text = await fetchText(first.base, 'GET', `/sql-query/WS?sqlQuery=${sql}`);
  return (JSON.parse(text) as readonly { readonly n: number }[])[0]?.n ?? -1;
}

/** Checks that one more load runs remotely, once the other node is back. */
async function goesOn(): Promise<void> {
  await until(async () => (await gauge('load_places_elsewhere')) === 1);
  const before = await gauge('loads_elsewhere');
  await until(async () => {
    await ended(await begin('NEXT', lines(LARGE)));
    return (await gauge('loads_elsewhere')) > before;
  });
  const left = (): readonly string[] => globSync(join(second.folder, 'reading/tmp/*'));
  await until(() => left().length === 0);
}

test.skipIf(skip)('a cancelled load ends immediately; the node takes the next one', async () => {
  const jobId = await stuck('GONE');
  await fetchText(first.base, 'GET', `/jobs/WS/ingest/${jobId}/cancel`);
  assert.equal((await ended(jobId)).status, 'CANCELLED');
  second.serving.child.kill('SIGCONT');
  await goesOn();
});

test.skipIf(skip)('no load waits for a sleeping node, which commits nothing later', async () => {
  const body = lines(HUGE);
  const jobId = await begin('SLEPT', body);
  const parts = join(second.folder, 'reading/tmp/*/*/*');
  // The node has read the file, and writes another one.
  await until(() => globSync(parts).length > 1);
  second.serving.child.kill('SIGSTOP');
  assert.equal((await ended(jobId)).status, 'INGESTED');
  const versionsBefore = await fetchText(first.base, 'GET', '/datasets/WS/SLEPT/versions');
  second.serving.child.kill('SIGCONT');
  await goesOn();
  assert.equal(await fetchText(first.base, 'GET', '/datasets/WS/SLEPT/versions'), versionsBefore);
  assert.equal(await countIn('SLEPT'), HUGE);
});

test.skipIf(skip)('no load is lost with a killed node', async () => {
  const jobId = await stuck('KILLED');
  await second.serving.kill('SIGKILL');
  assert.equal((await ended(jobId)).status, 'INGESTED');
  assert.equal(await countIn('KILLED'), LARGE);
});

test.skipIf(skip)('the serving node is killed: the next one starts the load again', async () => {
  second = await here.nodes.start();
  await ready(second);
  const jobId = await stuck('TAKEN');
  await first.serving.kill('SIGKILL');
  second.serving.child.kill('SIGCONT');
  first = second;
  await ready(first);
  assert.equal((await ended(jobId)).status, 'INGESTED');
  assert.equal(await countIn('TAKEN'), LARGE);
});
