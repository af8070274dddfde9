// `tapedeck completion`: prints the completion script of a shell.
import type { Command } from 'commander';
import { Failure } from '../../store/base/failure.ts';
import { buildCommandTree } from '../print/commandTree.ts';
import { completionScript, SHELLS } from '../print/completionScripts.ts';
import type { Terminal } from '../connect/terminal.ts';

/** @throws Failure InvalidParameter for an unknown shell */
export function printCompletion(name: string, root: Command, terminal: Terminal): void {
  const shell = SHELLS.find((one) => one === name);
  if (shell === undefined) {
    throw new Failure('InvalidParameter', `the shell must be one of ${SHELLS.join(', ')}`);
  }
  terminal.stdout.write(completionScript(shell, buildCommandTree(root)));
}
