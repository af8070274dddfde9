// Measures commands and a second start, including npm: against loading the whole server, which every command
// once did, and against an empty npm script.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type Ratio, measureRatio, roundFigure, measureMs } from './base/measure.ts';

const ROOT = join(import.meta.dirname, '..');
const MAIN = join(ROOT, 'cli/main.ts');
/** Modules that every command loaded before imports became lazy. */
const EVERYTHING = `await import(${JSON.stringify(join(ROOT, 'app/main.ts'))});
  await import(${JSON.stringify(join(ROOT, 'cli/program.ts'))})`;

const run = promisify(execFile);

type Environment = Readonly<Record<string, string | undefined>>;

export async function benchStart(folder: string, pairs: number): Promise<readonly Ratio[]> {
  const data = join(folder, 'data');
  const settings = {
    TAPEDECK_DATA: data,
    TAPEDECK_PORT: '0',
    TAPEDECK_DEMO: 'off',
    TAPEDECK_LOG: 'silent',
  };
  const env: Environment = { ...process.env, ...settings };
  const node = (...words: readonly string[]): Promise<number> =>
    measureMs(() => run(process.execPath, words, { env, cwd: ROOT }));
  const everything = (): Promise<number> => node('--input-type=module', '-e', EVERYTHING);
  const bench = { target: '>= 2.5 (0.4 of the time)', pairs };
  const help = await measureRatio(
    { ...bench, name: 'start: tapedeck --help, against loading the server' },
    () => node(MAIN, '--help'),
    everything,
  );
  await node(MAIN, 'workspace', 'create', 'WS');
  const server = await startNpm(ROOT, env);
  const sqlRatio = await measureRatio(
    { ...bench, name: 'start: tapedeck sql beside a server, against loading the server' },
    () => node(MAIN, 'sql', 'SELECT 1 AS one'),
    everything,
  ).finally(() => server.stop());
  return [help, sqlRatio, await secondStart(folder, env, pairs)];
}

/** Measures a start on an existing folder with compiled modules. */
async function secondStart(folder: string, env: Environment, pairs: number): Promise<Ratio> {
  const empty = join(folder, 'empty');
  await mkdir(empty);
  const script = { name: 'empty', private: true, scripts: { start: 'node -e 0' } };
  await writeFile(join(empty, 'package.json'), JSON.stringify(script));
  const ratio = await measureRatio(
    { name: 'start: a second npm start, against an empty script', target: '+ 0.5 s', pairs },
    async () => {
      const { ms, stop } = await startNpm(ROOT, env);
      await stop();
      return ms;
    },
    () => measureMs(() => run('npm', ['start'], { env, cwd: empty })),
  );
  return { ...ratio, note: `+ ${roundFigure((ratio.oursMs - ratio.bareMs) / 1000)} s` };
}

/** Starts the server and waits until it prints its address. */
async function startNpm(
  cwd: string,
  env: Environment,
): Promise<{ readonly ms: number; readonly stop: () => Promise<void> }> {
  const began = performance.now();
  const child = spawn('npm', ['start'], {
    cwd,
    env,
    // A separate process group, because npm does not forward every signal to its script.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line.startsWith('Tapedeck listens on')) resolve();
    });
  });
  const ms = performance.now() - began;
  const stop = async (): Promise<void> => {
    const exit = once(child, 'close');
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    child.stdout.resume();
    await exit;
  };
  return { ms, stop };
}
