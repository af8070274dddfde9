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

const LOOK_MS = 500;
const AWAY_MS = 2_000;

/** Starts once no other server serves the catalog. @param tell what it waits for, when that changes */
export async function startInTurn(
  settings: Settings,
  tell: (line: string) => void,
): Promise<Tapedeck> {
  const place = await catalogOf(settings.database, { catalog: '' });
  let told = '';
  let door: Server | undefined;
  const wait = async (why: string, ms: number): Promise<void> => {
    if (why !== told) tell(why);
    told = why;
    door ??= await waitingDoor(settings);
    await sleep(ms);
  };
  try {
    for (;;) {
      const state = await place.isHeld().catch((error: unknown) => reasonOf(error));
      if (state === true) await wait(`stands by: another server serves ${place.name}`, LOOK_MS);
      else if (state !== false) await wait(state, AWAY_MS);
      else {
        door = await closed(door);
        const started = await startTapedeck(settings).catch((error: unknown) => {
          // Another one that waited was faster, PostgreSQL went, or the data folder is in use.
          if (error instanceof Failure && error.type === 'Busy') return reasonOf(error);
          throw error;
        });
        if (typeof started !== 'string') return started;
        await wait(started, AWAY_MS);
      }
    }
  } finally {
    await closed(door);
  }
}

async function closed(door: Server | undefined): Promise<undefined> {
  if (door === undefined) return;
  door.closeAllConnections();
  door.close();
  await once(door, 'close');
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
