// Log of the requests of the current screen, which the console shows as curl commands.

interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  /** JSON text of the body. */
  readonly body?: string;
  /** Name of the uploaded file. */
  readonly file?: string;
  readonly accept?: string;
  readonly isOperator?: boolean;
}

/** More than any screen sends; the oldest entries are dropped. */
const LOG_SIZE_MAX = 20;

let log: readonly LoggedRequest[] = [];
const listeners = new Set<() => void>();

const requestKey = ({ method, path, body = '' }: LoggedRequest): string =>
  `${method} ${path} ${body}`;

/** Adds a request. Repeated requests, such as polls of a job, are logged once. */
export function logRequest(request: LoggedRequest): void {
  if (log.some((one) => requestKey(one) === requestKey(request))) return;
  log = [...log, request].slice(-LOG_SIZE_MAX);
  listeners.forEach((listen) => listen());
}

export function clearRequests(): void {
  log = [];
  listeners.forEach((listen) => listen());
}

export const loggedRequests = (): readonly LoggedRequest[] => log;

export function onRequests(listen: () => void): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}

/** Quotes a shell argument; only the single quote itself needs escaping. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function formatCurl(
  { method, path, body, file, accept, isOperator }: LoggedRequest,
  base: string,
): string {
  const token = isOperator === true ? '$OPERATOR_TOKEN' : '$TOKEN';
  const parts = [
    ...(method === 'GET' ? ['curl'] : [`curl -X ${method}`]),
    ...(accept === undefined ? [] : ['-N', `-H ${shellQuote(`Accept: ${accept}`)}`]),
    `-H "Authorization: Bearer ${token}"`,
    ...(body === undefined ? [] : [`--json ${shellQuote(body)}`]),
    ...(file === undefined ? [] : [`--data-binary ${shellQuote(`@${file}`)}`]),
    shellQuote(`${base}${path}`),
  ];
  return parts.join(' ');
}
