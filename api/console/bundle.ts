// The console's files as browsers get them: compiled from the sources of console/ at first use, or read from
// where `npm pack` put them, each under a name that tells its content, and packed once.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export interface ConsoleFile {
  /** Below `/console/assets/`; `index.html` is the page itself. */
  readonly name: string;
  readonly contentType: string;
  readonly plain: Buffer;
  readonly brotli: Buffer;
  readonly gzip: Buffer;
}

/** Sources are in a clone, compiled files in a package. */
const CONSOLE_FOLDER = join(import.meta.dirname, '..', '..', 'console');

/** How hard files are packed: a person waits for it. */
const BROTLI_QUALITY = 7;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

const asBrotli = promisify(brotliCompress);
const asGzip = promisify(gzip);

/** All files, the page among them. */
export async function consoleFiles(folder = CONSOLE_FOLDER): Promise<readonly ConsoleFile[]> {
  const isSource = existsSync(join(folder, 'main.ts'));
  const texts = isSource ? await compileConsole(folder) : await readCompiled(folder);
  return Promise.all([...texts].map(([name, text]) => packed(name, Buffer.from(text))));
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
    const made = new Map(outputFiles.map(({ path, text }) => [nameOf(path), text] as const));
    const main = Object.entries(metafile.outputs).find(([, one]) => one.entryPoint === 'main.ts');
    const style = [...made.keys()].find((name) => name.endsWith('.css')) ?? '';
    const first = [main?.[0] ?? '', ...(main?.[1].imports ?? []).flatMap(startsWith)].map(nameOf);
    return made.set('index.html', pageOf(page, style, first));
  } finally {
    // Its process would otherwise stay for as long as ours.
    await stop();
  }
}

/** What a script needs before it runs; what it asks for later is not among them. */
const startsWith = (one: { readonly kind: string; readonly path: string }): readonly string[] =>
  one.kind === 'import-statement' ? [one.path] : [];

const nameOf = (path: string): string => path.split(/[/\\]/).at(-1) ?? '';

function pageOf(page: string, style: string, [main = '', ...others]: readonly string[]): string {
  const ahead = others.map((name) => `<link rel="modulepreload" href="/console/assets/${name}">`);
  return page
    .replace('/console/assets/style.css', `/console/assets/${style}`)
    .replace('/console/assets/main.js', `/console/assets/${main}`)
    .replace('</head>', `${ahead.join('')}</head>`);
}

async function readCompiled(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder);
  const texts = names.map(
    async (name) => [name, await readFile(join(folder, name), 'utf8')] as const,
  );
  return new Map(await Promise.all(texts));
}

async function packed(name: string, plain: Buffer): Promise<ConsoleFile> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const [brotli, zipped] = await Promise.all([asBrotli(plain, { params }), asGzip(plain)]);
  const contentType = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return { name, contentType, plain, brotli, gzip: zipped };
}
