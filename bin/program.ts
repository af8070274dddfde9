// Bundles the program into few files. Node finds, reads and links the two thousand modules of a server in
// 0.6 s of processor time, and these in 0.25; a query process starts in two thirds of its time.
import { readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');

/** Entries of processes and threads: each becomes a file of its name, all in one folder. */
const ENTRIES: readonly string[] = [
  'cli/main.ts',
  'store/duckdb/child.ts',
  'store/sqlite/writerThread.ts',
  'pipeline/decode/child/decoderChild.ts',
  'jobs/exchange/exchangeTask.ts',
  'jobs/feeds/tapeWorker.ts',
  'workers/thread.ts',
  'query/charts/chartTask.ts',
  'jobs/rules/backtestTask.ts',
  'reads/market/answerTask.ts',
  'api/docs/docsTask.ts',
];

/** Packages of hundreds of small modules that every start reads; others are not bundled. */
export const INSIDE: readonly string[] = [
  'typebox',
  'kysely',
  'prom-client',
  '@opentelemetry/api',
  '@duckdb/node-api',
];

interface Program {
  readonly folder: string;
  /** Further entries: paths from the root. */
  readonly more?: readonly string[];
  /** Reads data files from the sources instead of the program's folder. */
  readonly besideSources?: boolean;
}

export async function writeProgram({ besideSources, folder, more = [] }: Program): Promise<void> {
  const entries = [...ENTRIES, ...more];
  const names = new Set(entries.map((path) => basename(path, '.ts')));
  await build({
    entryPoints: entries.map((path) => ({ in: join(ROOT, path), out: basename(path, '.ts') })),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Errors and logs have the names of the sources.
    keepNames: true,
    logLevel: 'error',
    // CommonJS packages require modules of Node.
    banner: {
      js: `import { createRequire as r } from 'node:module';const require = r(import.meta.url);`,
    },
    plugins: [packagesOutside, placesIn(names, besideSources === true)],
  });
}

const packagesOutside: Plugin = {
  name: 'packages outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ kind, path }) => {
      const [name = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
      return kind === 'entry-point' || INSIDE.includes(name) ? undefined : { path, external: true };
    });
  },
};

/** Rewrites import.meta URLs, with which a file finds an entry or a data file of the program. */
const placesIn = (names: ReadonlySet<string>, besideSources: boolean): Plugin => ({
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
      const place = besideSources
        ? JSON.stringify(pathToFileURL(path).href)
        : `new URL(${JSON.stringify(`./${relative(ROOT, path)}`)}, #here).href`;
      const contents = text
        .replaceAll(ENTRY, (all, name: string) =>
          names.has(name) ? `new URL('./${name}.js', #here)` : all,
        )
        .replaceAll('import.meta.url', place)
        .replaceAll('import.meta.dirname', `#path(new URL('.', ${place}))`)
        .replaceAll('#here', 'import.meta.url')
        .replaceAll('#path', "process.getBuiltinModule('node:url').fileURLToPath");
      return { contents, loader: 'ts' };
    });
  },
});

const ENTRY = /new URL\('\.\/(\w+)\.ts', import\.meta\.url\)/g;
