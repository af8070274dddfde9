// What a test asks for by its name, started before it and stopped after it:
// `test('…', async ({ server, seeds }) => …)`.
import { test as plain } from 'vitest';
import { seedsOf } from './seeds.ts';
import { startServer } from './server.ts';

/** `server` is of the test alone; `seeds` are those of this run, told in the report. */
export const test = plain
  .extend('seeds', ({ annotate }) => seedsOf({ annotate }))
  .extend('server', async ({}, { onCleanup }) => {
    const server = await startServer();
    onCleanup(server.close);
    return server;
  });
