// Plays every `.http` file against a server of its own; see transcript.ts for the format.
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { startServer, type TestServer } from '../server.ts';
import type { Variables } from './pattern.ts';
import { playTranscript, readTranscript, updateAsked } from './transcript.ts';

const update = updateAsked(process.env);

for (const path of globSync(join(import.meta.dirname, '*.http')).sort()) {
  test(basename(path), async (t) => {
    const transcript = await readTranscript(path);
    const { clock: time, ...given } = transcript.settings;
    await using fresh = await freshFolder();
    const settings = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value === 'fresh' ? fresh.path : value]),
    );
    const nowMs = Date.parse(time ?? '');
    const seams = time === undefined ? {} : { clock: () => nowMs };
    await using server = await startServer({ settings, seams });
    const { base } = server;
    const variables = await variablesOf(server);
    const step = (title: string, play: () => Promise<void>): Promise<void> => t.test(title, play);
    await playTranscript(transcript, { base, variables }, { update, step });
  });
}

/** What the setting `fresh` stands for: an empty folder, which goes with the server. */
async function freshFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'tapedeck-fresh-'));
  const drop = (): Promise<void> => rm(path, { recursive: true, force: true });
  return { path, [Symbol.asyncDispose]: drop };
}

async function variablesOf({
  base,
  publishable,
  secret,
  tapedeck,
}: TestServer): Promise<Variables> {
  const { accounts, adminToken: admin } = tapedeck.services;
  const tests = (await accounts.tokens(tapedeck.accountId)).filter(({ test }) => test);
  const textOf = (kind: string): string => tests.find((token) => token.kind === kind)?.text ?? '';
  return new Map(
    Object.entries({
      pk: publishable,
      sk: secret,
      tpk: textOf('publishable'),
      tsk: textOf('secret'),
      admin,
      base,
      ...(tapedeck.sandbox === undefined ? {} : { sandbox: tapedeck.sandbox }),
    }),
  );
}
