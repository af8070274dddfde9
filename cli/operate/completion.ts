// `tapedeck completion`: the script by which a shell completes what is typed.
import type { Command } from 'commander';
import { Failure } from '../../store/base/failure.ts';
import { treeOf } from '../print/commandTree.ts';
import { completionScript, SHELLS } from '../print/completionScripts.ts';
import type { Terminal } from '../reach/terminal.ts';

/** @throws Failure InvalidParameter for a shell that it does not know. */
export function printCompletion(name: string, root: Command, terminal: Terminal): void {
  const shell = SHELLS.find((one) => one === name);
  if (shell === undefined) {
    throw new Failure('InvalidParameter', `the shell must be one of ${SHELLS.join(', ')}`);
  }
  terminal.stdout.write(completionScript(shell, treeOf(root)));
}
