// A third-party program, compiled as strictly as ours.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const MODULES = join(ROOT, 'node_modules');
const run = promisify(execFile);

/** The packages that a program imports. */
export const CLIENT = join(ROOT, 'client', 'client.ts');

const HOW = [
  '--strict',
  '--noUncheckedIndexedAccess',
  '--noEmit',
  '--skipLibCheck',
  '--pretty',
  'false',
  '--allowImportingTsExtensions',
  '--module',
  'nodenext',
  '--target',
  'es2024',
  '--types',
  'node',
];

/**
 * Compiles further files of the folder if the program imports them.
 * @throws Error with the compiler's report in `stdout`
 */
export async function compiled(
  program: string,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-client-'));
  try {
    await symlink(MODULES, join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    for (const [name, text] of Object.entries({ ...files, 'program.ts': program })) {
      await writeFile(join(folder, name), text);
    }
    const compiler = join(MODULES, 'typescript', 'bin', 'tsc');
    await run(process.execPath, [compiler, ...HOW, 'program.ts'], { cwd: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
