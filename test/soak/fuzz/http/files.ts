// Mutated files, POSTed to one real server: each is loaded or refused with a sentence, loaded records can
// be read and their counts add up, and no files are left behind.
import { createWorkspace } from '../../../../store/lake/datasetEdits.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { type Base, bases } from './bases.ts';
import { type Arena, faultOf, openArena } from './judge.ts';
import { mutated } from './mutations.ts';
import type { FuzzOrder, FuzzReport } from './requests.ts';

const AT_ONCE = 4;
const REPORTED_MAX = 20;
/** A failing file of at most this size is printed; a larger one is reproduced from its seed. */
const PRINTED_BYTES_MAX = 8_192;

interface Doors {
  readonly arena: Arena;
  readonly token: string;
}

/** A file, and how it is loaded. */
interface Attempt {
  readonly label: string;
  readonly dataset: string;
  readonly query: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** The endpoint that it is sent to: loads, or another endpoint that reads a body. */
  readonly door: 'data' | 'record' | 'generate-schema';
}

export async function fuzzFiles({ count, seed, log }: FuzzOrder): Promise<FuzzReport> {
  await using arena = await openArena();
  const { accounts, lake } = arena.server.tapedeck.services;
  const accountId = await accounts.createAccount('fuzzer', 'scale');
  const { text: token } = await accounts.createToken(accountId, 'secret');
  await createWorkspace(lake, 'FUZZ', accountId, 0);
  const doors = { arena, token };
  const all = await bases();
  const failures: string[] = [];
  const statuses = new Map<number, number>();
  let next = 0;
  const worker = async (lane: number): Promise<void> => {
    for (let at = next++; at < count && failures.length < REPORTED_MAX; at = next++) {
      const attempt = makeAttempt(all, seeded(seed * 1_000_003 + at), lane);
      const { status, fault } = await judged(attempt, doors);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (fault !== undefined)
        failures.push(`seed ${seed}, file ${at}: ${fault}\n${describeAttempt(attempt)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, lane) => worker(lane)));
  failures.push(...(await arena.faults()).map((fault) => `seed ${seed}, at the end: ${fault}`));
  const statusCounts = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, n]) => `${n} x ${status}`);
  log(`seed ${seed}: ${Math.min(next, count)} files, ${statusCounts.join(', ')}`);
  return { runs: Math.min(next, count), failures };
}

const describeAttempt = ({ label, query, bytes, door }: Attempt): string => {
  const text = bytes.length > PRINTED_BYTES_MAX ? 'too large to print' : bytes.toString('base64');
  return `${door} ${JSON.stringify(query)} ${label}, ${bytes.length} bytes: ${text}`;
};

function makeAttempt(all: readonly [Base, ...Base[]], random: Seeded, lane: number): Attempt {
  const base = random.pick(all);
  const other = random.chance(0.7) ? base : random.pick(all);
  const { bytes, steps } = mutated(base.bytes, other.bytes, random);
  const door = random.chance(0.7) ? 'data' : random.pick(['record', 'generate-schema'] as const);
  const query: Record<string, string> = {};
  if (random.chance(0.15)) query['key'] = random.pick(['symbol', 'symbol', 'note', 'missing']);
  if (random.chance(0.1)) query['date'] = random.pick(['date', 'date', 'price', 'toString']);
  if (random.chance(0.2)) query['overwrite'] = 'true';
  if (random.chance(0.1)) query['maximumValidationErrors'] = random.pick(['0', '5']);
  const nested = base.name === 'nested json';
  if (random.chance(nested ? 0.8 : 0.03))
    query['jsonPath'] = random.pick(['$.data.rows', '$', '$.a']);
  const replace = random.chance(0.4) ? { duplicateKeyHandling: 'replace' } : {};
  return {
    label: `${base.name}, ${steps.join(', ')} (with ${other.name})`,
    dataset: `LANE${lane}_${random.chance(0.75) ? 'ONCE' : 'AGAIN'}`,
    query: door === 'data' ? { ...query, ...replace } : door === 'record' ? replace : {},
    bytes,
    door,
  };
}

interface Judged {
  readonly status: number;
  readonly fault: string | undefined;
}

async function judged(attempt: Attempt, doors: Doors): Promise<Judged> {
  const { dataset, door, bytes } = attempt;
  const { server } = doors.arena;
  const place = door === 'generate-schema' ? 'FUZZ' : `FUZZ/${dataset}`;
  const wait: Readonly<Record<string, string>> = door === 'data' ? { wait: 'true' } : {};
  const all = new URLSearchParams({ ...attempt.query, ...wait, token: doors.token });
  try {
    const url = `${server.base}/v1/${door}/${place}?${all}`;
    const body = new Uint8Array(bytes);
    const signal = AbortSignal.timeout(60_000);
    const answer = await fetch(url, { method: 'POST', body, signal });
    const text = await answer.text();
    const { status } = answer;
    const fault = faultOf({ status, body: text }, server.folder) ?? unlike(status, text);
    if (fault !== undefined || status !== 200 || door === 'generate-schema')
      return { status, fault };
    return { status, fault: await loadedFault(attempt, text, doors) };
  } catch (error) {
    return { status: 0, fault: String(error) };
  }
}

/** A workspace route refuses with a reason in JSON. */
function unlike(status: number, text: string): string | undefined {
  const { success, message } = JSON.parse(text) as { success?: unknown; message?: unknown };
  if (status === 200) return undefined;
  const hasReason = success === false && typeof message === 'string' && message.length > 20;
  return hasReason ? undefined : `status ${status} without a sentence: ${text.slice(0, 300)}`;
}

interface JobCounts {
  readonly status: string;
  readonly recordsValidated: number;
  readonly recordsIngested: number;
  readonly recordsDuplicate: number;
}

/** Checks that loaded records can be read, are JSON, and that the counts add up. */
async function loadedFault(
  attempt: Attempt,
  text: string,
  doors: Doors,
): Promise<string | undefined> {
  const { arena, token } = doors;
  const { base, folder } = arena.server;
  const request = async (path: string, method = 'GET'): Promise<readonly [number, string]> => {
    const url = `${base}${path}${path.includes('?') ? '&' : '?'}token=${token}`;
    const answer = await fetch(url, { method, signal: AbortSignal.timeout(60_000) });
    return [answer.status, await answer.text()];
  };
  const { jobUrl } = JSON.parse(text) as { readonly jobUrl?: string };
  if (jobUrl !== undefined) {
    const job = JSON.parse((await request(jobUrl))[1]) as JobCounts;
    const { recordsValidated, recordsIngested, recordsDuplicate } = job;
    const replace = attempt.query['duplicateKeyHandling'] === 'replace';
    const sum = recordsIngested + recordsDuplicate;
    if (!replace && sum !== recordsValidated) return `counts do not add up: ${JSON.stringify(job)}`;
  }
  const path = `/v1/data/FUZZ/${attempt.dataset}`;
  for (const query of ['?limit=1000', '?last=3', '?first=2&format=csv']) {
    const [status, body] = await request(`${path}${query}`);
    const fault = faultOf({ status, body }, folder);
    if (fault !== undefined) return `${query}: ${fault}`;
    if (status !== 200) return `${query}: a later read answers ${status}: ${body.slice(0, 300)}`;
    if (!query.includes('csv')) JSON.parse(body);
  }
  // The schema of a strange file must not refuse all later files: few datasets get a second one.
  if (attempt.dataset.endsWith('ONCE')) {
    const [status, body] = await request(`/v1/datasets/FUZZ/${attempt.dataset}`, 'DELETE');
    if (status !== 200) return `the dataset can not be deleted: ${status} ${body.slice(0, 300)}`;
  }
  return undefined;
}
