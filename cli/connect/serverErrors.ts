// Explains an answer that was not understood: it is from another program or a proxy, from a server of another
// version, or the connection was closed.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { VERSION } from '../../store/base/version.ts';
import { openRequest, type ServerEndpoint } from './serverEndpoint.ts';

/** Deadline of the request that identifies a server. */
const STATUS_TIMEOUT_MS = 5_000;
/** Bytes of `GET /v1/status`; a longer answer is from another program. */
const STATUS_MAX = 10_000;

/** Explains an answer that no Tapedeck server sends. */
export function findStrangeAnswer(
  { headers, statusCode = 0 }: IncomingMessage,
  { base }: ServerEndpoint,
): Failure | undefined {
  const type = String(headers['content-type'] ?? 'nothing').split(';')[0];
  if (statusCode >= 300 && statusCode < 400) {
    const where = headers.location ?? 'elsewhere';
    return new Failure(
      'InvalidParameter',
      `${base} redirects to ${where}: pass that with --server`,
    );
  }
  if (statusCode < 400 || type === 'application/json' || type === 'application/problem+json') {
    return undefined;
  }
  const answerText = `${statusCode} and ${type}, not what a Tapedeck server does`;
  return new Failure('InvalidParameter', `${base} answers ${answerText}`);
}

/** Runs requests to a server. @throws Failure that explains what the server is, if that is the cause */
export async function explainFailures<T>(
  door: ServerEndpoint,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw error;
    throw await explainFailure(error, door);
  }
}

async function explainFailure(error: unknown, door: ServerEndpoint): Promise<unknown> {
  const failed = (rule: string): Failure => new Failure('InvalidParameter', `${door.base} ${rule}`);
  if ((error as { readonly code?: string }).code === 'ECONNRESET') {
    return failed('closed the connection during its answer');
  }
  const version = await fetchVersion(door);
  const isKnown = version === undefined || version === VERSION;
  const versions = `it is version ${version}, and this command ${VERSION}`;
  if (error instanceof Failure) {
    return isKnown || version === ''
      ? error
      : new Failure(error.type, `${reasonOf(error)} (the server: ${versions})`);
  }
  if (version === '')
    return failed('is no Tapedeck server, according to its answer to GET /v1/status');
  return isKnown
    ? error
    : failed(`sent an answer that this command does not understand: ${versions}`);
}

/** Requests the server's version; empty for another program, undefined if it does not answer. */
async function fetchVersion(door: ServerEndpoint): Promise<string | undefined> {
  const signal = AbortSignal.timeout(STATUS_TIMEOUT_MS);
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = openRequest(door, '/v1/status', { method: 'GET', signal }, resolve);
      request.once('error', reject);
      request.end();
    });
    return versionIn(await text(answer.take(STATUS_MAX)));
  } catch {
    return undefined;
  }
}

function versionIn(answerText: string): string {
  try {
    const { version } = JSON.parse(answerText) as { readonly version?: unknown };
    return typeof version === 'string' ? version.slice(0, 40) : '';
  } catch {
    return '';
  }
}
