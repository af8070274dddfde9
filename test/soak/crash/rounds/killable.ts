// A server in its own process that can be killed at any moment.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCommand } from '../../../cli/command.ts';

export const TOKENS = {
  publishable: 'pk_0123456789abcdef0123456789abcdef',
  secret: 'sk_0123456789abcdef0123456789abcdef',
} as const;
export const headers = { authorization: `Bearer ${TOKENS.secret}` };

/** A dataset whose records have a day, a number, and room for any symbol. */
export const DATED = {
  datasetId: 'K',
  schema: {
    properties: {
      symbol: { type: 'string' },
      day: { type: 'string', format: 'date' },
      v: { type: 'integer' },
    },
  },
  columnMapping: { key: 'symbol', date: 'day' },
};

export interface Killable {
  readonly base: string;
  readonly publishable: string;
  readonly pid: number;
  /** Sends a signal, SIGKILL by default; resolves when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<unknown>;
}

interface Serving {
  /** Its output so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  readonly child: ChildProcess;
  readonly kill: Killable['kill'];
}

/**
 * Starts a server that may have to wait before it serves.
 * @param children processes to be killed after the test, also after a failure
 * @param settings in addition to those of all such servers
 * @param under command prefix that starts it on another host
 */
export function startServing(
  data: string,
  children: ChildProcess[],
  settings: Readonly<Record<string, string>> = {},
  under: readonly string[] = [],
): Serving {
  const env = {
    TAPEDECK_DATA: data,
    TAPEDECK_PORT: '0',
    TAPEDECK_DEMO: 'off',
    TAPEDECK_LOG: 'silent',
    TAPEDECK_SECRET_TOKEN: TOKENS.secret,
    TAPEDECK_PUBLISHABLE_TOKEN: TOKENS.publishable,
    TAPEDECK_CHILDREN: '1',
    TAPEDECK_RATE_LIMIT: 'off',
    ...settings,
  };
  const { child, ended, output } = startCommand(['serve'], { env, under }, children);
  const kill = (signal: NodeJS.Signals = 'SIGKILL'): Promise<unknown> => {
    child.kill(signal);
    return ended;
  };
  return { child, output, kill };
}

/** Like `startServing`, but waits until it serves. */
export async function killable(
  data: string,
  children: ChildProcess[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Killable> {
  return served(startServing(data, children, settings));
}

export async function served({ child, kill, output }: Serving): Promise<Killable> {
  for (;;) {
    const base = /listens on (\S+)/.exec(output.stdout)?.[1];
    const { pid = 0 } = child;
    if (base !== undefined) return { base, publishable: TOKENS.publishable, pid, kill };
    assert.equal(child.exitCode, null, output.stderr);
    await sleep(20);
  }
}

/** The text of an answer, which must be 200. */
export async function fetchText(
  base: string,
  method: string,
  path: string,
  body?: string,
): Promise<string> {
  const bodyInit = body === undefined ? {} : { body };
  const answer = await fetch(`${base}/v1${path}`, { method, headers, ...bodyInit });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return text;
}
