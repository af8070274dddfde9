// Shows the tokens of a first start. Output that is no terminal ends in a log, which others read and keep:
// only the file that has them is named there.
import type { Core } from '../../app/core.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

export function showFirstTokens(
  { madeTokens, services }: Pick<Core, 'madeTokens' | 'services'>,
  terminal: Terminal,
): void {
  const say = sayTo(terminal);
  const { publishableToken, secretToken } = services.settings;
  if (terminal.stdout.isTTY === true) {
    for (const { kind, text } of madeTokens) say(`  ${kind} token: ${text}`);
  } else if (madeTokens.some(({ text }) => text !== publishableToken && text !== secretToken)) {
    const { firstTokens } = services.folder;
    say(`  tokens: in ${firstTokens}, or by \`tapedeck tokens list --show\``);
  }
}
