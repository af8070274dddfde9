// Sends all requests of every row in one state, and compares each answer with the rule.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import {
  Agent,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import type { FailureType } from '../../../store/base/failure.ts';
import type { TestServer } from '../../base/server.ts';
import { type Request, requestOf, type Way, WAYS } from './matrixCases.ts';
import { differences, type Owner, spareOf, stored, targetOf, type World } from './matrixOwner.ts';
import { costOf, type Rule, describeFailure } from './matrixRules.ts';

/** The server, credentials and headers of a request. */
export interface Manner {
  readonly base: string;
  readonly token?: string | undefined;
  /** The place of the token; `body`: if that is JSON, otherwise the header. */
  readonly place?: 'header' | 'query' | 'body';
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Headers that sign the request; the token is then in the query. */
  readonly sign?: (request: Signable) => Readonly<Record<string, string>>;
  readonly version?: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly cost: string | null;
  readonly premium: string | null;
  readonly retryAfter: string | null;
}

export async function ask(request: Request, manner: Manner): Promise<Answer> {
  const { token, sign, place = sign === undefined ? 'header' : 'query', version = 'v1' } = manner;
  const { method } = request;
  const joint = request.path.includes('?') ? '&' : '?';
  const named = place === 'query' && token !== undefined;
  const path = named ? `${request.path}${joint}token=${token}` : request.path;
  const url = new URL(`${manner.base}/${version}${path}`);
  const body = place === 'body' ? withToken(request.body, token) : request.body;
  const bare = named || token === undefined || body !== request.body;
  const headers = {
    ...(bare ? {} : { authorization: `Bearer ${token}` }),
    ...manner.headers?.(),
    ...sign?.({ method, url, token: token ?? '', body: body ?? '' }),
  };
  const answer = await send(url, { method, headers, agent: AGENT }, body);
  const header = (name: string): string | null => answer.headers[name]?.toString() ?? null;
  const type = header('content-type') ?? '';
  return {
    status: answer.statusCode ?? 0,
    type,
    text: type.startsWith('text/event-stream') ? hungUp(answer) : await textOf(answer),
    cost: header('svccloud-messages-used'),
    premium: header('svccloud-premium-messages-used'),
    retryAfter: header('retry-after'),
  };
}

const textOf = async (answer: IncomingMessage): Promise<string> =>
  (await answer.setEncoding('utf8').toArray()).join('');

/** Streams are cut, because they have no end. */
function hungUp(answer: IncomingMessage): string {
  answer.destroy();
  return '';
}

const AGENT = new Agent({ keepAlive: true });

/** Does the same as `fetch` at a lower cost: the suites send thousands of requests. */
async function send(
  url: URL,
  options: RequestOptions,
  body: string | undefined,
): Promise<IncomingMessage> {
  const call = httpRequest(url, options).end(body);
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  return answer;
}

/** The body with the token as a member, where it is a JSON object. */
function withToken(body: string | undefined, token: string | undefined): string | undefined {
  if (body?.startsWith('{') !== true) return body;
  return JSON.stringify({ ...(JSON.parse(body) as object), token });
}

interface Signable {
  readonly method: string;
  readonly url: URL;
  readonly token: string;
  readonly body: string;
}

