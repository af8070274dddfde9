// Calls the admin API for the operator's commands: over HTTP while a server runs, else in this process on the
// opened folder. Both are one code path, with one audit log.
import { text } from 'node:stream/consumers';
import { loadAdminToken } from '../../store/catalog/secrets/adminToken.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import { reachFolder } from './folderAccess.ts';
import { explainFailures, findStrangeAnswer } from './serverErrors.ts';
import { openRequest, type ServerEndpoint, toConnectionFailure } from './serverEndpoint.ts';

type Method = 'GET' | 'POST' | 'PATCH';
type CallAdmin = (method: Method, path: string, body?: object) => Promise<unknown>;

/** Runs `work` with a function that calls the admin API; `path` is relative to `/v1/admin`. */
export async function withAdmin<T>(
  settings: Settings,
  work: (call: CallAdmin) => Promise<T>,
): Promise<T> {
  const reached = await reachFolder(settings);
  if (reached.kind === 'server') {
    const token = tokenFor(reached.folder, settings);
    return explainFailures(reached.server, new AbortController().signal, () =>
      work(async (method, path, body) => {
        const answer = await sendRequest(reached.server, method, `/v1/admin${path}`, token, body);
        return valueOf(answer.status, answer.text);
      }),
    );
  }
  const { core } = reached;
  const { openUnlistened } = await import('../../app/main.ts');
  const server = await openUnlistened(core);
  try {
    return await work(async (method, path, body) => {
      const answer = await server.inject({
        method,
        url: `/v1/admin${path}`,
        headers: { authorization: `Bearer ${core.services.adminToken}` },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      return valueOf(answer.statusCode, answer.body);
    });
  } finally {
    await server.close();
    await core.close();
  }
}

/** @throws Failure NoKey if a server is named without a token of its operator */
function tokenFor(folder: Folder | undefined, { adminToken: own, token }: Settings): string {
  if (folder !== undefined) return loadAdminToken(own, folder.adminToken);
  if (token !== '' || own !== '') return token === '' ? own : token;
  const rule = 'the operator of a named server needs its admin token';
  throw new Failure('NoKey', `${rule}: --token, or TAPEDECK_ADMIN_TOKEN`);
}

/** Sends a request without a timeout: a backup may need hours. */
async function sendRequest(
  door: ServerEndpoint,
  method: Method,
  path: string,
  token: string,
  body: object | undefined,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const request = openRequest(door, path, { method, headers }, (answer) => {
      const strange = findStrangeAnswer(answer, door);
      if (strange !== undefined) {
        request.destroy(strange);
        return;
      }
      text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, text: read }), reject);
    });
    request.once('error', (error) => reject(toConnectionFailure(error, door)));
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** @throws Failure with the message of the API */
function valueOf(status: number, body: string): unknown {
  if (status < 400) return JSON.parse(body);
  const failure = body.startsWith('{')
    ? (JSON.parse(body) as { message?: string; error?: string })
    : {};
  throw new Failure('InvalidParameter', failure.message ?? failure.error ?? body);
}
