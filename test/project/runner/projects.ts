// Which test files share a process, derived from their imports and the globals that they use.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Test files: paths from the root, with `/`. */
interface Projects {
  /** Each file has a process of its own: it measures or changes it, or starts threads. */
  readonly alone: readonly string[];
  /** Starts servers, databases, requests or other processes. */
  readonly servers: readonly string[];
  /** None of these. */
  readonly pure: readonly string[];
}

/** The text of a file by its path from the root. */
type ReadText = (path: string) => string;

/** Follows the imports of a file; files are those that `follow` accepts. */
interface Search {
  finds(imported: string): boolean;
  follow(path: string): boolean;
}

const OF_THE_PROCESS = ['node:cluster', 'node:worker_threads', 'node:perf_hooks'];
const CONNECTIONS = [
  // A child is closed by the file that starts it, as a server is: leftovers.ts checks it.
  'node:child_process',
  'node:dgram',
  'node:http',
  'node:http2',
  'node:https',
  'node:net',
  'node:tls',
  '@duckdb/node-api',
  '@duckdb/node-bindings',
  'fastify',
  'pg',
  'undici',
];

/** Code that reads or changes state of the whole process. */
const TOUCHES = [
  /\bprocess\.(?:chdir|cpuUsage|memoryUsage|resourceUsage|umask)\b/,
  // Listeners for uncaught errors only observe them.
  /\bprocess\.(?:on|once)\('(?!uncaughtExceptionMonitor'|unhandledRejection')/,
  /\bdelete process\.env|\bprocess\.env\[[^\]]+\]\s*=[^=]/,
];

// `import type` is gone before the file runs.
const IMPORTED =
  /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm;

/** Every test file of the project at `root`. */
export function projectsOf(root: string): Projects {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort();
  // A path that is only named by a text in a test is not a file.
  const read = (path: string): string =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
  return partedByImports(files, read);
}

export function partedByImports(files: readonly string[], read: ReadText): Projects {
  const imports = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const names = imports.get(file) ?? importedBy(file, read(file));
    imports.set(file, names);
    return names;
  };
  const needsProcess: Search = {
    finds: (name) =>
      OF_THE_PROCESS.includes(name) ||
      (isTest(name) && TOUCHES.some((pattern) => pattern.test(read(name)))),
    follow: isTest,
  };
  const connects: Search = {
    finds: (name) => CONNECTIONS.includes(name) || OF_THE_PROCESS.includes(name),
    follow: () => true,
  };
  const alone = files.filter((file) => reaches(file, importsOf, needsProcess));
  const rest = files.filter((file) => !alone.includes(file));
  const servers = rest.filter((file) => reaches(file, importsOf, connects));
  return { alone, servers, pure: rest.filter((file) => !servers.includes(file)) };
}

function reaches(
  file: string,
  importsOf: (file: string) => readonly string[],
  { finds, follow }: Search,
): boolean {
  const seen = new Set([file]);
  for (const one of seen) {
    if (finds(one)) return true;
    if (!one.endsWith('.ts') || !follow(one)) continue;
    for (const name of importsOf(one)) seen.add(name);
  }
  return false;
}

const isTest = (path: string): boolean => path.startsWith('test/');

/** Names of packages, and paths of files from the root. */
const importedBy = (file: string, text: string): readonly string[] =>
  [...text.matchAll(IMPORTED)]
    .map(([, name, late]) => name ?? late ?? '')
    .map((name) => (name.startsWith('.') ? join(dirname(file), name) : name));
