// The sample Dockerfile: a linter has nothing to say, and what it copies is all that a server needs.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const FILE = join(ROOT, 'docs', 'samples', 'Dockerfile');
const text = readFileSync(FILE, 'utf8');

test('a linter finds nothing, and nothing runs as root', () => {
  expect(validate(text)).toEqual([]);
  const last = text.slice(text.lastIndexOf('\nFROM '));
  expect(/^USER (\d+):\d+$/m.exec(last)?.[1]).not.toBe('0');
  expect(last).toMatch(/^VOLUME \/var\/lib\/tapedeck$/m);
});

/** Folders and files of the clone that the image has. */
function kept(): readonly string[] {
  const [first, ...lines] = readFileSync(`${FILE}.dockerignore`, 'utf8').trim().split('\n');
  expect(first).toBe('*');
  return lines.map((line) => {
    expect(line).toMatch(/^!/);
    expect([line, existsSync(join(ROOT, line.slice(1)))]).toEqual([line, true]);
    return line.slice(1);
  });
}

test('commands run on what is copied alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tapedeck-image-'));
  try {
    for (const path of kept()) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const [node = '', ...entry] = /^ENTRYPOINT (\[.*\])$/m
      .exec(text)
      ?.slice(1)
      .flatMap((list) => JSON.parse(list) as string[])
      .map((part) => part.replace('/opt/tapedeck', folder)) ?? [''];
    const env = { TAPEDECK_DATA: join(folder, 'data'), TAPEDECK_DEMO: 'off' };
    const run = (...args: readonly string[]): string =>
      execFileSync(node, [...entry, ...args], { env, encoding: 'utf8' });
    expect(run('workspace', 'create', 'W')).toBe('W\n');
    expect(run('recipe', 'list')).toContain('ecb');
    expect(readdirSync(join(folder, 'data'))).toContain('catalog.db');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
