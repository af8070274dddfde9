// Client of the HTTP API: sends one request with the token in a header and returns the response or a problem.
import { currentSession, operatorToken } from './session.ts';
import { logRequest } from './requestLog.ts';

export interface Answer<T> {
  readonly value: T;
  /** Messages charged for the request. */
  readonly messages: number;
  /** Row count at which the response was truncated. */
  readonly cutAt: number | undefined;
}

/** A failed request, with the server's error message. */
export interface Problem {
  /** 0 if the server could not be reached. */
  readonly status: number;
  readonly message: string;
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly json?: unknown;
  readonly file?: File;
  readonly as?: 'operator';
  readonly signal?: AbortSignal | undefined;
  /** Overrides the session's token, for use before sign-in. */
  readonly token?: string;
  /** Leaves the request out of the request log. */
  readonly unlisted?: boolean;
  /** JSON members whose values are redacted in the request log. */
  readonly secrets?: readonly string[];
}

/** Larger responses are not read into one string. */
const ANSWER_BYTES_MAX = 96 * 1024 ** 2;

let spent = 0;
const listeners = new Set<() => void>();

/** Messages charged since the page was opened. */
export const messagesSpent = (): number => spent;

export function onSpending(listen: () => void): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}

export const apiPath = (
  segments: readonly string[],
  query: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string => {
  const path = segments.map((one) => `/${encodeURIComponent(one)}`).join('');
  const parameters = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  const text = new URLSearchParams(
    parameters.map(([name, value]) => [name, String(value)]),
  ).toString();
  return `/v1${path}${text === '' ? '' : `?${text}`}`;
};

/** @throws Problem */
export async function callApi<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  const response = await send(path, options);
  const length = Number(response.headers.get('content-length') ?? 0);
  if (length > ANSWER_BYTES_MAX) {
    await response.body?.cancel();
    const size = `the response has ${length} bytes; the console shows at most ${ANSWER_BYTES_MAX}`;
    throw problem(413, `${size}: add LIMIT, or run the curl command below`);
  }
  const text = await response.text();
  const messages = readCount(response, '-messages-used');
  const type = response.headers.get('content-type') ?? '';
  const value = (type.includes('json') && text !== '' ? JSON.parse(text) : text) as T;
  if (messages > 0) {
    spent += messages;
    listeners.forEach((listen) => listen());
  }
  return { value, messages, cutAt: readCount(response, '-rows-cut') || undefined };
}

/** @throws Problem if the request is refused */
export async function send(
  path: string,
  options: RequestOptions,
  accept?: string,
): Promise<Response> {
  const {
    as,
    file,
    json,
    method = json === undefined && file === undefined ? 'GET' : 'POST',
  } = options;
  const sessionToken = as === 'operator' ? operatorToken() : currentSession()?.token;
  const token = options.token ?? sessionToken ?? '';
  const body = file ?? (json === undefined ? undefined : JSON.stringify(json));
  if (options.unlisted !== true) {
    logRequest({
      method,
      path,
      ...(json === undefined ? {} : { body: redactBody(json, options.secrets) }),
      ...(file === undefined ? {} : { file: file.name }),
      ...(accept === undefined ? {} : { accept }),
      isOperator: as === 'operator',
    });
  }
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (accept !== undefined) headers['accept'] = accept;
  const init: RequestInit = { method, headers, cache: 'no-store', credentials: 'omit' };
  if (options.signal !== undefined) init.signal = options.signal;
  if (body !== undefined) init.body = body;
  const response = await fetchResponse(path, init);
  if (!response.ok) throw problem(response.status, errorText(await response.text(), response));
  return response;
}

/** Replaces each secret with a shell variable of its name. */
const redactBody = (json: unknown, secrets: readonly string[] = []): string =>
  JSON.stringify(json, (name, value: unknown) =>
    secrets.includes(name) ? `$${name.toUpperCase()}` : value,
  );

async function fetchResponse(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (reason) {
    if (init.signal?.aborted === true) throw reason;
    throw problem(0, 'Cannot reach the server. Check that it is running.');
  }
}

const problem = (status: number, message: string): Problem => ({ status, message });

const isProblem = (reason: unknown): reason is Problem =>
  typeof reason === 'object' && reason !== null && 'status' in reason && 'message' in reason;

export const toProblem = (reason: unknown): Problem =>
  isProblem(reason)
    ? reason
    : problem(0, reason instanceof Error ? reason.message : String(reason));

/** Finds a header by its suffix, because the server's brand is a prefix of the name. */
function readCount(response: Response, end: string): number {
  for (const [name, value] of response.headers) if (name.endsWith(end)) return Number(value);
  return 0;
}

function errorText(text: string, { status, statusText }: Response): string {
  const message = parseErrorMessage(text) ?? text;
  return message.trim() === '' ? `${status} ${statusText}` : message;
}

function parseErrorMessage(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { readonly message?: unknown; readonly error?: unknown };
    const message = body.message ?? body.error;
    return typeof message === 'string' ? message : undefined;
  } catch {
    // Data routes return errors as plain text.
    return undefined;
  }
}
