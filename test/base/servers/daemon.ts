// Daemons of other projects, as processes of a test: each in a folder of its own, on free ports,
// and ended with the test in every case.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';

/** Python and its libraries take seconds to load on a busy machine. */
const READY_MS = 60_000;
const POLL_MS = 50;
const LOG_CHARACTERS_MAX = 20_000;

// The shell waits for the end of its input, which also occurs when this process ends or is killed.
const GUARDED = `signal=$1; shift; "$@" & child=$!; cat > /dev/null; kill -$signal $child; wait $child`;

interface DaemonOptions {
  readonly command: readonly string[];
  /** Rejects, or answers false, until the daemon serves. */
  readonly isReady: () => Promise<boolean>;
  /** The signal that ends it immediately; TERM by default. */
  readonly signal?: 'TERM' | 'INT' | 'QUIT';
}

/** Waits until it is ready. @throws Error with its output. */
export async function startDaemon(options: DaemonOptions): Promise<AsyncDisposable> {
  const [name = '', ...args] = options.command;
  const shell = ['-c', GUARDED, 'sh', options.signal ?? 'TERM', name, ...args];
  const child = spawn('sh', shell, { stdio: 'pipe' });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log = `${log}${chunk.toString()}`.slice(-LOG_CHARACTERS_MAX);
    });
  }
  const closed = once(child, 'close');
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await closed;
  };
  const until = performance.now() + READY_MS;
  while (!(await options.isReady().catch(() => false))) {
    if (performance.now() > until) {
      await stop();
      throw new Error(`${name} does not start: ${log}`);
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  return { [Symbol.asyncDispose]: stop };
}

/** A port that was free a moment ago; the system gives others before it gives this one again. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The first of `folders`, or of the search path, that has the program. */
export async function programIn(
  name: string,
  folders: readonly string[] = [],
): Promise<string | undefined> {
  for (const folder of [...folders, ...(process.env['PATH'] ?? '').split(delimiter)]) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}
