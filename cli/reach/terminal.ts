// Where a command runs: what it reads and writes, the folder it stands in, and how it ends. A process has
// one of its own.
import type { Readable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import type { Seams } from '../../app/core.ts';

type Input = Readable & { readonly isTTY?: boolean };

/** A stream that may be the screen of a person. */
export type Output = NodeJS.WritableStream &
  Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'hasColors'>>;

export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Relative paths of a command line begin here. */
  readonly folder: string;
  /** The exit code; it is 0 as long as nobody says another. */
  endWith(code: number): void;
  /** What Ctrl-C does from now on; the answer takes it back. */
  onInterrupt(act: () => void): () => void;
  /** Where a command that opens the folder has its processes and threads from; its own when absent. */
  readonly stocks?: Stocks;
}

export type Stocks = Pick<Seams, 'processes' | 'threads'>;

export function processTerminal(): Terminal {
  // Whoever reads may stop reading (`| head`): what follows is told to nobody, and the command does its work.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return { ...PROCESS, folder: process.cwd() };
}

const PROCESS: Omit<Terminal, 'folder'> = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  endWith: (code) => (process.exitCode = code),
  onInterrupt: (act) => {
    process.once('SIGINT', act);
    return () => process.off('SIGINT', act);
  },
};

/** What Ctrl-C does, and whoever stops reading, from now on; the answer takes it back. */
export function onEnough({ onInterrupt, stdout }: Terminal, act: () => void): () => void {
  const forget = onInterrupt(act);
  stdout.once('close', act);
  return () => {
    stdout.off('close', act);
    forget();
  };
}

/** Writes lines to the standard output. */
export const sayTo =
  ({ stdout }: Terminal) =>
  (line: string): void =>
    void stdout.write(`${line}\n`);
