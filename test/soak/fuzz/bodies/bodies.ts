// Wide, deep and long bodies and parameters at every route: none holds the event loop for longer than its
// budget, and the answer is a sentence below 500.
import { ENDPOINTS } from '../../../../api/endpoints/index.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { faultOf } from '../http/judge.ts';
import { startWatched, type Watched } from '../http/loopWatch.ts';
import type { FuzzOrder, FuzzReport } from '../http/requests.ts';
import { type RawRequest, send } from '../http/wire.ts';
import { bigBody, bigQuery, SHAPES, type Shape } from './bigBodies.ts';
import { BODY_ROWS, type BodyRow, targetOf } from './rows.ts';

/** Longest turn of the loop. */
const BUDGET_MS = 50;
/** A collection of garbage may fall into any turn: a request holds the loop when it does so each time. */
const ATTEMPTS = 4;
const FAILURES_MAX = 10;
/** Requests that reach each route with each shape once. */
export const COVERING = BODY_ROWS.length * SHAPES.length + ENDPOINTS.length;

interface Attempt {
  readonly name: string;
  readonly request: RawRequest;
}

export async function bodiesLaw({ count, seed, log }: FuzzOrder): Promise<FuzzReport> {
  await using server = await startWatched();
  await fill(server);
  const failures: string[] = [];
  const worst = { ms: 0, name: '' };
  let runs = 0;
  for (; runs < count && failures.length < FAILURES_MAX; runs += 1) {
    const { name, request } = attemptAt(runs, server, seeded(seed * 1_000_003 + runs));
    const { fault, ms } = await judged(server, request);
    if (ms > worst.ms) Object.assign(worst, { ms, name });
    if (fault !== undefined)
      failures.push(`seed ${seed}, body ${runs}, ${name}: ${fault}\n${briefly(request)}`);
  }
  log(`seed ${seed}: ${runs} bodies, a turn took ${worst.ms} ms at most (${worst.name})`);
  return { runs, failures };
}

/** Each route with each shape, then each route with a query, then any of them. */
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
  const { method, target } = row;
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

/** The least of some attempts. */
async function judged(
  server: Watched,
  request: RawRequest,
): Promise<{ readonly fault: string | undefined; readonly ms: number }> {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && least > BUDGET_MS; attempt += 1) {
    const answer = await send(server.port, request);
    least = Math.min(least, await server.stoodStillMs());
    const fault = faultOf(answer, server.folder);
    if (fault !== undefined) return { fault, ms: least };
  }
  const late = least > BUDGET_MS ? `a turn of the loop took ${least} ms each time` : undefined;
  return { fault: late, ms: least };
}

const briefly = ({ body, method, target }: RawRequest): string => {
  const cut = (text: string): string =>
    text.length > 400 ? `${text.slice(0, 250)} … ${text.slice(-100)} (${text.length})` : text;
  return [method, cut(target), cut(String(body ?? ''))].join('\n  ');
};
