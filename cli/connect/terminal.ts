// The environment of a command: its streams, its working folder, and its exit code. A process has one of its
// own.
import type { Readable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import type { Seams } from '../../app/core.ts';

type Input = Readable & { readonly isTTY?: boolean };

/** A stream that may be a terminal. */
export type Output = NodeJS.WritableStream &
  Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'hasColors'>>;

export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The working folder: relative paths of a command line start here. */
  readonly folder: string;
  /** Sets the exit code; the default is 0. */
  endWith(code: number): void;
  /** Sets the action of Ctrl-C; the returned function removes it. */
  onInterrupt(act: () => void): () => void;
  /** Shared processes and threads for a command that opens the folder; its own when absent. */
  readonly stocks?: Stocks;
}

export type Stocks = Pick<Seams, 'processes' | 'threads'>;

export function processTerminal(): Terminal {
  // A reader may close the pipe (`| head`): further output is dropped, and the command completes its work.
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

/** Sets the action of Ctrl-C and of a closed output; the returned function removes it. */
export function onInterruptOrClose({ onInterrupt, stdout }: Terminal, act: () => void): () => void {
  const forget = onInterrupt(act);
  stdout.once('close', act);
  return () => {
    stdout.off('close', act);
    forget();
  };
}

/** Writes lines to the standard output. */
export const printTo =
  ({ stdout }: Terminal) =>
  (line: string): void =>
    void stdout.write(`${line}\n`);
