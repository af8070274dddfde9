// Plays every `.http` file against a server of its own; see transcript.ts for the format.
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { startServer, type TestServer } from '../base/server.ts';
import type { Variables } from './pattern.ts';
import { conversationOf, readTranscript, isUpdateRequested, type World } from './transcript.ts';

const update = isUpdateRequested(process.env);

for (const path of globSync(join(import.meta.dirname, 'cases', '*', '*.http')).sort()) {
  describe(basename(path), async () => {
    const transcript = await readTranscript(path);
    const { finish, steps } = conversationOf(transcript, update);
    let world: World & AsyncDisposable;
    beforeAll(async () => {
      world = await startWorld(transcript.settings);
    });
    afterAll(async () => {
      await world[Symbol.asyncDispose]();
      await finish();
    });
    for (const { play, title } of steps) test(title, () => play(world));
  });
}

/** A server with the settings of a transcript; `fresh` is an empty folder, which is removed with it. */
async function startWorld(
  transcriptSettings: Readonly<Record<string, string>>,
): Promise<World & AsyncDisposable> {
  const { clock: time, ...texts } = transcriptSettings;
  const fresh = await mkdtemp(join(tmpdir(), 'tapedeck-fresh-'));
  const settings = Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name, value === 'fresh' ? fresh : value]),
  );
  const nowMs = Date.parse(time ?? '');
  const seams = time === undefined ? {} : { clock: () => nowMs };
  const server = await startServer({ settings, seams });
  const drop = async (): Promise<void> => {
    await server.close();
    await rm(fresh, { recursive: true, force: true });
  };
  const { base } = server;
  return { base, variables: await variablesOf(server), [Symbol.asyncDispose]: drop };
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
