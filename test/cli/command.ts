// The command line as a process of its own, with its output and its exit code.
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
  /** Output so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ran>;
}

interface Where {
  readonly env: Readonly<Record<string, string>>;
  /** Words of a wrapper command that starts the command elsewhere. */
  readonly under?: readonly string[];
  readonly cwd?: string;
}

/** Reuses the compile cache of modules: reading them again takes a process 1.5 s. */
export const withModules = (env: Readonly<Record<string, string>>): Record<string, string> => {
  const folder = process.env['NODE_COMPILE_CACHE'];
  return folder === undefined ? env : { NODE_COMPILE_CACHE: folder, ...env };
};

/** @param children receives the process, to be killed at the end of the tests */
export function startCommand(
  args: readonly string[],
  where: Where,
  children: ChildProcess[],
): Started {
  const { under = [], ...options } = where;
  const [program = '', ...words] = [...under, process.execPath, MAIN, ...args];
  const child = spawn(program, words, { ...options, env: withModules(options.env) });
  children.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (output.stdout += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (output.stderr += piece));
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code) => resolve({ code, ...output }));
  });
  return { child, output, ended };
}
