// Names in deploy/ exist: settings, paths of health checks, versions, files.
import { expect } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { test } from '../../base/fixtures.ts';
import { deployed, deployFiles, SETTING_NAMES } from './deployFiles.ts';

const files = deployFiles();

test('every setting that is named exists', () => {
  const named = files.flatMap((path) =>
    [...deployed(path).matchAll(/\bTAPEDECK_[A-Z0-9_]+/g)].map(([name]) => `${path}: ${name}`),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((line) => !SETTING_NAMES.has(line.split(': ')[1] ?? ''))).toEqual([]);
});

test('every requested address of a server responds', async ({ server }) => {
  const paths = new Set(
    files.flatMap((path) =>
      [...deployed(path).matchAll(/(?<=path: '?|`)\/[a-z]+\b(?!\/)/g)].map(String),
    ),
  );
  expect([...paths].sort()).toEqual(['/healthz', '/readyz']);
  for (const path of paths) {
    expect([path, (await fetch(`${server.base}${path}`)).status]).toEqual([path, 200]);
  }
});

test('every version is that of the package', () => {
  const versions = files.flatMap((path) =>
    [...deployed(path).matchAll(/(?:\btapedeck:|^version: |^appVersion: '?)(\d[\w.-]*)/gm)].map(
      ([, version]) => `${path} ${version}`,
    ),
  );
  expect(versions.length).toBeGreaterThan(3);
  expect(versions.filter((line) => !line.endsWith(` ${manifest.version}`))).toEqual([]);
});

test('the README describes each file', () => {
  const text = deployed('README.md');
  expect(files.filter((path) => !text.includes(`\`${path}\``) && path !== 'README.md')).toEqual([]);
});

test('the npm package does not contain them', () => {
  expect(manifest.files.filter((path) => path.startsWith('deploy'))).toEqual([]);
});
