// One request to the API, as any client makes it: the token in a header, the answer or its reason.
import { currentSession, operatorToken } from './session.ts';
import { noteRequest } from './requestLog.ts';

export interface Answer<T> {
  readonly value: T;
  /** Messages that it cost. */
  readonly messages: number;
  /** Rows after which the answer was cut. */
  readonly cutAt: number | undefined;
}

/** Why there is no answer, in the server's own words. */
export interface Problem {
  /** 0: the server was not reached. */
  readonly status: number;
  readonly message: string;
}

export interface Question {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly json?: unknown;
  readonly file?: File;
  readonly as?: 'operator';
  readonly signal?: AbortSignal | undefined;
  /** In place of the session's, before there is one. */
  readonly token?: string;
  /** Not part of what the screen shows. */
  readonly unlisted?: boolean;
  /** Members of the JSON whose values are not shown. */
  readonly secrets?: readonly string[];
}

/** An answer that a browser should not hold as one text; the price of a query keeps below it. */
const ANSWER_BYTES_MAX = 96 * 1024 ** 2;

let spent = 0;
const listeners = new Set<() => void>();

/** Messages that this page has cost so far. */
export const messagesSpent = (): number => spent;

export function onSpending(listen: () => void): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}

export const pathOf = (
  segments: readonly string[],
  query: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string => {
  const path = segments.map((one) => `/${encodeURIComponent(one)}`).join('');
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/v1${path}${text === '' ? '' : `?${text}`}`;
};

/** @throws Problem */
export async function ask<T>(path: string, question: Question = {}): Promise<Answer<T>> {
  const response = await send(path, question);
  const length = Number(response.headers.get('content-length') ?? 0);
  if (length > ANSWER_BYTES_MAX) {
    await response.body?.cancel();
    const told = `the answer has ${length} bytes, at most ${ANSWER_BYTES_MAX} are shown here`;
    throw problem(413, `${told}: add LIMIT, or load it with the request below`);
  }
  const text = await response.text();
  const messages = countOf(response, '-messages-used');
  const type = response.headers.get('content-type') ?? '';
  const value = (type.includes('json') && text !== '' ? JSON.parse(text) : text) as T;
  if (messages > 0) {
    spent += messages;
    listeners.forEach((listen) => listen());
  }
  return { value, messages, cutAt: countOf(response, '-rows-cut') || undefined };
}

/** @throws Problem where it is refused. */
export async function send(path: string, question: Question, accept?: string): Promise<Response> {
  const {
    as,
    file,
    json,
    method = json === undefined && file === undefined ? 'GET' : 'POST',
  } = question;
  const own = as === 'operator' ? operatorToken() : currentSession()?.token;
  const token = question.token ?? own ?? '';
  const body = file ?? (json === undefined ? undefined : JSON.stringify(json));
  if (question.unlisted !== true) {
    noteRequest({
      method,
      path,
      ...(json === undefined ? {} : { body: shownBody(json, question.secrets) }),
      ...(file === undefined ? {} : { file: file.name }),
      ...(accept === undefined ? {} : { accept }),
      isOperator: as === 'operator',
    });
  }
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (accept !== undefined) headers['accept'] = accept;
  const init: RequestInit = { method, headers, cache: 'no-store', credentials: 'omit' };
  if (question.signal !== undefined) init.signal = question.signal;
  if (body !== undefined) init.body = body;
  const response = await reached(path, init);
  if (!response.ok) throw problem(response.status, sentenceOf(await response.text(), response));
  return response;
}

/** In place of a secret stands its name, as a shell's variable does. */
const shownBody = (json: unknown, secrets: readonly string[] = []): string =>
  JSON.stringify(json, (name, value: unknown) =>
    secrets.includes(name) ? `$${name.toUpperCase()}` : value,
  );

async function reached(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (reason) {
    if (init.signal?.aborted === true) throw reason;
    throw problem(0, 'The server was not reached. Does it still run?');
  }
}

const problem = (status: number, message: string): Problem => ({ status, message });

const isProblem = (reason: unknown): reason is Problem =>
  typeof reason === 'object' && reason !== null && 'status' in reason && 'message' in reason;

export const problemOf = (reason: unknown): Problem =>
  isProblem(reason)
    ? reason
    : problem(0, reason instanceof Error ? reason.message : String(reason));

/** Headers have the brand of the server before their names. */
function countOf(response: Response, end: string): number {
  for (const [name, value] of response.headers) if (name.endsWith(end)) return Number(value);
  return 0;
}

function sentenceOf(text: string, { status, statusText }: Response): string {
  const said = told(text) ?? text;
  return said.trim() === '' ? `${status} ${statusText}` : said;
}

function told(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { readonly message?: unknown; readonly error?: unknown };
    const said = body.message ?? body.error;
    return typeof said === 'string' ? said : undefined;
  } catch {
    // Refusals of data routes are sentences.
    return undefined;
  }
}
