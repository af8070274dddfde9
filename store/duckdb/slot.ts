// A place for one child process, and what it leaves on the disk.
import module from 'node:module';
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { Failure, reasonOf } from '../base/failure.ts';
import type { ToChild } from './protocol.ts';
import type { LentProcess } from './slots.ts';

/** Names of files that hold bodies begin with it. */
export const BODY_PREFIX = 'body-';

interface SlotOptions {
  readonly spill?: { readonly folder: string; readonly bytes: number };
  readonly niceness?: number;
}

export const spillFolder = (folder: string, place: number): string => join(folder, `sql-${place}`);

/** Where the processes of pools come from, and what becomes of them. */
export interface ChildProcesses {
  /** A process that is there when this returns, and runs nothing. */
  start(niceness: number): ChildProcess;
  /** Its pool asks it nothing more. @param isIdle false when it may still run a statement */
  end(child: ChildProcess, isIdle: boolean): Promise<void>;
}

/**
 * A process for each place, which ends with its pool. @param script what it runs @param execArgv options
 * of Node
 */
export const processesOf = (script: URL, execArgv: readonly string[] = []): ChildProcesses => ({
  start(niceness) {
    // No environment: a child knows no setting and no secret.
    const child = fork(script, [], {
      serialization: 'advanced',
      execArgv: [...execArgv],
      env: { UV_THREADPOOL_SIZE: '4', ...compiled() },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    // What failed is told by an event; that there is no process can be seen at once.
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

export const ownProcesses = processesOf(new URL('./child.ts', import.meta.url));

/** @throws Failure Busy when the machine has no room for a process: no file, no process, no memory. */
export function startChild(
  { niceness = 0, spill }: SlotOptions,
  place: number,
  processes: ChildProcesses,
): ChildProcess {
  try {
    if (spill !== undefined) clearSpill(spillFolder(spill.folder, place));
    return processes.start(niceness);
  } catch (error) {
    const told = 'a query process could not be started: try again later';
    throw new Failure('Busy', `${told} (${codeOf(error) ?? reasonOf(error)})`);
  }
}

/** Where this process keeps its compiled modules, if it does: a child reads them in half of the time. */
function compiled(): Readonly<Record<string, string>> {
  const folder = module.getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

const codeOf = (error: unknown): string | undefined => (error as { readonly code?: string }).code;

/**
 * At once: the threads that it starts inherit it, those that run already would not change. Never before the
 * server itself: where that was started with `nice`, only root may.
 */
function renice(pid: number, niceness: number): void {
  try {
    setPriority(pid, Math.max(niceness, getPriority()));
  } catch (error) {
    // One that has ended already is told by its exit.
    if ((error as { readonly info?: { readonly code?: string } }).info?.code !== 'ESRCH')
      throw error;
  }
}

/** What a killed child had spilled is nobody's. */
function clearSpill(folder: string): void {
  mkdirSync(folder, { recursive: true });
  // Bodies are on their way to somebody yet.
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(BODY_PREFIX)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

export const send = (child: Pick<LentProcess, 'send'>, message: ToChild): void => {
  // A failed send shows as the child's exit, which fails the request.
  child.send(message, () => undefined);
};
