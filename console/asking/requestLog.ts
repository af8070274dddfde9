// The requests that the screen made, as curl: what is shown is what was asked.

interface Asked {
  readonly method: string;
  readonly path: string;
  /** JSON or a query as text; the name of a file that was sent. */
  readonly body?: string;
  readonly file?: string;
  readonly accept?: string;
  readonly isOperator?: boolean;
}

/** More than a screen asks for; the oldest go first. */
const KEPT_MAX = 20;

let log: readonly Asked[] = [];
const listeners = new Set<() => void>();

const keyOf = ({ method, path, body = '' }: Asked): string => `${method} ${path} ${body}`;

/** What is asked again, such as the state of a job, is there once. */
export function noteRequest(asked: Asked): void {
  if (log.some((one) => keyOf(one) === keyOf(asked))) return;
  log = [...log, asked].slice(-KEPT_MAX);
  listeners.forEach((listen) => listen());
}

export function clearRequests(): void {
  log = [];
  listeners.forEach((listen) => listen());
}

export const requestsMade = (): readonly Asked[] => log;

export function onRequests(listen: () => void): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}

/** For a shell: nothing in single quotes is special but the quote itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf(
  { method, path, body, file, accept, isOperator }: Asked,
  base: string,
): string {
  const token = isOperator === true ? '$OPERATOR_TOKEN' : '$TOKEN';
  const parts = [
    ...(method === 'GET' ? ['curl'] : [`curl -X ${method}`]),
    ...(accept === undefined ? [] : ['-N', `-H ${quoted(`Accept: ${accept}`)}`]),
    `-H "Authorization: Bearer ${token}"`,
    ...(body === undefined ? [] : [`--json ${quoted(body)}`]),
    ...(file === undefined ? [] : [`--data-binary ${quoted(`@${file}`)}`]),
    quoted(`${base}${path}`),
  ];
  return parts.join(' ');
}
