// Child processes that decode bytes of strangers. A file can end its decoder, by memory, by time or by a
// fault of a library, and nothing else. One idle process is kept for the next file, because to start one
// takes 80 ms.
import type { ChildProcess } from 'node:child_process';
import { Failure } from '../../../store/base/failure.ts';
import { type ChildProcesses, processesOf } from '../../../store/duckdb/slot.ts';
import { NoDataFailure } from '../../bytes/noData.ts';
import type { Workbench } from '../../bytes/workbench.ts';
import type { DecodeAnswer, DecodeTask } from './decoderChild.ts';

/** Memory of JavaScript in a decoder; buffers of a batch are beside it. */
const HEAP_MIB = 512;
/** Decoders that run concurrently, and files that wait for one: one more is refused with 503. */
const CONCURRENCY = 4;
const WAITING_MAX = 256;
/** An idle decoder ends after so long. */
const IDLE_MS = 30_000;
/** It gives way to reads, as DuckDB's processes of loads do. */
const NICENESS = 10;

const decoderProcesses: ChildProcesses = processesOf(
  new URL('./decoderChild.ts', import.meta.url),
  [`--max-old-space-size=${HEAP_MIB}`],
);

interface Idle {
  readonly child: ChildProcess;
  readonly timer: NodeJS.Timeout;
}

let idle: Idle | undefined;
let running = 0;
const waiting: (() => void)[] = [];

type Decoded = Extract<
  DecodeAnswer,
  { readonly kind: 'checked' | 'columns' | 'json' | 'unpacked' }
>;

/**
 * Decodes a file in a process of its own.
 * @throws NoDataFailure, Failure InvalidBody, TooLarge, DiskFull, TimedOut; ChildLost where the process
 * was killed from outside, and Busy where none can be started or too many files wait: the same file may
 * go well
 */
export async function decode(
  task: DecodeTask,
  { deadlineMs, signal }: Pick<Workbench, 'deadlineMs' | 'signal'>,
): Promise<Decoded> {
  signal?.throwIfAborted();
  await takePlace();
  try {
    return checkAnswer(await runTask(task, takeChild(), deadlineMs, signal));
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function takePlace(): Promise<void> {
  if (running >= CONCURRENCY) {
    if (waiting.length >= WAITING_MAX) {
      throw new Failure('Busy', `${WAITING_MAX} files wait to be decoded: try again later`);
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  running += 1;
}

/** Ends the idle process; those that run end with their files. */
export async function closeDecoders(): Promise<void> {
  const kept = idle;
  idle = undefined;
  if (kept === undefined) return;
  clearTimeout(kept.timer);
  await decoderProcesses.end(kept.child, true);
}

function takeChild(): ChildProcess {
  const kept = idle;
  idle = undefined;
  if (kept === undefined) return startChild();
  clearTimeout(kept.timer);
  kept.child.removeAllListeners('exit');
  kept.child.ref();
  kept.child.channel?.ref();
  return kept.child;
}

function startChild(): ChildProcess {
  try {
    return decoderProcesses.start(NICENESS);
  } catch {
    throw new Failure('Busy', 'a process to decode the file could not be started: try again later');
  }
}

/** Keeps it for the next file. It does not keep the server, and ends with it. */
function keepChild(child: ChildProcess): void {
  if (idle !== undefined || !child.connected) {
    child.kill('SIGKILL');
    return;
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), IDLE_MS).unref();
  idle = { child, timer };
  child.once('exit', () => {
    clearTimeout(timer);
    if (idle?.child === child) idle = undefined;
  });
  child.unref();
  child.channel?.unref();
}

function runTask(
  task: DecodeTask,
  child: ChildProcess,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<DecodeAnswer> {
  return new Promise<DecodeAnswer>((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      child.removeAllListeners('message').removeAllListeners('exit');
    };
    const fail = (error: unknown): void => {
      settle();
      child.kill('SIGKILL');
      reject(error);
    };
    const abort = (): void => fail(signal?.reason);
    const timer = setTimeout(() => {
      fail(new Failure('TimedOut', `the body took over ${deadlineMs} ms to decode`));
    }, deadlineMs);
    signal?.addEventListener('abort', abort, { once: true });
    child.once('message', (answer: DecodeAnswer) => {
      settle();
      keepChild(child);
      resolve(answer);
    });
    child.once('exit', (_code, name) => fail(explainExit(name)));
    child.send(task, (error) => {
      if (error !== null) fail(explainExit('SIGKILL'));
    });
  });
}

/** A process that the file ended aborts; one that the system or a person ended is killed. */
function explainExit(name: NodeJS.Signals | null): Failure {
  if (name === 'SIGKILL' || name === 'SIGTERM') {
    return new Failure('ChildLost', 'the process that decoded the body was ended; try again');
  }
  const why = `it is damaged, or needs more than ${HEAP_MIB} MiB of memory`;
  return new Failure('InvalidBody', `the body could not be decoded: ${why}`);
}

function checkAnswer(answer: DecodeAnswer): Decoded {
  if (answer.kind === 'none') throw new NoDataFailure(answer.what);
  if (answer.kind === 'failed') throw new Failure(answer.type, answer.reason);
  return answer;
}
