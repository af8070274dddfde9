// Sends requests with JSON answers for one workspace.
import { text } from 'node:stream/consumers';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { type CallData, type Method, withFirstAccount } from './dataApi.ts';
import type { Terminal } from './terminal.ts';

/**
 * Sends a request. `path` omits the workspace: `/data-sources/ID?sort=asc`.
 * @throws Failure with the message of the API
 */
export type CallJson = (method: Method, path: string, body?: object) => Promise<unknown>;

/**
 * Runs `work` for a workspace, by default the first one of the account; CORE must be named.
 * @param onInterrupt the action of Ctrl-C, instead of aborting the requests
 */
export async function withWorkspace(
  settings: Settings,
  chosen: string | undefined,
  terminal: Terminal,
  work: (
    call: CallJson,
    workspace: string,
    callData: CallData,
    where: 'core' | 'server',
  ) => Promise<void>,
  onInterrupt?: () => void,
): Promise<void> {
  const abort = new AbortController();
  const forget = terminal.onInterrupt(onInterrupt ?? ((): void => abort.abort()));
  try {
    await withFirstAccount(settings, abort.signal, async (callData, where) => {
      const workspace = chosen ?? (await firstWorkspace(callData));
      const call: CallJson = (method, path, body) => {
        const [, route = '', rest = ''] = /^\/([^/?]+)(.*)$/s.exec(path) ?? [];
        return callJson(
          callData,
          method,
          `/${route}/${encodeURIComponent(workspace)}${rest}`,
          body,
        );
      };
      await work(call, workspace, callData, where);
    });
  } finally {
    forget();
  }
}

/** Returns the default workspace of a command. @throws Failure NotFound if there is none except CORE */
export async function firstWorkspace(callData: CallData): Promise<string> {
  const all = (await callJson(callData, 'GET', '/workspaces')) as readonly {
    readonly workspace: string;
  }[];
  const first = all.find(({ workspace }) => workspace !== CORE);
  if (first !== undefined) return first.workspace;
  throw new Failure('NotFound', `${NO_WORKSPACE}: ${CREATE_WORKSPACE}`);
}

export const NO_WORKSPACE = 'there is no workspace';
const CREATE_WORKSPACE = 'tapedeck workspace create NAME creates one';

export const unknownWorkspaceFailure = (): Failure =>
  new Failure('NotFound', `no such workspace: ${CREATE_WORKSPACE}`);

async function callJson(
  callData: CallData,
  method: Method,
  path: string,
  body?: object,
): Promise<unknown> {
  const payload = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await callData({ method, path, ...payload });
  return JSON.parse(await text(answer.body));
}
