// Fixtures that a test requests by name, started before it and stopped after it:
// `test('…', async ({ server, seeds }) => …)`.
import { test as plain } from 'vitest';
import { seedsOf } from './seeds.ts';
import { startServer } from './server.ts';

/** `server` belongs to the test alone; `seeds` are those of this run, and are printed in the report. */
export const test = plain
  .extend('seeds', ({ annotate }) => seedsOf({ annotate }))
  .extend('server', async ({}, { onCleanup }) => {
    const server = await startServer();
    onCleanup(server.close);
    return server;
  });
