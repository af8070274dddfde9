// The repository as input of the rules: its text files and its parsed sources.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseTrees, type Source, type Texts } from './syntax.ts';

export const PRODUCT = [
  'store',
  'workers',
  'pipeline',
  'query',
  'reads',
  'jobs',
  'market',
  'api',
  'console',
  'app',
  'cli',
] as const;
export const FOLDERS = [...PRODUCT, 'client', 'deploy', 'test', 'bench', 'docs'] as const;

/** Path from the root -> text of a file that docs/generate.ts writes. */
type Generated = ReadonlyMap<string, string>;

export interface Tree {
  /** Every file of the repository. */
  readonly paths: readonly string[];
  /** Every text file of the repository. */
  readonly texts: Texts;
  /** The TypeScript files below FOLDERS. */
  readonly sources: readonly Source[];
  /** Runs docs/generate.ts; undefined where it does not exist. */
  readonly generate: (() => Promise<Generated>) | undefined;
}

/** `check` returns one line for each violation: `file:line fault; what to do instead`. */
export interface Rule {
  readonly name: string;
  readonly check: (tree: Tree) => readonly string[] | Promise<readonly string[]>;
  /** Small trees that break the rule: the proof that it can fail. */
  readonly wrong: readonly Readonly<Record<string, string>>[];
  /** Similar small trees that keep the rule. */
  readonly right?: readonly Readonly<Record<string, string>>[];
}

export const topOf = (path: string): string => path.split('/')[0] ?? '';
export const isIn = (path: string, folders: readonly string[]): boolean =>
  path.includes('/') && folders.includes(topOf(path));

/** Files that git tracks, or would track after `git add`. */
export function repositoryTree(root: string): Tree {
  const texts = new Map<string, string>();
  const listed = existsSync(join(root, '.git')) ? listedByGit(root) : listedByFolder(root);
  const paths = listed.filter((path) => isFile(join(root, path)));
  for (const path of paths) {
    const text = textOf(join(root, path));
    if (text !== undefined) texts.set(path, text);
  }
  const [sources] = parseTrees([sourcesOf(texts)]);
  const generator = join(root, GENERATOR);
  const generate = existsSync(generator) ? () => runGenerator(generator) : undefined;
  return { paths, texts, sources: sources ?? [], generate };
}

/** Trees of samples; docs/generate.ts in a sample is JSON: path -> text. */
export function sampleTrees(samples: readonly Readonly<Record<string, string>>[]): readonly Tree[] {
  const all = samples.map((sample) => new Map(Object.entries(sample)));
  const parsed = parseTrees(all.map(sourcesOf));
  return all.map((texts, index) => {
    const output = texts.get(GENERATOR);
    const generate =
      output === undefined
        ? undefined
        : () => Promise.resolve(new Map(Object.entries(asTexts(JSON.parse(output)))));
    return { paths: [...texts.keys()], texts, sources: parsed[index] ?? [], generate };
  });
}

const GENERATOR = 'docs/generate.ts';

function sourcesOf(texts: Texts): Texts {
  return new Map([...texts].filter(([path]) => path.endsWith('.ts') && isIn(path, FOLDERS)));
}

// A clone may belong to another user than the one who runs the tests (containers): git would refuse.
function listedByGit(root: string): readonly string[] {
  const words = ['-c', 'safe.directory=*', 'ls-files', '-coz', '--exclude-standard'];
  const options = { cwd: root, encoding: 'utf8', maxBuffer: LIST_BYTES_MAX } as const;
  const listed = execFileSync('git', words, options);
  return [...new Set(listed.split('\0'))].filter((path) => path !== '').sort();
}

const LIST_BYTES_MAX = 64 * 1024 ** 2;

/** Files of an unpacked archive: those in our folders, and beside them. */
function listedByFolder(root: string): readonly string[] {
  const below = FOLDERS.map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) =>
        relative(root, join(folder, path)).replaceAll(sep, '/'),
      ),
    );
  return [...readdirSync(root), ...below].sort();
}

/** False for a deleted file that is still tracked, and for a folder (submodule). */
const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

/** Undefined for a binary file. */
function textOf(path: string): string | undefined {
  const bytes = readFileSync(path);
  return bytes.subarray(0, 8192).includes(0) ? undefined : bytes.toString('utf8');
}

async function runGenerator(path: string): Promise<Generated> {
  const generator: unknown = await import(pathToFileURL(path).href);
  if (
    typeof generator !== 'object' ||
    generator === null ||
    !('generate' in generator) ||
    typeof generator.generate !== 'function'
  ) {
    throw new Error(`${GENERATOR} must export generate(): Promise<ReadonlyMap<string, string>>`);
  }
  const generated: unknown = await generator.generate();
  if (!(generated instanceof Map)) throw new Error(`${GENERATOR}: generate() must answer a Map`);
  return new Map(Object.entries(asTexts(Object.fromEntries(generated))));
}

function asTexts(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(value ?? {}).map(([path, text]) => [path, String(text)] as const);
  return Object.fromEntries(entries);
}
