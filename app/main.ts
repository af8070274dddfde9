// The one file that knows everything: composes the server from its parts, and takes it down.
import type { AddressInfo } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addLlmsText } from '../api/agents/llmsText.ts';
import { addMcpDoor } from '../api/agents/mcpDoor.ts';
import { addressOf } from '../api/auth/admission.ts';
import { VERSION } from '../store/base/version.ts';
import { monotonicMs } from '../store/base/clock.ts';
import { checkOpenFiles, openFilesMax } from '../store/base/openFiles.ts';
import type { Settings } from '../store/base/settings.ts';
import { ANSWERS_SHARE, closeDoors } from '../api/http/drain.ts';
import { makeReplays } from '../api/auth/replays.ts';
import { makeThrottle, type Environment } from '../api/request/throttle.ts';
import { type Core, type Seams, openCore } from './core.ts';
import { ASLEEP_WARNING, beginOrWait } from './starting.ts';
import { isAsleep } from '../store/catalog/asleep.ts';
import { keepRequestsYoung } from './v8Flags.ts';
import { makeState, type ServerState } from '../api/http/operations.ts';
import { ENDPOINTS } from '../api/endpoints/index.ts';
import { STREAMS } from '../api/endpoints/read/streams.ts';
import { buildServer } from '../api/http/server.ts';

export interface Tapedeck extends Core {
  /** `http://host:port`. */
  readonly base: string;
  /** The same of the test environment, when there is one. */
  readonly sandbox: string | undefined;
  /** The same of streams alone, when it has a port of its own. */
  readonly streaming: string | undefined;
}

/** Opens everything and listens. */
export async function startTapedeck(settings: Settings, seams: Seams = {}): Promise<Tapedeck> {
  keepRequestsYoung();
  const fewFiles = checkOpenFiles(openFilesMax());
  const opened = await openCore(settings, seams);
  const core = {
    ...opened,
    warnings: [
      ...opened.warnings,
      ...(fewFiles === undefined ? [] : [fewFiles]),
      ...(isAsleep(opened.services.folder.root) ? [ASLEEP_WARNING] : []),
    ],
  };
  const { services } = core;
  if (seams.warm !== false) services.series.pool.warm();
  const state = makeState(services, seams.pace);
  const servers: FastifyInstance[] = [];
  const open = async (
    environment: Environment,
    port: number | undefined,
    streamsOnly = false,
  ): Promise<string | undefined> => {
    if (port === undefined) return undefined;
    const server = await openDoor(core, environment, state, seams, streamsOnly);
    servers.push(server);
    await server.listen({ host: settings.host, port });
    return baseOf(settings, (server.server.address() as AddressInfo).port);
  };
  let endWait = (): void => undefined;
  const close = async (): Promise<void> => {
    endWait();
    state.draining = true;
    services.streams.open.close();
    services.streams.hub.close();
    await closeDoors(servers, settings.drainMs * ANSWERS_SHARE);
    await core.close();
  };
  try {
    const base = (await open('production', settings.port)) ?? '';
    const sandbox = await open('test', settings.sandboxPort);
    const streaming = await open('production', settings.streamPort, true);
    endWait = await beginOrWait(core, seams.watch !== false);
    return { ...core, base, sandbox, streaming, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The routes of one port; the operator's are not part of the test environment. */
async function openDoor(
  { services, log }: Core,
  environment: Environment,
  state: ServerState,
  { monotonic = monotonicMs }: Seams,
  streamsOnly = false,
): Promise<FastifyInstance> {
  const all = streamsOnly ? STREAMS : ENDPOINTS;
  const rows = all.filter(({ token }) => environment === 'production' || token !== 'admin');
  const throttle = makeThrottle(services.settings.rateLimit, environment, monotonic);
  const { trustedProxies: proxies } = services.settings;
  const door = { environment, streamsOnly, proxies, throttle, replays: makeReplays(monotonic) };
  const server = await buildServer(rows, { services, log, door }, state);
  if (!streamsOnly) {
    const { accounts } = services;
    const place = (request: FastifyRequest): string => addressOf(request, door);
    addLlmsText(server);
    addMcpDoor(server, { accounts, log, version: VERSION, addressOf: place });
  }
  return server;
}

/** The same routes without a port, for the command line. */
export const openUnlistened = (core: Core): Promise<FastifyInstance> =>
  openDoor(core, 'production', makeState(core.services), {});

function baseOf({ host, tlsCert }: Settings, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tlsCert === '' ? 'http' : 'https'}://${name}:${port}`;
}
