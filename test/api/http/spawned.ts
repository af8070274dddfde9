// The server as a process of its own, with all its output and files.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withModules } from '../../cli/command.ts';
import { startedBy } from '../../base/program.ts';

const LAUNCHER = startedBy('bin/tapedeck.mjs');
export const PLANTED = {
  publishable: 'pk_planted0000publishable0000aaaa',
  secret: 'sk_planted0000secret0000bbbb',
  admin: 'ak_planted0000admin0000cccc',
  key: 'dd'.repeat(32),
};
/** Files that hold a secret by design, readable by their owner alone. */
const SECRET_FILES = new Set(['key', 'admin-token']);

interface Spawned extends AsyncDisposable {
  readonly base: string;
  /** Ends it and returns its stderr and every file that it left, by name. */
  end(): Promise<ReadonlyMap<string, string>>;
}

/** Starts on a new folder with the planted tokens; logs everything. */
export async function spawnServer(
  settings: Readonly<Record<string, string>> = {},
): Promise<Spawned> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-secrets-'));
  const child = spawn(process.execPath, [LAUNCHER, 'serve'], {
    env: withModules({
      PATH: process.env['PATH'] ?? '',
      TAPEDECK_DATA: folder,
      TAPEDECK_PORT: '0',
      TAPEDECK_CHILDREN: '1',
      TAPEDECK_DEMO: 'off',
      TAPEDECK_LOG: 'trace',
      TAPEDECK_RATE_LIMIT: 'off',
      TAPEDECK_PUBLISHABLE_TOKEN: PLANTED.publishable,
      TAPEDECK_SECRET_TOKEN: PLANTED.secret,
      TAPEDECK_ADMIN_TOKEN: PLANTED.admin,
      TAPEDECK_ENCRYPTION_KEY: PLANTED.key,
      ...settings,
    }),
  });
  let [stdout, stderr] = ['', ''];
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const base = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const baseUrl = /listens on (\S+)/.exec(stdout)?.[1];
      if (baseUrl !== undefined) resolve(baseUrl);
    });
    child.once('exit', () => reject(new Error(`it did not start: ${stderr}`)));
  });
  const end = async (): Promise<ReadonlyMap<string, string>> => {
    child.kill('SIGTERM');
    await once(child, 'exit');
    const files = await filesOf(folder);
    assert.ok([...files.keys()].some((name) => name.startsWith('catalog.db')));
    return new Map([['stderr', stderr], ...files]);
  };
  const dispose = async (): Promise<void> => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  };
  return { base, end, [Symbol.asyncDispose]: dispose };
}

async function filesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || SECRET_FILES.has(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length + 1), (await readFile(path)).toString('latin1'));
  }
  return files;
}

/** Fails when one of the texts includes one of the secrets, also percent-encoded once or twice. */
export function assertHidden(
  texts: Iterable<readonly [name: string, text: string]>,
  secrets: Readonly<Record<string, string>>,
): void {
  for (const [name, text] of texts) {
    const once = lenient(text);
    const spellings = [text, once, lenient(once)];
    for (const [which, value] of Object.entries(secrets)) {
      // Publishable tokens are public, and stored in clear (DESIGN.md "Secrets").
      if (which === 'publishable' && name.startsWith('catalog.db')) continue;
      assert.ok(value.length > 10);
      for (const spelling of spellings) {
        const at = spelling.indexOf(value);
        const around = spelling.slice(Math.max(0, at - 200), at + 200);
        assert.ok(at < 0, `${name} holds the ${which} one: ${around}`);
      }
    }
  }
}

const lenient = (text: string): string =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
