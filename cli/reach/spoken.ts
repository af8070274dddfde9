// What it means that an answer of a server was not understood: it is another program, something that stands
// before the server answered in its place, it is of another version, or it hung up.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { VERSION } from '../../store/base/version.ts';
import { requestTo, type ServerDoor } from './serverDoor.ts';

/** So long is waited to learn what a server is. */
const LOOK_MS = 5_000;
/** Of `GET /v1/status`; what is longer is another program's. */
const STATUS_MAX = 10_000;

/** What is wrong with an answer that no server of ours gives. */
export function strangeAnswer(
  { headers, statusCode = 0 }: IncomingMessage,
  { base }: ServerDoor,
): Failure | undefined {
  const type = String(headers['content-type'] ?? 'nothing').split(';')[0];
  if (statusCode >= 300 && statusCode < 400) {
    const where = headers.location ?? 'elsewhere';
    return new Failure('InvalidParameter', `${base} sends to ${where}: name that with --server`);
  }
  if (statusCode < 400 || type === 'application/json' || type === 'application/problem+json') {
    return undefined;
  }
  const told = `${statusCode} and ${type}, not what a Tapedeck server does`;
  return new Failure('InvalidParameter', `${base} answers ${told}`);
}

/** Runs what speaks to a server. @throws Failure that says what the server is, where that was the reason. */
export async function spokenWith<T>(
  door: ServerDoor,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw error;
    throw await meantBy(error, door);
  }
}

async function meantBy(error: unknown, door: ServerDoor): Promise<unknown> {
  const failed = (rule: string): Failure => new Failure('InvalidParameter', `${door.base} ${rule}`);
  if ((error as { readonly code?: string }).code === 'ECONNRESET') {
    return failed('hung up within its answer');
  }
  const version = await versionOf(door);
  const isKnown = version === undefined || version === VERSION;
  const versions = `it is version ${version}, and this command ${VERSION}`;
  if (error instanceof Failure) {
    return isKnown || version === ''
      ? error
      : new Failure(error.type, `${reasonOf(error)} (the server: ${versions})`);
  }
  if (version === '') return failed('is no Tapedeck server, by what it answers to GET /v1/status');
  return isKnown ? error : failed(`answers what this command does not know: ${versions}`);
}

/** Of the server; empty for another program, undefined where it can't be asked. */
async function versionOf(door: ServerDoor): Promise<string | undefined> {
  const signal = AbortSignal.timeout(LOOK_MS);
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = requestTo(door, '/v1/status', { method: 'GET', signal }, resolve);
      asked.once('error', reject);
      asked.end();
    });
    return versionIn(await text(answer.take(STATUS_MAX)));
  } catch {
    return undefined;
  }
}

function versionIn(told: string): string {
  try {
    const { version } = JSON.parse(told) as { readonly version?: unknown };
    return typeof version === 'string' ? version.slice(0, 40) : '';
  } catch {
    return '';
  }
}
