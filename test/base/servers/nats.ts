// NATS with JetStream in a folder of its own, on a free port of this machine.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, programIn, startDaemon } from './daemon.ts';

export interface Nats extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Ends it, and restarts it when `up` is called: with its data, or without. */
  down(): Promise<{ up(has?: 'all' | 'nothing'): Promise<void> }>;
  /** It runs but does not answer until `up` is called. */
  asleep(): Promise<{ up(): Promise<void> }>;
}

/** Undefined where the machine has no NATS. */
export async function startNats(): Promise<Nats | undefined> {
  const program = await programIn('nats-server', ['/usr/sbin']);
  if (program === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-nats-'));
  const port = await freePort();
  const [store, pidFile] = [join(folder, 'store'), join(folder, 'pid')];
  const start = (): Promise<AsyncDisposable> =>
    startDaemon({
      command: [program, '-js', '-sd', store, '-a', '127.0.0.1', '-p', `${port}`, '-P', pidFile],
      isReady: () => greets(port),
    });
  let daemon = await start();
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    down: async () => {
      await daemon[Symbol.asyncDispose]();
      return {
        up: async (has = 'all') => {
          if (has === 'nothing') await rm(store, { recursive: true, force: true });
          daemon = await start();
        },
      };
    },
    asleep: async () => {
      const pid = Number(await readFile(pidFile, 'utf8'));
      process.kill(pid, 'SIGSTOP');
      return { up: async () => void process.kill(pid, 'SIGCONT') };
    },
    [Symbol.asyncDispose]: async () => {
      await daemon[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** It sends its identity to every client. */
async function greets(port: number): Promise<boolean> {
  const socket = createConnection({ host: '127.0.0.1', port });
  try {
    const [first] = (await once(socket, 'data')) as [Buffer];
    return first.toString().startsWith('INFO');
  } finally {
    socket.destroy();
  }
}
