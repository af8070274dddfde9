// Facts that people check before they join a project or install it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { documents, headings, ROOT, textOf, toAnchor } from './markdown.ts';

interface Manifest {
  readonly license: string;
  readonly version: string;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly hasInstallScript?: boolean; readonly optional?: boolean }>
  >;
}

const json = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const manifest = json('package.json') as Manifest;

/** Paths below the root that a document links to. */
const linksOf = (document: string): readonly string[] =>
  [...textOf(document).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = '']) =>
    join(document, '..', target),
  );

test('an index links every page of docs: docs/README.md, or the index of the decisions', () => {
  const indexes = ['docs/README.md', 'docs/contributing/decisions/README.md'];
  const linked = new Set(indexes.flatMap(linksOf));
  assert.deepEqual(
    documents().filter((page) => page.startsWith('docs/') && !linked.has(page)),
    [indexes[0]],
  );
  for (const folder of ['tutorials', 'guides', 'concepts', 'reference', 'contributing']) {
    assert.ok(
      linksOf('README.md').some((page) => page.startsWith(`docs/${folder}`)),
      `README.md links no page of docs/${folder}`,
    );
  }
});

test('every linked anchor is a heading of its page', () => {
  const anchors = new Map(
    documents().map((page) => [page, new Set(headings(page).map(toAnchor))] as const),
  );
  const dead = documents().flatMap((page) =>
    [...textOf(page).matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)]
      .map(([, path = '', anchor = '']) => [path === '' ? page : join(page, '..', path), anchor])
      .filter(([target = '', anchor = '']) => anchors.get(target)?.has(anchor) === false)
      .map(([target, anchor]) => `${page}: ${target}#${anchor}`),
  );
  assert.deepEqual(dead, []);
});

test('every link of the documents leads to a file', () => {
  const there = new Set(['', ...readdirSync(ROOT, { recursive: false }).map(String)]);
  for (const name of ['deploy', 'docs', 'recipes', 'test']) {
    for (const file of readdirSync(join(ROOT, name), { recursive: true })) {
      there.add(join(name, String(file)));
    }
  }
  const dead = documents().flatMap((document) =>
    linksOf(document)
      .filter((target) => !there.has(target.replace(/\/$/, '')))
      .map((target) => `${document}: ${target}`),
  );
  assert.deepEqual(dead, []);
});

test('the license is Apache-2.0 in the manifest and in full', () => {
  assert.equal(manifest.license, 'Apache-2.0');
  const text = readFileSync(join(ROOT, 'LICENSE'), 'utf8');
  assert.match(text, /Apache License\n\s+Version 2\.0, January 2004/);
  assert.match(text, /END OF TERMS AND CONDITIONS/);
  assert.match(text, /Copyright \d{4} The Tapedeck authors/);
});

test('the changelog has unreleased changes and the version of the manifest', () => {
  const text = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  assert.match(text, /^## \[Unreleased\]$/m);
  assert.ok(text.includes(`## [${manifest.version}]`));
});

test('every install script is allowed or refused for npm, and that of the runtime may run', () => {
  const { packages } = json('package-lock.json') as Lock;
  const withScripts = Object.entries(packages)
    .filter(([, { hasInstallScript, optional }]) => hasInstallScript === true && optional !== true)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  assert.deepEqual(
    withScripts.filter((name) => manifest.allowScripts[name] === undefined),
    [],
    'add them to allowScripts of package.json: true where the script is needed, else false',
  );
  assert.equal(manifest.allowScripts['node'], true);
});
