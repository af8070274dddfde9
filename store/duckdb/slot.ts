// Starts and ends child processes, and manages their spill folders.
import module from 'node:module';
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { Failure, reasonOf } from '../base/failure.ts';
import type { ToChild } from './protocol.ts';
import type { RemoteProcess } from './slots.ts';

/** Prefix of the names of body files. */
export const BODY_PREFIX = 'body-';

interface SlotOptions {
  readonly spill?: { readonly folder: string; readonly bytes: number };
  readonly niceness?: number;
}

export const spillFolder = (folder: string, place: number): string => join(folder, `sql-${place}`);

/** Creates and ends the processes of pools. */
export interface ChildProcesses {
  /** Returns a running process without a request. */
  start(niceness: number): ChildProcess;
  /** Ends a process that its pool no longer uses. @param isIdle false if it may still run a statement */
  end(child: ChildProcess, isIdle: boolean): Promise<void>;
}

/**
 * Forks a process for each slot, which ends with its pool. @param script its program @param execArgv options
 * of Node
 */
export const createProcesses = (script: URL, execArgv: readonly string[] = []): ChildProcesses => ({
  start(niceness) {
    // No environment: a child must have no settings and no secrets.
    const child = fork(script, [], {
      serialization: 'advanced',
      execArgv: [...execArgv],
      env: { UV_THREADPOOL_SIZE: '4', ...compileCacheVariable() },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    // Ignores the error event: without a process, `pid` is undefined immediately.
    child.on('error', () => undefined);
    if (child.pid === undefined) throw new Error('the system started no process');
    renice(child.pid, niceness);
    return child;
  },
  async end(child) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  },
});

export const ownProcesses = createProcesses(new URL('./child.ts', import.meta.url));

/** Starts a child. @throws Failure Busy if the machine has too few files, processes or memory. */
export function startChild(
  { niceness = 0, spill }: SlotOptions,
  place: number,
  processes: ChildProcesses,
): ChildProcess {
  try {
    if (spill !== undefined) clearSpill(spillFolder(spill.folder, place));
    return processes.start(niceness);
  } catch (error) {
    const reason = 'a query process could not be started: try again later';
    throw new Failure('Busy', `${reason} (${errorCode(error) ?? reasonOf(error)})`);
  }
}

/** Passes on this process's compile cache, which halves the load time of a child. */
function compileCacheVariable(): Readonly<Record<string, string>> {
  const folder = module.getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

const errorCode = (error: unknown): string | undefined =>
  (error as { readonly code?: string }).code;

/**
 * Sets the niceness immediately, because only threads that start later inherit it. It is never below that of
 * the server itself, which only root may do.
 */
function renice(pid: number, niceness: number): void {
  try {
    setPriority(pid, Math.max(niceness, getPriority()));
  } catch (error) {
    // If it has ended already, its exit event reports that.
    if ((error as { readonly info?: { readonly code?: string } }).info?.code !== 'ESRCH')
      throw error;
  }
}

/** Deletes the spill of a killed child. */
function clearSpill(folder: string): void {
  mkdirSync(folder, { recursive: true });
  // Keeps bodies, which may still be sent.
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(BODY_PREFIX)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

export const send = (child: Pick<RemoteProcess, 'send'>, message: ToChild): void => {
  // A failed send shows as the child's exit, which fails the request.
  child.send(message, () => undefined);
};
