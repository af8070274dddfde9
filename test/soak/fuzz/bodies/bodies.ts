// Wide, deep and long bodies and parameters at every route: none blocks the event loop for longer than its
// budget, and the answer is a sentence with a status below 500.
import { ENDPOINTS } from '../../../../api/endpoints/index.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { faultOf } from '../http/judge.ts';
import { startWatched, type Watched } from '../http/loopWatch.ts';
import type { FuzzOrder, FuzzReport } from '../http/requests.ts';
import { type RawRequest, send } from '../http/wire.ts';
import { bigBody, bigQuery, SHAPES, type Shape } from './bigBodies.ts';
import { BODY_ROWS, type BodyRow, NEW_NAME, targetOf } from './rows.ts';

/** Longest allowed turn of the loop. */
const BUDGET_MS = 50;
/** Any turn may collect garbage or load modules, so the median of some attempts counts. */
const ATTEMPTS = 3;
const FAILURES_MAX = 10;
/** Requests that reach each route with each shape once. */
export const COVERING = BODY_ROWS.length * SHAPES.length + ENDPOINTS.length;

interface Verdict {
  readonly fault: string | undefined;
  /** Longest turn of the loop. */
  readonly ms: number;
  readonly isAccepted: boolean;
}

interface Attempt {
  readonly name: string;
  readonly request: RawRequest;
}

export async function bodiesLaw({ count, seed, log }: FuzzOrder): Promise<FuzzReport> {
  await using server = await startWatched();
  await fill(server);
  const failures: string[] = [];
  const worst = { ms: 0, name: '' };
  let [runs, accepted] = [0, 0];
  for (; runs < count && failures.length < FAILURES_MAX; runs += 1) {
    const { name, request } = attemptAt(runs, server, seeded(seed * 1_000_003 + runs));
    const { fault, isAccepted, ms } = await judged(server, request);
    if (isAccepted) accepted += 1;
    if (process.env['ZZ']) console.log('zz', name, isAccepted, ms);
    if (ms > worst.ms) Object.assign(worst, { ms, name });
    if (fault !== undefined)
      failures.push(`seed ${seed}, body ${runs}, ${name}: ${fault}\n${briefly(request)}`);
  }
  const longest = `a turn took ${worst.ms} ms at most (${worst.name})`;
  log(`seed ${seed}: ${runs} bodies, ${accepted} accepted, ${longest}`);
  return { runs, failures };
}

/** Each route with each shape, then each route with a query, then random ones. */
function attemptAt(at: number, server: Watched, random: Seeded): Attempt {
  const shape = SHAPES[at % SHAPES.length] ?? 'items';
  const row = BODY_ROWS[Math.floor(at / SHAPES.length)];
  if (row !== undefined) return bodyAttempt(row, shape, server, random);
  const endpoint = ENDPOINTS[at - BODY_ROWS.length * SHAPES.length];
  if (endpoint !== undefined) return queryAttempt(endpoint, server, random);
  const [status, ...others] = ENDPOINTS;
  if (status !== undefined && random.chance(0.2))
    return queryAttempt(random.pick([status, ...others]), server, random);
  return bodyAttempt(random.pick(BODY_ROWS), random.pick(SHAPES), server, random);
}

function bodyAttempt(row: BodyRow, shape: Shape, server: Watched, random: Seeded): Attempt {
  const token = row.isAdmin ? server.admin : server.secret;
  const headers = { authorization: `Bearer ${token}` };
  const body = Buffer.from(bigBody(row.schema, shape, row.bytesMax, random));
  const { method, targets } = row;
  const name = `N${random.between(0, 1_000_000)}`;
  const target = random.pick(targets).replace(NEW_NAME, name);
  return { name: `${row.id} ${shape}`, request: { method, target, headers, body } };
}

function queryAttempt(
  endpoint: (typeof ENDPOINTS)[number],
  server: Watched,
  random: Seeded,
): Attempt {
  const token = endpoint.token === 'admin' ? server.admin : server.secret;
  const headers = { authorization: `Bearer ${token}` };
  const target = `${targetOf(endpoint)}?${bigQuery(endpoint, random)}`;
  const { id, method } = endpoint;
  return { name: `${id} query`, request: { method, target, headers, body: undefined } };
}

async function fill({ base, secret, stoodStillMs }: Watched): Promise<void> {
  const url = `${base}/v1/data/FUZZ/PRICES?wait=true&token=${secret}`;
  const body = 'symbol,date,v\nA,2024-01-01,1\nB,2024-01-02,2\n';
  const answer = await fetch(url, { method: 'POST', body });
  if (!answer.ok) throw new Error(await answer.text());
  await stoodStillMs();
}

/** Sends the request again if a turn took too long, and judges the median of the attempts. */
async function judged(server: Watched, request: RawRequest): Promise<Verdict> {
  const turns: number[] = [];
  let isAccepted = false;
  while (turns.length === 0 || (turns.length < ATTEMPTS && Math.max(...turns) > BUDGET_MS)) {
    const answer = await send(server.port, request);
    turns.push(await server.stoodStillMs());
    isAccepted = answer.status < 400;
    const fault = faultOf(answer, server.folder);
    if (fault !== undefined) return { fault, ms: 0, isAccepted };
  }
  const ms = turns.sort((one, other) => one - other)[Math.floor(turns.length / 2)] ?? 0;
  const fault = ms > BUDGET_MS ? `turns of the loop took ${turns.join(', ')} ms` : undefined;
  return { fault, ms, isAccepted };
}

const briefly = ({ body, method, target }: RawRequest): string => {
  const cut = (text: string): string =>
    text.length > 400 ? `${text.slice(0, 250)} … ${text.slice(-100)} (${text.length})` : text;
  return [method, cut(target), cut(String(body ?? ''))].join('\n  ');
};
