// Where the processes of tests start: as users run them, from the program as it is packed, where the run has
// made it (runner/programForAll.ts); from the sources otherwise.
import module from 'node:module';
import { basename, join } from 'node:path';

/** Names the folder of it. */
export const PROGRAM = 'TAPEDECK_TEST_PROGRAM';

const ROOT = join(import.meta.dirname, '..', '..');

/** @param path of what starts, from the root */
export function startedBy(path: string): string {
  const folder = process.env[PROGRAM];
  if (folder === undefined) return join(ROOT, path);
  return path.endsWith('.mjs')
    ? join(folder, path)
    : join(folder, 'build', `${basename(path, '.ts')}.js`);
}

/** Keeps what this process made of its modules for the next ones: one that is killed does not at its end. */
export const keepModules = (): void => module.flushCompileCache();
