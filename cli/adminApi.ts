// The operator's commands speak to the admin API: over HTTP beside a running server, else within
// this process on the opened folder. So both are one code path, with one audit log.
import { openUnlistened } from '../api/main.ts';
import { adminToken } from '../store/adminToken.ts';
import { Failure } from '../store/failure.ts';
import type { Settings } from '../store/settings.ts';
import { reachFolder } from './folderAccess.ts';

type Method = 'GET' | 'POST' | 'PATCH';
type Ask = (method: Method, path: string, body?: object) => Promise<unknown>;

/** Runs `work` with a function that asks the admin API; `path` stands below `/v1/admin`. */
export async function withAdmin<T>(settings: Settings, work: (ask: Ask) => Promise<T>): Promise<T> {
  const reached = await reachFolder(settings);
  if (reached.kind === 'server') {
    const token = adminToken(settings.adminToken, reached.folder.adminToken);
    return work(async (method, path, body) => {
      const answer = await fetch(`${reached.server.base}/v1/admin${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return valueOf(answer.status, await answer.text());
    });
  }
  const { core } = reached;
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

/** @throws Failure with the API's own sentence. */
function valueOf(status: number, text: string): unknown {
  if (status < 400) return JSON.parse(text);
  const told = text.startsWith('{')
    ? (JSON.parse(text) as { message?: string; error?: string })
    : {};
  throw new Failure('InvalidParameter', told.message ?? told.error ?? text);
}