/** Signs by SPEC.md "Authentication" 6, over the whole query, at a given time. */
export const signer =
  (secret: string, timeMs: number): NonNullable<Manner['sign']> =>
  ({ method, url, token, body }) => {
    const date = `${new Date(timeMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    const day = date.slice(0, 8);
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
    const mac = (key: string, text: string): string =>
      createHmac('sha256', key).update(text).digest('hex');
    const query = url.search.slice(1).split('&').toSorted().join('&');
    const canonical = [method, url.pathname, query, `host:${url.host}\nx-svc-date:${date}\n`]
      .concat('host;x-svc-date', hash(body))
      .join('\n');
    const scope = `${day}/svc_request`;
    const text = ['SVC-HMAC-SHA256', date, scope, hash(canonical)].join('\n');
    const signature = mac(mac(mac(secret, day), 'svc_request'), text);
    const credential = `Credential=${token}/${scope}, SignedHeaders=host;x-svc-date`;
    const authorization = `SVC-HMAC-SHA256 ${credential}, Signature=${signature}`;
    return { 'x-svc-date': date, authorization };
  };

export interface State {
  readonly name: string;
  readonly manner: Manner;
  readonly rule: Rule;
  /** The owner of the requested objects. */
  readonly owner: Owner;
  readonly spare: World['spare'];
  /** Sentences of refusals that differ from those of their type. */
  readonly sentences?: Readonly<Partial<Record<FailureType, string>>>;
  /** Texts that no answer may include. */
  readonly hidden?: readonly string[];
  /** Sets the state; repeated, because the account's own rows may end it. */
  readonly engage?: () => Promise<unknown>;
}

const AT_ONCE = 8;
/** Wrong answers that are reported of one state. */
const REPORTED_MAX = 20;

/** Works on all items, a few concurrently. */
export async function each<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** All requests in one state: refusals first, which must change nothing. */
export async function judge(server: TestServer, state: State): Promise<void> {
  const wrong: string[] = [];
  await state.engage?.();
  const refused = WAYS.filter((way) => state.rule(way) !== 'allowed');
  const before = await stored(server);
  await each(refused, async (way) => {
    wrong.push(...(await judgeRefusal(state, way)));
  });
  const touched = differences(before, await stored(server));
  wrong.push(...touched.map((line) => `${state.name}: a refusal changed ${line}`));
  const allowed = WAYS.filter((way) => state.rule(way) === 'allowed');
  const judgeOne = async (way: Way): Promise<void> => {
    wrong.push(...(await judgeLeave(server, state, way)));
  };
  const ends = (way: Way): boolean =>
    state.engage !== undefined && way.endpoint.method !== 'GET' && way.testCase.reach === 'account';
  await each(
    allowed.filter((way) => !ends(way)),
    judgeOne,
  );
  for (const way of allowed.filter(ends)) {
    await judgeOne(way);
    await state.engage?.();
  }
  assert.deepEqual(wrong.slice(0, REPORTED_MAX), []);
}

/** Judges one token with requests for the world's own objects. */
export function judgeToken(
  { server, owner, spare }: World,
  name: string,
  token: string | undefined,
  rule: Rule,
  more: Partial<Manner> & Pick<State, 'sentences' | 'hidden'> = {},
): Promise<void> {
  const { sentences = {}, hidden = [], ...manner } = more;
  const fullManner = { base: server.base, token, ...manner };
  return judge(server, { name, owner, spare, rule, sentences, hidden, manner: fullManner });
}

const named = (state: State, way: Way, { method, path }: Request): string =>
  `${state.name}: ${way.endpoint.id} ${method} ${path}`;

async function judgeRefusal(state: State, way: Way): Promise<readonly string[]> {
  const verdict = state.rule(way);
  assert.ok(verdict !== 'allowed');
  const request = requestOf(way, targetOf(state.owner));
  const answer = await ask(request, state.manner);
  const detail =
    verdict === 'InvalidParameter' ? way.testCase.foreignToken : state.sentences?.[verdict];
  const failure = describeFailure(verdict, way, detail);
  const right =
    answer.status === failure.status &&
    answer.type === failure.type &&
    failure.text.test(answer.text) &&
    answer.cost === null &&
    answer.premium === null &&
    !hasLeak(state, answer);
  return right
    ? []
    : [`${named(state, way, request)}: not ${verdict} but ${describeAnswer(state, answer)}`];
}

async function judgeLeave(server: TestServer, state: State, way: Way): Promise<readonly string[]> {
  const request = requestOf(way, await spareOf(server, state.owner, way.testCase, state.spare));
  const answer = await ask(request, state.manner);
  const status = way.testCase.answers ?? 200;
  const cost = costOf(way, status);
  const right =
    answer.status === status &&
    answer.cost === cost &&
    answer.premium === (cost === null ? null : '0') &&
    (way.testCase.reach !== 'lists' ||
      answer.text.includes(state.owner.target.id) === lists(state)) &&
    !hasLeak(state, answer);
  return right
    ? []
    : [`${named(state, way, request)}: not ${status} but ${describeAnswer(state, answer)}`];
}

/** True if lists show the owner's dataset: if the token may read it, paid for or not. */
function lists({ rule }: State): boolean {
  const verdicts = WAYS.filter(({ testCase }) => testCase.reach === 'read').map(rule);
  return !verdicts.includes('Restricted') && !verdicts.includes('NotFound');
}

/** Removes request ids, whose digits may equal those of a value. */
const REQUEST_ID = /\([0-9A-F]{14,16}\)/g;

const hasLeak = ({ hidden = [] }: State, { text }: Answer): boolean =>
  hidden.some((mark) => text.replaceAll(REQUEST_ID, '').includes(mark));

function describeAnswer(state: State, answer: Answer): string {
  const { status, text, type, cost } = answer;
  const what = `${status} ${type} ${JSON.stringify(text.slice(0, 200))}, messages ${cost}`;
  return hasLeak(state, answer) ? `${what}, which includes a hidden text` : what;
}
