// The driver's side of a server that watches its event loop.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startedBy } from '../../../base/program.ts';

/** Time limit of a start and of a measurement; a loaded machine takes more than 30 s to start a server. */
const ANSWER_MS_MAX = 120_000;

export interface Watched extends AsyncDisposable {
  readonly base: string;
  readonly port: number;
  readonly folder: string;
  readonly secret: string;
  readonly admin: string;
  /** Longest turn of the loop since the last call, in milliseconds of processor time. */
  stoodStillMs(): Promise<number>;
}

export async function startWatched(): Promise<Watched> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-stalls-'));
  const script = startedBy('test/soak/fuzz/http/loopProcess.ts');
  const flags = ['--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, script, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const next = async (): Promise<string> => {
    const [line] = (await once(lines, 'line', { signal: AbortSignal.timeout(ANSWER_MS_MAX) })) as [
      string,
    ];
    return line;
  };
  const started = await next().catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  const [base = '', secret = '', admin = ''] = started.split(' ');
  const stoodStillMs = async (): Promise<number> => {
    const answer = next();
    child.stdin.write('look\n');
    return Number(await answer);
  };
  const close = async (): Promise<void> => {
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const port = Number(new URL(base).port);
  return { base, port, folder, secret, admin, stoodStillMs, [Symbol.asyncDispose]: close };
}
