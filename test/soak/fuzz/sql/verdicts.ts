// Sends an attack in every way that the endpoint accepts, and returns the faults of its answers.
import { faultOf } from '../http/judge.ts';
import { MARKER, NARROW_MARKER, PAID, SHELVES, type World } from './world.ts';
import type { Attack, Expectation } from './attacks.ts';

type Way = 'get' | 'text' | 'json';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly used: number;
  readonly ms: number;
}

/** Longer texts do not fit into a request line. */
const GET_LETTERS_MAX = 2_000;

/** Faults of the answers to an attack; empty if there are none. */
export async function faultsOf(world: World, attack: Attack): Promise<readonly string[]> {
  const faults: string[] = [];
  const answers = new Map<string, Way>();
  for (const way of waysOf(attack)) {
    const answer = await patientAsk(world, attack, way);
    answers.set(`${answer.status} ${bare(answer.body)}`, way);
    const fault = answerFault(world, attack, answer);
    if (fault !== undefined) faults.push(`${attack.name} (${way}): ${fault}`);
  }
  if (answers.size > 1 && faults.length === 0) faults.push(`${attack.name}: ${differing(answers)}`);
  return faults;
}

const TIMES_MAX = 4;

/** Retries after a 504: on a loaded machine an honest query sometimes exceeds its time limit. */
async function patientAsk(world: World, attack: Attack, way: Way): Promise<Answer> {
  const isBomb = attack.expected.some(({ kind }) => kind === 'limit');
  let answer = await ask(world, attack, way);
  for (let time = 1; answer.status === 504 && !isBomb && time < TIMES_MAX; time += 1) {
    if (leakOf(world, attack, answer) !== undefined) return answer;
    answer = await ask(world, attack, way);
  }
  return answer;
}

/** Removes the code at the end of a message, which differs each time. */
const bare = (body: string): string => body.replace(/ \([0-9A-F]{14}\)"}$/, '"}');

const differing = (answers: ReadonlyMap<string, Way>): string =>
  [...answers].map(([answer, way]) => `${way} answers ${answer.slice(0, 200)}`).join('\n');

