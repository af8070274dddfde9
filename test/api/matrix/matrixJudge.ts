// Asks every way to ask every row in one state, and holds each answer against the rule.
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
import { costOf, type Rule, toldAs } from './matrixRules.ts';

/** How a request is made, besides what it asks. */
export interface Manner {
  readonly base: string;
  readonly token?: string | undefined;
  /** Where the token stands; `body`: where that is JSON, else in the header. */
  readonly place?: 'header' | 'query' | 'body';
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Headers that sign the request; the token then stands in the query. */
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

/** A stream would go on for ever. */
function hungUp(answer: IncomingMessage): string {
  answer.destroy();
  return '';
}

const AGENT = new Agent({ keepAlive: true });

/** What `fetch` does, for less: thousands of these are made. */
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

/** Signs as SPEC.md "Authentication" 6 says, over the whole query, at a time. */
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
  /** Whose things are asked for. */
  readonly owner: Owner;
  readonly spare: World['spare'];
  /** Sentences of refusals that are not those of their type. */
  readonly told?: Readonly<Partial<Record<FailureType, string>>>;
  /** What no answer may tell. */
  readonly hidden?: readonly string[];
  /** Brings the state about; again, because the account's own rows may end it. */
  readonly engage?: () => Promise<unknown>;
}

const AT_ONCE = 8;
/** Wrong answers that are told of one state. */
const TOLD_MAX = 20;

/** Works on all items, a few at once. */
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

/** Every way in one state: refusals first, which must leave everything as it was. */
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
    state.engage !== undefined && way.endpoint.method !== 'GET' && way.asked.reach === 'account';
  await each(
    allowed.filter((way) => !ends(way)),
    judgeOne,
  );
  for (const way of allowed.filter(ends)) {
    await judgeOne(way);
    await state.engage?.();
  }
  assert.deepEqual(wrong.slice(0, TOLD_MAX), []);
}

/** Judges one token asking for the world's own things. */
export function judgeToken(
  { server, owner, spare }: World,
  name: string,
  token: string | undefined,
  rule: Rule,
  more: Partial<Manner> & Pick<State, 'told' | 'hidden'> = {},
): Promise<void> {
  const { told = {}, hidden = [], ...manner } = more;
  const asked = { base: server.base, token, ...manner };
  return judge(server, { name, owner, spare, rule, told, hidden, manner: asked });
}

const named = (state: State, way: Way, { method, path }: Request): string =>
  `${state.name}: ${way.endpoint.id} ${method} ${path}`;

async function judgeRefusal(state: State, way: Way): Promise<readonly string[]> {
  const verdict = state.rule(way);
  assert.ok(verdict !== 'allowed');
  const request = requestOf(way, targetOf(state.owner));
  const answer = await ask(request, state.manner);
  const detail = verdict === 'InvalidParameter' ? way.asked.foreignToken : state.told?.[verdict];
  const told = toldAs(verdict, way, detail);
  const right =
    answer.status === told.status &&
    answer.type === told.type &&
    told.text.test(answer.text) &&
    answer.cost === null &&
    answer.premium === null &&
    !tells(state, answer);
  return right ? [] : [`${named(state, way, request)}: not ${verdict} but ${shown(state, answer)}`];
}

async function judgeLeave(server: TestServer, state: State, way: Way): Promise<readonly string[]> {
  const request = requestOf(way, await spareOf(server, state.owner, way.asked, state.spare));
  const answer = await ask(request, state.manner);
  const status = way.asked.answers ?? 200;
  const cost = costOf(way, status);
  const right =
    answer.status === status &&
    answer.cost === cost &&
    answer.premium === (cost === null ? null : '0') &&
    (way.asked.reach !== 'lists' || answer.text.includes(state.owner.target.id) === lists(state)) &&
    !tells(state, answer);
  return right ? [] : [`${named(state, way, request)}: not ${status} but ${shown(state, answer)}`];
}

/** Whether lists show the owner's dataset: when the token may read it, paid for or not. */
function lists({ rule }: State): boolean {
  const verdicts = WAYS.filter(({ asked }) => asked.reach === 'read').map(rule);
  return !verdicts.includes('Restricted') && !verdicts.includes('NotFound');
}

/** Digits of a request's id may be those of a value. */
const REQUEST_ID = /\([0-9A-F]{14,16}\)/g;

const tells = ({ hidden = [] }: State, { text }: Answer): boolean =>
  hidden.some((mark) => text.replaceAll(REQUEST_ID, '').includes(mark));

function shown(state: State, answer: Answer): string {
  const { status, text, type, cost } = answer;
  const what = `${status} ${type} ${JSON.stringify(text.slice(0, 200))}, messages ${cost}`;
  return tells(state, answer) ? `${what}, which tells what it must not` : what;
}
