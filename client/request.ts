// Sends one request: returns its answer, or throws a failure with its detail; retries where that is safe.

/** A request that the server refused, or that failed there. */
export class TapedeckError extends Error {
  readonly status: number;
  /** The server's type of the problem, such as `OverLimit`; empty where there is none. */
  readonly type: string;
  readonly requestId: string;

  constructor(status: number, sentence: string, type: string, requestId: string) {
    super(sentence);
    this.name = 'TapedeckError';
    this.status = status;
    this.type = type;
    this.requestId = requestId;
  }
}

export interface RequestParts {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

export interface Retries {
  /** Retries after the first try. */
  readonly most: number;
  /** The first wait; each further one is twice as long, at most `waitMsMax`. */
  readonly waitMs: number;
  readonly waitMsMax: number;
}

export const RETRIES: Retries = { most: 5, waitMs: 200, waitMsMax: 30_000 };

type Fetch = typeof globalThis.fetch;

/**
 * Returns the answer of a successful request. 429 and 503 are retried after the server's `Retry-After`; a
 * broken connection only where the method is idempotent.
 * @throws TapedeckError; what `fetch` throws
 */
export async function sendRequest(
  fetch: Fetch,
  request: RequestParts,
  retries: Retries,
): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const answer = await once(fetch, request, tries < retries.most);
    if (answer !== undefined && answer.ok) return answer;
    const again = answer === undefined || answer.status === 429 || answer.status === 503;
    if (answer !== undefined && (!again || tries >= retries.most))
      throw await toTapedeckError(answer);
    await answer?.body?.cancel();
    await pause(retryDelay(answer, tries, retries), request.signal);
  }
}

/** Undefined where the connection broke and a retry is allowed. */
async function once(
  fetch: Fetch,
  request: RequestParts,
  mayTry: boolean,
): Promise<Response | undefined> {
  const { body, headers, method, signal, url } = request;
  try {
    return await fetch(url, {
      method,
      headers,
      ...(signal === undefined ? {} : { signal }),
      ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
    });
  } catch (error) {
    const isRepeatable = method === 'GET' || method === 'PUT' || method === 'DELETE';
    if (!mayTry || !isRepeatable || signal?.aborted === true) throw error;
    return undefined;
  }
}

function retryDelay(
  answer: Response | undefined,
  tries: number,
  { waitMs, waitMsMax }: Retries,
): number {
  const retryAfterMs = Number(answer?.headers.get('retry-after') ?? Number.NaN) * 1_000;
  return Math.min(waitMsMax, Number.isFinite(retryAfterMs) ? retryAfterMs : waitMs * 2 ** tries);
}

export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal?.addEventListener('abort', leave, { once: true });
  });

export async function toTapedeckError(answer: Response): Promise<TapedeckError> {
  const text = await answer.text();
  const requestId = answer.headers.get('x-request-id') ?? '';
  const { detail, title, type } = parseProblem(text);
  const word = typeof type === 'string' ? (type.split(':').at(-1) ?? '') : '';
  const sentence = String(detail ?? title ?? text);
  return new TapedeckError(answer.status, sentence, word, requestId);
}

function parseProblem(text: string): Readonly<Record<string, unknown>> {
  try {
    const problem = JSON.parse(text) as unknown;
    return typeof problem === 'object' && problem !== null
      ? (problem as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

/** Cost of a call. The prefix is the server's brand. */
export function readCosts(headers: Headers): { messages: number; premiumMessages: number } {
  const countMessages = (premium: boolean): number => {
    for (const [name, value] of headers) {
      if (!name.endsWith('messages-used')) continue;
      if (name.includes('-premium-') === premium) return Number(value) || 0;
    }
    return 0;
  };
  return { messages: countMessages(false), premiumMessages: countMessages(true) };
}