/** Parameters need a JSON body; a lone surrogate has no bytes; a bomb is sent once. */
function waysOf({ expected, parameters, sql }: Attack): readonly Way[] {
  if (parameters !== undefined || !sql.isWellFormed()) return ['json'];
  if (expected.some(({ kind }) => kind === 'limit')) return ['text'];
  // A text body that begins like JSON is read as JSON.
  if (sql.trim() === '') return ['json'];
  const text: readonly Way[] = /^\s*[{[]/.test(sql) ? [] : ['text'];
  return sql.length > GET_LETTERS_MAX ? [...text, 'json'] : ['get', ...text, 'json'];
}

export async function ask(
  { server, tokens }: World,
  { asker, parameters, sql, workspace }: Pick<Attack, 'asker' | 'parameters' | 'sql' | 'workspace'>,
  way: Way,
  query: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const all = new URLSearchParams({ token: tokens[asker], ...query });
  if (way === 'get') all.set('sqlQuery', sql);
  const url = `${server.base}/v1/sql-query/${encodeURIComponent(workspace)}?${all}`;
  const parametersJson = parameters === undefined ? '' : `,"parameters":${parameters}`;
  const body = way === 'json' ? `{"query":${JSON.stringify(sql)}${parametersJson}}` : sql;
  const type = way === 'json' ? 'application/json' : 'text/plain';
  const headers = { 'content-type': type };
  const init = way === 'get' ? {} : { method: 'POST', body, headers };
  const startedMs = performance.now();
  try {
    const answer = await fetch(url, init);
    const used = Number(answer.headers.get('svccloud-messages-used') ?? Number.NaN);
    const text = await answer.text();
    return { status: answer.status, body: text, used, ms: performance.now() - startedMs };
  } catch (error) {
    return { status: 0, body: String(error), used: Number.NaN, ms: performance.now() - startedMs };
  }
}

/** Time for an interrupt, after which the child process is killed; two cores may be busy. */
export const DEADLINE_SLACK_MS = 8_000;

function answerFault(world: World, attack: Attack, answer: Answer): string | undefined {
  const { body, ms, status } = answer;
  const leak = leakOf(world, attack, answer);
  if (leak !== undefined) return leak;
  if (ms > world.deadlineMs + DEADLINE_SLACK_MS) return `${Math.round(ms)} ms, status ${status}`;
  if (attack.expected.some((one) => keeps(one, answer))) return undefined;
  const kinds = attack.expected.map(({ kind }) => kind).join(' or ');
  const summary = `${status}, ${answer.used} messages, ${Math.round(ms)} ms`;
  return `expected ${kinds}, got ${summary}: ${body.slice(0, 400)}`;
}

/** Words that only the SQL engine uses. */
const ENGINE_WORDS = [
  'read_parquet',
  '_system_',
  'file_row_number',
  'LINE 1:',
  'memory.main',
  'Exception',
  'duckdb',
  'allowed_directories',
  'INTERNAL',
  'Error:',
  'json_serialize',
] as const;

const FOLDERS = /(?:^|[\s"'(=])(\/(?:tmp|proc|etc|var|usr|opt|mnt|srv|app)\/[^\s"'\\]*)/;

/** The secret that an answer leaks; text of the query itself may be returned. */
export function leakOf(
  world: World,
  { asker, sql }: Pick<Attack, 'asker' | 'sql'>,
  { body, status }: Answer,
): string | undefined {
  const { server, strangerId } = world;
  const markers = asker === 'narrow' ? [MARKER, NARROW_MARKER] : [MARKER];
  const leakedMarker = markers.find((marker) => body.includes(marker));
  if (leakedMarker !== undefined) return `${leakedMarker} was leaked: ${body.slice(0, 300)}`;
  if (body.includes(strangerId)) return `the other account was leaked: ${body.slice(0, 300)}`;
  if (status === 413 || status === 504) {
    if (!/\d/.test(body)) return `a limit without its value: ${body.slice(0, 300)}`;
  } else {
    const fault = faultOf({ status, body }, server.folder, 'query');
    if (fault !== undefined) return fault;
  }
  if (status < 400) return body.includes(server.folder) ? 'the folder was leaked' : undefined;
  if (body.includes(PAID)) return `a refusal contains a record that costs: ${body.slice(0, 300)}`;
  if (body.length > MESSAGE_LETTERS_MAX) return `a refusal of ${body.length} letters`;
  const wrote = sql.toLowerCase();
  const word = ENGINE_WORDS.find((one) => body.includes(one) && !wrote.includes(one.toLowerCase()));
  if (word !== undefined) return `the refusal contains ${word}: ${body.slice(0, 400)}`;
  const path = FOLDERS.exec(body)?.[1];
  return path === undefined || sql.includes(path) ? undefined : `the refusal names ${path}`;
}

/** A refusal quotes a part of the query, not all of it. */
const MESSAGE_LETTERS_MAX = 1_500;

/** `"sqlQuery" line 1, column 8: … (0123456789ABCD)`. */
const REFUSAL = /^\{"success":false,"message":"(\\"\w+\\"|parameters).* \([0-9A-F]{14}\)"\}$/s;
const PLACE = /"message":"\\"sqlQuery\\" line \d+, column \d+: /;
const NO_DATASET = /no (?:such )?dataset/i;

function keeps(expected: Expectation, answer: Answer): boolean {
  const { body, status } = answer;
  const refused = status === 400 && REFUSAL.test(body);
  switch (expected.kind) {
    case 'refused':
      return refused;
    case 'missing':
      return refused && PLACE.test(body) && NO_DATASET.test(body);
    case 'forbidden':
      return status === 401 || (refused && NO_DATASET.test(body));
    case 'absent':
      return status === 404;
    case 'limit':
      return status === 413 || status === 504;
    case 'harmless':
      return status === 200;
    case 'priced':
      return status === 200 && answer.used >= leastPrice(expected.datasets, body);
    case 'answer':
      return status === 200 && sameJson(body, expected.rows);
  }
}

const KILOBYTE = 1_000;

/** max(records, bytes by 1,000) x the highest weight. */
function leastPrice(datasets: readonly string[], body: string): number {
  const rows = JSON.parse(body) as readonly object[];
  const shelves = datasets.flatMap((name) => SHELVES[name] ?? []);
  const bytes = Math.ceil(Buffer.byteLength(body) / KILOBYTE);
  const objects = Math.max(rows.length, rows.length === 0 ? 0 : bytes);
  return objects * Math.max(...shelves.map(({ weight }) => weight));
}

/** Compares as texts, so that `__proto__` counts as an ordinary member. */
const sameJson = (body: string, rows: unknown): boolean => {
  try {
    return JSON.stringify(JSON.parse(body)) === JSON.stringify(rows);
  } catch {
    return false;
  }
};
