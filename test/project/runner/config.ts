// How vitest runs the tests; `vitest.config.ts` only imports it.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defineConfig,
  type TestProjectInlineConfiguration,
  type ViteUserConfig,
} from 'vitest/config';
import { CONTRACT, ON_POSTGRES } from './postgres/contract.ts';
import { projectsOf } from './projects.ts';

interface RunOptions {
  /** The project: its tests are below `test/`. */
  readonly root: string;
  /** Variables of the test processes, in addition to those of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/** Far above the slowest: the longest takes 70 s alone, and took 300 on a machine of a third of the speed. */
const TIMEOUT_MS = 600_000;
/** Tests that take longer have a line of their own in the report. */
const SLOW_MS = 60_000;

// The targets are stated for two cores, and a file waits for children and clocks for much of its time. With
// four at once a run took 642 s and 944 s of processor time, with three 632 s and 889 s.
const FILES_AT_ONCE = 3;

/**
 * A process that runs one file after another keeps the modules of all of them, and each full collection
 * visits them: the first one waits for so many MB. That takes 2 to 4 % less processor time. New objects
 * have so many MB before they are collected: 2 to 10 % less, on a machine whose speed drifts.
 */
const NEW_MB = ['--min-semi-space-size=32', '--max-semi-space-size=64'];
const SHARED = { isolate: false, execArgv: ['--initial-heap-size=500', ...NEW_MB] };

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PROGRAM_FOR_ALL = join(import.meta.dirname, 'programForAll.ts');

export function configOf({ env, root }: RunOptions): ViteUserConfig {
  const { alone, pure, servers } = projectsOf(root);
  return defineConfig({
    test: {
      root,
      pool: 'forks',
      maxWorkers: FILES_AT_ONCE,
      silent: 'passed-only',
      slowTestThreshold: SLOW_MS,
      projects: [
        onSwift({ name: 'alone', include: [...alone], isolate: true }),
        // A shared process loads a module once, and stays warm: a second less for each file.
        onSwift({ name: 'servers', include: [...servers], ...SHARED }),
        { extends: true, test: { name: 'pure', include: [...pure], ...SHARED } },
        onPostgres(root),
      ],
      // node:sqlite still announces itself on stderr.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env,
      setupFiles: [join(import.meta.dirname, 'leftovers.ts')],
      testTimeout: TIMEOUT_MS,
      hookTimeout: TIMEOUT_MS,
      // Modules run as in production: Node strips their types, without a further loader.
      experimental: { viteModuleRunner: false, nodeLoader: false },
      coverage: { provider: 'v8', reporter: ['text-summary', 'html'], reportOnFailure: true },
    },
  });
}

/** A project whose files may request an account of one shared Swift. */
const onSwift = (
  test: NonNullable<TestProjectInlineConfiguration['test']>,
): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    ...test,
    globalSetup: [
      join(import.meta.dirname, '..', '..', 'base', 'servers', 'swiftForAll.ts'),
      PROGRAM_FOR_ALL,
    ],
  },
});

/** Runs the contract of the store again, with the catalogs in PostgreSQL. */
const onPostgres = (root: string): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name: ON_POSTGRES,
    include: CONTRACT.filter((path) => existsSync(join(root, path))),
    ...SHARED,
    globalSetup: [join(import.meta.dirname, 'postgres', 'postgresForAll.ts'), PROGRAM_FOR_ALL],
    setupFiles: [
      join(import.meta.dirname, 'leftovers.ts'),
      join(import.meta.dirname, 'postgres', 'onPostgres.ts'),
    ],
  },
});

// A hundred processes and the servers they start read the same modules: reading them anew took each
// of them 1.5 s.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'tapedeck-test-modules');

export const config = configOf({ root: ROOT, env: {} });
