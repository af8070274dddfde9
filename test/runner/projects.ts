// Which test files share a process: by what they import. A file whose modules, followed through every
// import of the project, reach nothing that starts a process, a thread or a server, or that loads
// native code, leaves nothing behind, and shares a process with others of its kind.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface TestFiles {
  /** Paths from the root, with `/`. */
  readonly pure: readonly string[];
  readonly servers: readonly string[];
}

/** The text of a file by its path from the root. */
type ReadText = (path: string) => string;

const STARTS = [
  ...[
    'child_process',
    'cluster',
    'dgram',
    'http',
    'http2',
    'https',
    'net',
    'tls',
    'worker_threads',
  ],
  ...['@duckdb/node-api', '@duckdb/node-bindings', 'fastify', 'pg', 'undici'],
];

// `import type` is gone before the file runs.
const IMPORTED =
  /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm;

/** Every test file of the project at `root`, by what it needs. */
export function testFiles(root: string): TestFiles {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort();
  // A path that only a text in a test names is no file.
  const read = (path: string): string =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
  return partedByImports(files, read);
}

export function partedByImports(files: readonly string[], read: ReadText): TestFiles {
  const imports = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file) ?? importedBy(file, read(file));
    imports.set(file, known);
    return known;
  };
  const pure = files.filter((file) => !reaches(file, importsOf));
  return { pure, servers: files.filter((file) => !pure.includes(file)) };
}

function reaches(file: string, importsOf: (file: string) => readonly string[]): boolean {
  const seen = new Set([file]);
  for (const one of seen) {
    for (const name of importsOf(one)) {
      if (STARTS.includes(name.replace('node:', ''))) return true;
      if (name.endsWith('.ts') && !name.includes(':')) seen.add(name);
    }
  }
  return false;
}

/** Names of packages, and paths of files from the root. */
const importedBy = (file: string, text: string): readonly string[] =>
  [...text.matchAll(IMPORTED)]
    .map(([, name, late]) => name ?? late ?? '')
    .map((name) => (name.startsWith('.') ? join(dirname(file), name) : name));
