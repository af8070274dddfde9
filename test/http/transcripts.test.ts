// Plays every `.http` file against a server of its own; see transcript.ts for the format.
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { startServer } from '../server.ts';
import { playTranscript, readTranscript, updateAsked } from './transcript.ts';

const update = updateAsked(process.env);

for (const path of globSync(join(import.meta.dirname, '*.http')).sort()) {
  test(basename(path), async (t) => {
    const transcript = await readTranscript(path);
    await using server = await startServer({ settings: transcript.settings });
    const { base, publishable, secret } = server;
    const variables = new Map([['pk', publishable], ['sk', secret], ['base', base]]);
    const step = (title: string, play: () => Promise<void>): Promise<void> => t.test(title, play);
    await playTranscript(transcript, { base, variables }, { update, step });
  });
}
