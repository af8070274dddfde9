// The counts of continuous integration: a fixed seed and a fresh one; `SEED=…` replays one.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { fuzzFiles } from './http/files.ts';
import { fuzzRequests } from './http/requests.ts';

const FILES = 25;
const REQUESTS = 150;

test('requests: hostile values at every place get a sentence and a status below 500', async (context) => {
  for (const seed of seedsOf(context)) {
    const log = (line: string): void => note(context, line);
    const { runs, failures } = await fuzzRequests({ count: REQUESTS, seed, log });
    assert.deepEqual(failures, [], failures.join('\n'));
    assert.equal(runs, REQUESTS);
  }
});

test('files: mutated files are loaded or refused with a sentence', async (context) => {
  for (const seed of seedsOf(context)) {
    const log = (line: string): void => note(context, line);
    const { runs, failures } = await fuzzFiles({ count: FILES, seed, log });
    assert.deepEqual(failures, [], failures.join('\n'));
    assert.equal(runs, FILES);
  }
});
