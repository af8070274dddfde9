// Child processes that decode untrusted bytes. A file can end only its own decoder, by memory, by time or
// by a fault of a library. One idle process is kept for the next file, because to start one
// takes 80 ms.
import type { ChildProcess } from 'node:child_process';
import { Failure } from '../../../store/base/failure.ts';
import { type ChildProcesses, createProcesses } from '../../../store/duckdb/slot.ts';
import { NoDataFailure, UNDECODABLE } from '../../bytes/noData.ts';
import type { Workbench } from '../../bytes/workbench.ts';
import type { DecodeAnswer, DecodeTask } from './decoderChild.ts';

/** JavaScript heap of a decoder; buffers of a batch are allocated outside of it. */
const HEAP_MIB = 512;
/** Decoders that run concurrently, and files that wait for one: above that, a file is refused with 503. */
const CONCURRENCY = 4;
const WAITING_MAX = 256;
/** Idle time after which a decoder ends. */
const IDLE_MS = 30_000;
/** Runs at lower priority than reads, like DuckDB's processes for loads. */
const NICENESS = 10;

const decoderProcesses: ChildProcesses = createProcesses(
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
  { readonly kind: 'checked' | 'columns' | 'copied' | 'json' | 'schema' | 'unpacked' }
>;

/**
 * Decodes a file in a separate process.
 * @throws NoDataFailure, Failure InvalidBody, TooLarge, DiskFull, TimedOut; ChildLost if the process was
 * killed from outside, and Busy if none can be started or too many files wait: a retry of the same file may
 * succeed
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

/** Ends the idle process; running ones end with their files. */
export async function closeDecoders(): Promise<void> {
  const last = idle;
  idle = undefined;
  if (last === undefined) return;
  clearTimeout(last.timer);
  await decoderProcesses.end(last.child, true);
}

function takeChild(): ChildProcess {
  const last = idle;
  idle = undefined;
  if (last === undefined) return startChild();
  clearTimeout(last.timer);
  last.child.removeAllListeners('exit');
  last.child.ref();
  last.child.channel?.ref();
  return last.child;
}

function startChild(): ChildProcess {
  try {
    return decoderProcesses.start(NICENESS);
  } catch {
    throw new Failure('Busy', 'a process to decode the file could not be started: try again later');
  }
}

/** Keeps a process for the next file. It does not keep the server running, and ends with it. */
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

/** A process that crashes on its file aborts; one ended by the system or a person is killed. */
function explainExit(name: NodeJS.Signals | null): Failure {
  if (name === 'SIGKILL' || name === 'SIGTERM') {
    return new Failure('ChildLost', 'the process that decoded the body was ended; try again');
  }
  const why = `it is damaged, or needs more than ${HEAP_MIB} MiB of memory`;
  return new Failure('InvalidBody', `${UNDECODABLE}: ${why}`);
}

function checkAnswer(answer: DecodeAnswer): Decoded {
  if (answer.kind === 'none') throw new NoDataFailure(answer.what);
  if (answer.kind === 'failed') throw new Failure(answer.type, answer.reason);
  return answer;
}
