// A reader who tries the printed blocks: an empty folder, a first start, and a shell.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type Started, startCommand, withModules } from '../../cli/command.ts';
import { startHttp } from '../../base/servers/http.ts';
import { startedBy } from '../../base/program.ts';

/** Responses of a mirror of the public sources, by path. */
const PUBLISHED: Readonly<Record<string, string>> = {
  '/prices.csv': 'symbol,date,close\nAAPL,2020-01-02,75.09\nMSFT,2020-01-02,160.62\n',
  '/graph/fredgraph.csv': 'observation_date,DGS10\n2025-02-13,4.52\n2025-02-14,4.47\n',
};

// A refusal fails the block, as it fails the reader.
const CURL_SETTINGS = 'fail-with-body\nsilent\nshow-error\nmax-time = 60\nwrite-out = "\\n"\n';

const BLOCK_TIMEOUT_MS = 120_000;

const SETTINGS = {
  TAPEDECK_PORT: '0',
  TAPEDECK_LOG: 'silent',
  // All 300 take as much processor time as the examples.
  TAPEDECK_DEMO_SYMBOLS: '3',
  // A reader runs one block at a time.
  TAPEDECK_CHILDREN: '1',
  TAPEDECK_SQL_CHILDREN: '1',
} as const;

/**
 * A data folder after a first start, with all of DEMO: loading that takes longer than the blocks of a
 * tutorial.
 */
export interface FirstStart extends AsyncDisposable {
  readonly folder: string;
  /** The content of the file that the first start names. */
  readonly tokens: string;
}

export interface Walk extends AsyncDisposable {
  /** Runs a block and returns its output. @throws Error with all of its output when a command fails. */
  run(script: string): Promise<string>;
}

/** Starts as the README describes, waits until DEMO is filled, and stops. */
export async function startFirst(): Promise<FirstStart> {
  const home = await mkdtemp(join(tmpdir(), 'tapedeck-first-'));
  const env = withModules({ ...SETTINGS, HOME: home, PATH: process.env['PATH'] ?? '' });
  const server = startCommand(['serve'], { env, cwd: home }, []);
  const dispose = async (): Promise<void> => {
    server.child.kill('SIGTERM');
    await server.ended;
    await rm(home, { recursive: true, force: true });
  };
  try {
    const output = await outputUntil(
      server,
      /Workspace DEMO is filled[^]*DEMO.FLIGHTS: \d+ records/,
    );
    const tokens = await readFile(/tokens: in (\S+),/.exec(output)?.[1] ?? '', 'utf8');
    server.child.kill('SIGTERM');
    await server.ended;
    return { folder: join(home, 'data'), tokens, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Starts a server on a copy of the folder of a first start. */
export async function startWalk({ folder, tokens }: FirstStart): Promise<Walk> {
  const home = await mkdtemp(join(tmpdir(), 'tapedeck-walk-'));
  const children: ChildProcess[] = [];
  const mirror = await startHttp((request, response) => {
    const body = PUBLISHED[(request.url ?? '').split('?')[0] ?? ''];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  const bin = join(home, 'node_modules/.bin');
  await mkdir(bin, { recursive: true });
  await symlink(startedBy('bin/tapedeck.mjs'), join(bin, 'tapedeck'));
  await writeFile(join(home, '.curlrc'), CURL_SETTINGS);
  await cp(folder, join(home, 'data'), { recursive: true });
  const env = withModules({
    ...SETTINGS,
    HOME: home,
    PATH: [bin, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    TAPEDECK_EXPORT_FOLDER: join(home, 'exports'),
    TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on',
    npm_config_update_notifier: 'false',
  });
  await mkdir(join(home, 'exports'));
  const server = startCommand(['serve'], { env, cwd: home }, children);
  const base = await addressOf(server);
  const written = substitutions({ base, tokens, mirror: `http://127.0.0.1:${mirror.port}`, home });
  return {
    run: (script) => inShell(written(script), { env, cwd: home }),
    [Symbol.asyncDispose]: async () => {
      server.child.kill('SIGTERM');
      await server.ended;
      await mirror[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true });
    },
  };
}

interface Places {
  /** The address of the server, and that of the mirror. */
  readonly base: string;
  readonly mirror: string;
  readonly tokens: string;
  readonly home: string;
}

/** Differences between a printed block and the one that runs. */
function substitutions({ base, home, mirror, tokens }: Places): (script: string) => string {
  const table: readonly (readonly [printed: string, real: string])[] = [
    ['http://127.0.0.1:8080', base],
    ['pk_…', /pk_[0-9a-f]{32}/.exec(tokens)?.[0] ?? 'no token'],
    ['sk_…', /sk_[0-9a-f]{32}/.exec(tokens)?.[0] ?? 'no token'],
    ['https://example.com', mirror],
    ['recipe add', `recipe add --base ${mirror}`],
    ['/backups/', `${home}/backups/`],
  ];
  // npx finds the program in the PATH, in 0.4 s of processor time: one block proves it.
  let finds = false;
  return (script) => {
    const text = table.reduce((so, [printed, real]) => so.replaceAll(printed, real), script);
    if (finds) return text.replaceAll('npx tapedeck', 'tapedeck');
    finds = text.includes('npx tapedeck');
    return text;
  };
}

async function addressOf(server: Started): Promise<string> {
  const address = /http:\/\/127\.0\.0\.1:\d+/;
  return address.exec(await outputUntil(server, address))?.[0] ?? '';
}

async function outputUntil({ child, ended, output }: Started, pattern: RegExp): Promise<string> {
  const exit = ended.then(() => true);
  while (!pattern.test(output.stdout)) {
    const wait = once(child.stdout ?? child, 'data').then(() => false);
    if (await Promise.race([wait, exit])) throw new Error(`the server ended:\n${output.stderr}`);
  }
  return output.stdout;
}

async function inShell(
  script: string,
  where: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): Promise<string> {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    ...where,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BLOCK_TIMEOUT_MS,
  });
  const output = { stdout: '', stderr: '' };
  shell.stdout.setEncoding('utf8').on('data', (piece: string) => (output.stdout += piece));
  shell.stderr.setEncoding('utf8').on('data', (piece: string) => (output.stderr += piece));
  const [code] = (await once(shell, 'close')) as [number | null];
  if (code === 0) return output.stdout;
  throw new Error(`ended with ${code}:\n${script}\n${output.stdout}\n${output.stderr}`);
}
