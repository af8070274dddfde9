// Loads the console's files for browsers: compiles the sources of console/ at first use, or reads the files
// that `npm pack` compiled. Each file is named by its content and compressed once.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compressFile, type WebFile } from './webFile.ts';

export interface ConsoleFile extends WebFile {
  /** Below `/console/assets/`; `index.html` is the page itself. */
  readonly name: string;
}

/** A clone has the sources, a package the compiled files. */
const CONSOLE_FOLDER = join(import.meta.dirname, '..', '..', 'console');

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** All files, including the page. */
export async function loadConsoleFiles(folder = CONSOLE_FOLDER): Promise<readonly ConsoleFile[]> {
  const isSource = existsSync(join(folder, 'main.ts'));
  const texts = isSource ? await compileConsole(folder) : await readCompiled(folder);
  return Promise.all([...texts].map(([name, text]) => compress(name, Buffer.from(text))));
}

/** Name -> text of each compiled file. */
export async function compileConsole(
  folder = CONSOLE_FOLDER,
): Promise<ReadonlyMap<string, string>> {
  const { build, stop } = await import('esbuild');
  try {
    const { metafile, outputFiles } = await build({
      entryPoints: [join(folder, 'main.ts'), join(folder, 'style.css')],
      absWorkingDir: folder,
      outdir: join(folder, 'assets'),
      bundle: true,
      splitting: true,
      minify: true,
      metafile: true,
      write: false,
      format: 'esm',
      target: ['es2022'],
      legalComments: 'none',
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      logLevel: 'silent',
    });
    const page = await readFile(join(folder, 'index.html'), 'utf8');
    const files = new Map(outputFiles.map(({ path, text }) => [fileName(path), text] as const));
    const main = Object.entries(metafile.outputs).find(([, one]) => one.entryPoint === 'main.ts');
    const style = [...files.keys()].find((name) => name.endsWith('.css')) ?? '';
    const scripts = [main?.[0] ?? '', ...(main?.[1].imports ?? []).flatMap(staticImport)].map(
      fileName,
    );
    return files.set('index.html', buildPage(page, style, scripts));
  } finally {
    // Otherwise the esbuild process would run as long as this one.
    await stop();
  }
}

/** Files that a script needs before it runs, without those that it imports later. */
const staticImport = (one: { readonly kind: string; readonly path: string }): readonly string[] =>
  one.kind === 'import-statement' ? [one.path] : [];

const fileName = (path: string): string => path.split(/[/\\]/).at(-1) ?? '';

function buildPage(page: string, style: string, [main = '', ...others]: readonly string[]): string {
  const preloads = others.map(
    (name) => `<link rel="modulepreload" href="/console/assets/${name}">`,
  );
  return page
    .replace('/console/assets/style.css', `/console/assets/${style}`)
    .replace('/console/assets/main.js', `/console/assets/${main}`)
    .replace('</head>', `${preloads.join('')}</head>`);
}

async function readCompiled(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder);
  const texts = names.map(
    async (name) => [name, await readFile(join(folder, name), 'utf8')] as const,
  );
  return new Map(await Promise.all(texts));
}

async function compress(name: string, plain: Buffer): Promise<ConsoleFile> {
  const contentType = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return { name, ...(await compressFile(contentType, plain)) };
}
