// PostgreSQL in a folder of its own, on a free port of this machine, with and without TLS.
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { appendFile, chown, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { PROGRAM } from '../program.ts';
import { freePort, programIn, startDaemon } from './daemon.ts';

const execute = promisify(execFile);

export interface Postgres extends AsyncDisposable {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** The URL of its first database; another port is that of a wire to it. */
  url(port?: number): string;
  /** PEM: its certificate is for `localhost`. */
  readonly ca: string;
  /** Runs one statement as its owner. */
  run(statement: string): Promise<void>;
  /** Call it while the server is down: from the next start on it is a standby, until it is promoted. */
  makeStandby(): Promise<void>;
  promote(): Promise<void>;
  /** Ends it like a power loss, and restarts it when `up` is called. */
  down(): Promise<{ up(): Promise<void> }>;
}

/** PostgreSQL refuses to run as root: `nobody` of Debian. */
const NOBODY = 65_534;
const PASSWORD = 'correct horse';
const CERTIFICATE = 'server.crt';
const AS_NOBODY = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

// A test's data need not survive a power failure.
const CONFIGURATION = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
ssl = on
max_connections = 20
shared_buffers = 32MB
`;

/**
 * @param configuration lines beside those of the tests
 * @returns undefined where the machine has no PostgreSQL
 */
export async function startPostgres(configuration = ''): Promise<Postgres | undefined> {
  const folders = globSync('/usr/lib/postgresql/*/bin');
  const [initdb, server] = await Promise.all([
    programIn('initdb', folders),
    programIn('postgres', folders),
  ]);
  if (initdb === undefined || server === undefined) return undefined;
  const isRoot = process.getuid?.() === 0;
  const as = (command: readonly string[]): readonly string[] =>
    isRoot ? ['setpriv', ...AS_NOBODY, ...command] : command;
  const stack = new AsyncDisposableStack();
  try {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-postgres-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const data = join(folder, 'data');
    await makeCluster({ folder, data, initdb, as, isRoot });
    await appendFile(join(data, 'postgresql.conf'), CONFIGURATION + configuration);
    const ca = await readFile(join(data, CERTIFICATE), 'utf8');
    const port = await freePort();
    const password = PASSWORD;
    const login = { host: '127.0.0.1', port, user: 'owner', password, database: 'postgres' };
    const begin = (): Promise<AsyncDisposable> =>
      startDaemon({
        command: as([server, '-D', data, '-p', String(port)]),
        // Waits for no client, and leaves its recovery to the next start.
        signal: 'QUIT',
        isReady: () => answers(login),
      });
    let daemon: AsyncDisposable | undefined = await begin();
    stack.defer(() => daemon?.[Symbol.asyncDispose]());
    const down: Postgres['down'] = async () => {
      await daemon?.[Symbol.asyncDispose]();
      daemon = undefined;
      const up = async (): Promise<void> => void (daemon = await begin());
      return { up };
    };
    const owned = stack.move();
    const dispose = (): Promise<void> => owned.disposeAsync();
    const verbs = { ...verbsOf(login, data, isRoot), down };
    return { port, user: 'owner', password, ca, ...verbs, [Symbol.asyncDispose]: dispose };
  } finally {
    await stack.disposeAsync();
  }
}

interface Cluster {
  /** The folder of the whole server. */
  readonly folder: string;
  readonly data: string;
  readonly initdb: string;
  readonly as: (command: readonly string[]) => readonly string[];
  readonly isRoot: boolean;
}

/** A copy of the first one of the run: creating one takes ten times the processor time. */
async function makeCluster(cluster: Cluster): Promise<void> {
  const { as, data, folder, initdb, isRoot } = cluster;
  const run = process.env[PROGRAM];
  const first = run === undefined ? undefined : join(run, 'postgres');
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  if (first !== undefined && existsSync(first))
    return void (await execute('cp', ['-a', first, data]));
  const file = join(folder, 'password');
  await writeFile(file, PASSWORD);
  if (isRoot) await chown(file, NOBODY, NOBODY);
  const options = ['-A', 'scram-sha-256', '-U', 'owner', '-E', 'UTF8', '--locale=C.UTF-8', '-N'];
  const [program = '', ...args] = as([initdb, '-D', data, ...options, '--pwfile', file]);
  await execute(program, args);
  await makeCertificate(data, isRoot);
  if (first === undefined) return;
  const part = `${first}-${basename(folder)}`;
  await execute('cp', ['-a', data, part]);
  // Another test file may have created the first one.
  await rename(part, first).catch(() => rm(part, { recursive: true, force: true }));
}

async function makeCertificate(data: string, isRoot: boolean): Promise<void> {
  const [key, file] = [join(data, 'server.key'), join(data, CERTIFICATE)];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-newkey', 'rsa:2048', '-nodes', '-days', '30'];
  await execute('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', file, ...names]);
  if (isRoot) await chown(key, NOBODY, NOBODY);
}

function verbsOf(
  login: Login,
  data: string,
  isRoot: boolean,
): Pick<Postgres, 'makeStandby' | 'promote' | 'run' | 'url'> {
  const run: Postgres['run'] = (statement) => runIn(login, statement);
  const { password, port } = login;
  return {
    run,
    url: (at = port) => `postgres://owner:${encodeURIComponent(password)}@127.0.0.1:${at}/postgres`,
    makeStandby: async () => {
      const mark = join(data, 'standby.signal');
      await writeFile(mark, '');
      if (isRoot) await chown(mark, NOBODY, NOBODY);
    },
    promote: () => run('select pg_promote()'),
  };
}

interface Login {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

async function answers(login: Login): Promise<boolean> {
  await runIn(login, 'select 1');
  return true;
}

async function runIn(login: Login, statement: string): Promise<void> {
  const client = new Client(login);
  client.on('error', () => undefined);
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
