// Builds the package; `npm pack` runs this first. Node strips no types under node_modules, so a package has
// plain JavaScript, as few files, and the licenses of the bundled packages.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileConsole } from '../api/console/bundle.ts';
import { INSIDE, writeProgram } from './program.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILD = join(ROOT, 'build');

await rm(BUILD, { recursive: true, force: true });
await writeProgram({ folder: BUILD });
await writeFile(join(BUILD, 'LICENSES'), (await Promise.all(INSIDE.map(licenseOf))).join('\n'));
await cp(join(ROOT, 'recipes'), join(BUILD, 'recipes'), { recursive: true });
await cp(join(ROOT, 'docs'), join(BUILD, 'docs'), { recursive: true });
for (const file of ['docs.css', 'search.js']) {
  await cp(join(ROOT, 'api', 'docs', file), join(BUILD, 'api', 'docs', file));
}
await cp(join(ROOT, 'CHANGELOG.md'), join(BUILD, 'CHANGELOG.md'));
await cp(join(ROOT, 'docs', 'reference', 'openapi.json'), join(BUILD, 'openapi.json'));
await cp(
  join(ROOT, 'docs', 'reference', 'openapi-market.json'),
  join(BUILD, 'openapi-market.json'),
);

// Compile the console now: an installed package has no compiler.
await mkdir(join(BUILD, 'console'));
for (const [name, text] of await compileConsole()) {
  await writeFile(join(BUILD, 'console', name), text);
}

async function licenseOf(name: string): Promise<string> {
  const folder = join(ROOT, 'node_modules', name);
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no license beside it`);
  return `${name}\n\n${await readFile(join(folder, file), 'utf8')}`;
}
