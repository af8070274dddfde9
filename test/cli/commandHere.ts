// The command line within this process, with what it told and how it ended: starting a process takes
// more than most commands do.
import { Readable, Writable } from 'node:stream';
import { runCommand } from '../../cli/runCommand.ts';
import type { Ran } from './command.ts';

interface Where {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What the standard input says. */
  readonly input?: string;
}

export async function runHere(
  args: readonly string[],
  { cwd = process.cwd(), env, input = '' }: Where,
): Promise<Ran> {
  let code = 0;
  const [stdout, stderr] = [collecting(), collecting()];
  const terminal = {
    ...{ stdin: Readable.from([Buffer.from(input)]), stdout, stderr, folder: cwd },
    endWith: (given: number): void => void (code = given),
    // Nobody is there to interrupt: that is for processes (command.ts).
    onInterrupt: () => () => undefined,
  };
  await runCommand(args, terminal, env);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collecting(): Writable & { text(): string } {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  return Object.assign(stream, { text: () => Buffer.concat(pieces).toString() });
}
