// `npm pack` runs this first: Node strips no types under node_modules, so a package carries plain
// JavaScript. Types are blanked out in place: lines and columns stay those of the sources.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { compileConsole } from '../api/console/bundle.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILD = join(ROOT, 'build');
const FOLDERS = ['store', 'pipeline', 'query', 'market', 'jobs', 'api', 'app', 'cli'];

/** Relative paths that end in .ts: imports, and the entry of a child process. */
const RELATIVE = /(['"])(\.{1,2}\/[^'"\n]+)\.ts\1/g;

await rm(BUILD, { recursive: true, force: true });
for (const path of globSync(`{${FOLDERS.join(',')}}/**/*.ts`, { cwd: ROOT })) {
  const text = await readFile(join(ROOT, path), 'utf8');
  const target = join(BUILD, path.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, stripTypeScriptTypes(text).replaceAll(RELATIVE, '$1$2.js$1'));
}
await cp(join(ROOT, 'recipes'), join(BUILD, 'recipes'), { recursive: true });
await cp(join(ROOT, 'CHANGELOG.md'), join(BUILD, 'CHANGELOG.md'));
await cp(join(ROOT, 'docs', 'openapi.json'), join(BUILD, 'openapi.json'));
await cp(join(ROOT, 'docs', 'openapi-market.json'), join(BUILD, 'openapi-market.json'));

// The console is compiled ahead: a package needs no compiler.
await mkdir(join(BUILD, 'console'));
for (const [name, text] of await compileConsole()) {
  await writeFile(join(BUILD, 'console', name), text);
}
