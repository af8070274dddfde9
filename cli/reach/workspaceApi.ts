// How commands ask of one workspace what has a JSON answer.
import { text } from 'node:stream/consumers';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { type AskData, type Method, withFirstAccount } from './dataApi.ts';
import type { Terminal } from './terminal.ts';

/**
 * `path` begins with what stands before the workspace: `/data-sources/ID?sort=asc`.
 * @throws Failure with the API's own sentence.
 */
export type AskValue = (method: Method, path: string, body?: object) => Promise<unknown>;

/**
 * Runs `work` for a workspace, the first one of the account when none is given: CORE must be named.
 * @param onInterrupt what Ctrl-C does, instead of aborting what is asked
 */
export async function withWorkspace(
  settings: Settings,
  given: string | undefined,
  terminal: Terminal,
  work: (
    ask: AskValue,
    workspace: string,
    askData: AskData,
    where: 'core' | 'server',
  ) => Promise<void>,
  onInterrupt?: () => void,
): Promise<void> {
  const abort = new AbortController();
  const forget = terminal.onInterrupt(onInterrupt ?? ((): void => abort.abort()));
  try {
    await withFirstAccount(settings, abort.signal, async (askData, where) => {
      const workspace = given ?? (await firstWorkspace(askData));
      const ask: AskValue = (method, path, body) => {
        const [, route = '', rest = ''] = /^\/([^/?]+)(.*)$/s.exec(path) ?? [];
        return valueOf(askData, method, `/${route}/${encodeURIComponent(workspace)}${rest}`, body);
      };
      await work(ask, workspace, askData, where);
    });
  } finally {
    forget();
  }
}

/** Where a command works that names none. @throws Failure NotFound where there is none but CORE. */
export async function firstWorkspace(askData: AskData): Promise<string> {
  const all = (await valueOf(askData, 'GET', '/workspaces')) as readonly {
    readonly workspace: string;
  }[];
  const first = all.find(({ workspace }) => workspace !== CORE);
  if (first !== undefined) return first.workspace;
  throw new Failure('NotFound', 'there is no workspace: tapedeck workspace create NAME makes one');
}

async function valueOf(
  askData: AskData,
  method: Method,
  path: string,
  body?: object,
): Promise<unknown> {
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await askData({ method, path, ...given });
  return JSON.parse(await text(answer.body));
}
