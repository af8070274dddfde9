// A server that waits to take the place of another one: it looks whether the catalog is free, and says
// meanwhile that it lives and is not ready.
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { tlsOf } from '../api/http/operations.ts';
import { Failure, reasonOf } from '../store/base/failure.ts';
import type { Settings } from '../store/base/settings.ts';
import { catalogOf } from './lakePlaces.ts';
import { startTapedeck, type Tapedeck } from './main.ts';

const LOOK_MS = 250;
const AWAY_MS = 2_000;

/** Starts once no other server serves the catalog. @param tell what it waits for, when that changes */
export async function startInTurn(
  settings: Settings,
  tell: (line: string) => void,
): Promise<Tapedeck> {
  for (;;) {
    await turn(settings, tell);
    try {
      return await startTapedeck(settings);
    } catch (error) {
      // Another one that waited was faster, or PostgreSQL went.
      if (!(error instanceof Failure) || error.type !== 'Busy') throw error;
      tell(reasonOf(error));
    }
  }
}

async function turn(settings: Settings, tell: (line: string) => void): Promise<void> {
  const place = await catalogOf(settings.database, { catalog: '' });
  let door: Server | undefined;
  let told = '';
  const say = (line: string): void => {
    if (line !== told) tell(line);
    told = line;
  };
  try {
    for (;;) {
      const state = await place.isHeld().catch((error: unknown) => reasonOf(error));
      if (state === false) return;
      say(state === true ? `stands by: another server serves ${place.name}` : state);
      door ??= await waitingDoor(settings);
      await sleep(state === true ? LOOK_MS : AWAY_MS);
    }
  } finally {
    door?.closeAllConnections();
    door?.close();
    if (door !== undefined) await once(door, 'close');
  }
}

/** What it answers until its turn comes. */
async function waitingDoor(settings: Settings): Promise<Server> {
  const { https } = await tlsOf(settings);
  const server = https === undefined ? createServer(answer) : createSecureServer(https, answer);
  server.listen({ host: settings.host, port: settings.port });
  await once(server, 'listening');
  return server;
}

const answer: RequestListener = ({ url = '' }, reply) => {
  const [path] = url.split('?');
  reply.setHeader('content-type', 'text/plain');
  if (path === '/healthz') return reply.end('ok\n');
  reply.statusCode = 503;
  reply.setHeader('retry-after', '1');
  return reply.end('not ready: standby, another server serves\n');
};
