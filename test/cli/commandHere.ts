// The command line within this process, with its output and its exit code: starting a process takes longer
// than most commands.
import { Readable, Writable } from 'node:stream';
import { runCommand } from '../../cli/runCommand.ts';
import { stockedProcesses } from '../base/childStock.ts';
import type { TestServer } from '../base/server.ts';
import { stockedThreads } from '../base/threadStock.ts';
import type { Ran } from './command.ts';

interface Where {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Text of the standard input. */
  readonly input?: string;
  /** The standard input is a terminal. */
  readonly isTTY?: true;
}

export async function runHere(
  args: readonly string[],
  { cwd = process.cwd(), env, input = '', isTTY }: Where,
): Promise<Ran> {
  let code = 0;
  const [stdout, stderr] = [collecting(), collecting()];
  const inputStream = Readable.from([Buffer.from(input)]);
  const stdin = isTTY === undefined ? inputStream : Object.assign(inputStream, { isTTY });
  const terminal = {
    stdin,
    stdout,
    stderr,
    folder: cwd,
    endWith: (exitCode: number): void => void (code = exitCode),
    onInterrupt: () => () => undefined,
    stocks: {
      processes: stockedProcesses,
      threads: stockedThreads,
    },
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

/** Settings of a command that calls a server of this process. */
export const commandEnv = ({
  folder,
  publishable,
  secret,
}: Pick<TestServer, 'folder' | 'publishable' | 'secret'>): Readonly<Record<string, string>> => ({
  TAPEDECK_DATA: folder,
  TAPEDECK_DEMO: 'off',
  TAPEDECK_LOG: 'silent',
  TAPEDECK_CHILDREN: '1',
  TAPEDECK_PUBLISHABLE_TOKEN: publishable,
  TAPEDECK_SECRET_TOKEN: secret,
});
