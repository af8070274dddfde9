// Odd files, as people have them: each loads whole with the schema that a person would write down, or
// is refused in one sentence that names what to add.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { ODD_FILES, type OddFile } from './oddFiles.ts';

const FILES = globSync(join(import.meta.dirname, '..', 'inputs', '*', '*'));

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const LETTERS: Readonly<Record<string, string>> = {
  string: 's',
  integer: 'i',
  number: 'n',
  boolean: 'b',
  object: 'o',
  array: 'a',
  date: 'd',
  'date-time': 't',
  time: 'c',
};

const typesOf = (dataset: string): string => {
  const storedDataset = server.tapedeck.services.lake.directory.dataset('WS', dataset);
  const properties = Object.entries(storedDataset?.schema.properties ?? {});
  return properties
    .map(([name, { format, type }]) => `${name}:${LETTERS[format ?? type]}`)
    .join(' ');
};

test('every file of the folder is in the table', () => {
  const expectedFiles = ODD_FILES.map(({ file }) => file).sort();
  assert.deepEqual(FILES.map((path) => basename(path)).sort(), expectedFiles);
  assert.ok(expectedFiles.length >= 60);
});

for (const [at, odd] of ODD_FILES.entries()) {
  test(odd.file, () => check(odd, `F${at}`));
}

async function check(odd: OddFile, dataset: string): Promise<void> {
  const { file, invalid = 0, query, records = 0, refused, types } = odd;
  const bytes = await readFile(FILES.find((path) => basename(path) === file) ?? '');
  if (refused !== undefined) {
    const answer = await load(server, dataset, bytes);
    const text = await answer.text();
    assert.equal(answer.status, 400, text);
    const { message } = JSON.parse(text) as { readonly message: string };
    assert.match(message, refused);
    assert.equal(typesOf(dataset), '', 'a refused file created a dataset');
    if (query === undefined) return;
  }
  const job = await loaded(server, dataset, bytes, query);
  assert.equal(typesOf(dataset), types);
  const counts = [job.recordsIngested, job.recordsInvalid];
  assert.deepEqual(counts, [records, invalid]);
}
