// The command line as a process of its own, with what it told and how it ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { startedBy } from '../base/program.ts';

const MAIN = startedBy('cli/main.ts');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  /** So far. */
  readonly told: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ran>;
}

interface Where {
  readonly env: Readonly<Record<string, string>>;
  /** Words that start what follows them, elsewhere. */
  readonly under?: readonly string[];
  readonly cwd?: string;
}

/** With the modules as they were read before: reading them anew takes a process 1.5 s. */
export const withModules = (env: Readonly<Record<string, string>>): Record<string, string> => {
  const folder = process.env['NODE_COMPILE_CACHE'];
  return folder === undefined ? env : { NODE_COMPILE_CACHE: folder, ...env };
};

/** @param children gets the process, to be killed at the end of the tests */
export function startCommand(
  args: readonly string[],
  where: Where,
  children: ChildProcess[],
): Started {
  const { under = [], ...given } = where;
  const [program = '', ...words] = [...under, process.execPath, MAIN, ...args];
  const child = spawn(program, words, { ...given, env: withModules(given.env) });
  children.push(child);
  const told = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (told.stdout += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (told.stderr += piece));
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code) => resolve({ code, ...told }));
  });
  return { child, told, ended };
}
