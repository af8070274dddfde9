// Shows the tokens of a first start. If the output is no terminal it may be a log that others read and store:
// then only the file with the tokens is named.
import type { Core } from '../../app/core.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';

export function showFirstTokens(
  { madeTokens, services }: Pick<Core, 'madeTokens' | 'services'>,
  terminal: Terminal,
): void {
  const print = printTo(terminal);
  const { publishableToken, secretToken } = services.settings;
  if (terminal.stdout.isTTY === true) {
    for (const { kind, text } of madeTokens) print(`  ${kind} token: ${text}`);
  } else if (madeTokens.some(({ text }) => text !== publishableToken && text !== secretToken)) {
    const { firstTokens } = services.folder;
    print(`  tokens: in ${firstTokens}, or by \`tapedeck tokens list --show\``);
  }
}
