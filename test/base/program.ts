// The start files of the processes of tests: those of the packaged program, as users run them, if the run has
// built it (runner/programForAll.ts); otherwise the sources.
import module from 'node:module';
import { basename, join } from 'node:path';

/** The variable with the folder of the packaged program. */
export const PROGRAM = 'TAPEDECK_TEST_PROGRAM';

const ROOT = join(import.meta.dirname, '..', '..');

/** @param path of the start file, from the root */
export function startedBy(path: string): string {
  const folder = process.env[PROGRAM];
  if (folder === undefined) return join(ROOT, path);
  return path.endsWith('.mjs')
    ? join(folder, path)
    : join(folder, 'build', `${basename(path, '.ts')}.js`);
}

/** Writes the compile cache of this process for the next ones: a killed process does not write it. */
export const keepModules = (): void => module.flushCompileCache();
