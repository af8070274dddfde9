// The packed program, for all files that start processes: it loads its modules in half of the time of the
// sources. It is below node_modules/, where it finds its packages.
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { writeProgram } from '../../../bin/program.ts';
import { PROGRAM } from '../../base/program.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Servers of tests, with their seams. */
const VICTIMS = [
  'test/soak/crash/victim/victim.ts',
  'test/life/subject.ts',
  'test/soak/fuzz/http/loopProcess.ts',
  'test/jobs/export/exportVictim.ts',
  'test/jobs/upkeep/reingestVictim.ts',
  'test/jobs/upkeep/backupVictim.ts',
];

/** Runs for each project; the first run packs the program. */
export async function setup({ vitest }: TestProject): Promise<() => Promise<void>> {
  // In watch mode the sources change.
  if (process.env[PROGRAM] !== undefined || vitest.config.watch) return async () => undefined;
  const folder = join(ROOT, 'node_modules', '.cache', `tapedeck-${process.pid}`);
  await writeProgram({ folder: join(folder, 'build'), more: VICTIMS, besideSources: true });
  // Without it each process reads every file twice, to detect the kind of its module.
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await mkdir(join(folder, 'bin'));
  await copyFile(join(ROOT, 'bin', 'tapedeck.mjs'), join(folder, 'bin', 'tapedeck.mjs'));
  process.env[PROGRAM] = folder;
  return async () => {
    delete process.env[PROGRAM];
    await rm(folder, { recursive: true, force: true });
  };
}
