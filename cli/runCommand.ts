// Runs one command on a terminal. It changes nothing of the process, so that several can run in one process.
import { CommanderError } from 'commander';
import { reasonOf } from '../store/base/failure.ts';
import { readSettings, type Settings } from '../store/base/settings/settings.ts';
import { program, type ServerOptions } from './program.ts';
import type { Terminal } from './connect/terminal.ts';

/** @param args the arguments after the program's name @param variables of the environment, by name */
export async function runCommand(
  args: readonly string[],
  terminal: Terminal,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { stocks } = terminal;
  try {
    const root = program((): Settings => {
      const { ca, server, token } = root.opts<ServerOptions>();
      const flags = { TAPEDECK_CA: ca, TAPEDECK_SERVER: server, TAPEDECK_TOKEN: token };
      const setFlags = Object.entries(flags).filter(([, value]) => value !== undefined);
      const read = readSettings({ ...variables, ...Object.fromEntries(setFlags) });
      return Object.assign(read, stocks === undefined ? {} : { stocks });
    }, terminal);
    await root.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Help raises one too, and errors of the command line have been printed.
    if (error instanceof CommanderError) return terminal.endWith(error.exitCode);
    terminal.stderr.write(`tapedeck: ${reasonOf(error)}\n`);
    terminal.endWith(1);
  }
}
