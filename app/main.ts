// Composes the server from its parts, starts it, and shuts it down.
import { once } from 'node:events';
import { sep } from 'node:path';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addLlmsText } from '../api/agents/llmsText.ts';
import { addMcpEndpoint } from '../api/agents/mcpEndpoint.ts';
import { readClientAddress, type Fence } from '../api/auth/admission.ts';
import { VERSION } from '../store/base/version.ts';
import { monotonicMs } from '../store/base/clock.ts';
import { checkOpenFiles, openFilesMax } from './openFiles.ts';
import type { Settings } from '../store/base/settings/settings.ts';
import { ANSWERS_SHARE, closeServers } from '../api/http/drain.ts';
import { WORKER_KINDS, type WorkerKind, acceptNodes } from '../api/forward/nodeConnections.ts';
import type { DuckDbPool } from '../store/duckdb/pool.ts';
import { RemoteExecutor } from '../store/remote/remoteExecutor.ts';
import { makeReplays } from '../api/auth/replays.ts';
import { makeThrottle, type Throttle } from '../api/request/throttle.ts';
import { type Environment } from '../reads/request/readRequest.ts';
import type { Followers } from '../store/replica/followers.ts';
import { type Core, type Seams, openCore } from './core.ts';
import { ASLEEP_WARNING, startOrWait } from './startOrWait.ts';
import { isAsleep } from '../store/catalog/restoreGuard.ts';
import type { EndpointKind } from '../store/postgres/nodeTable.ts';
import { keepRequestsYoung } from './v8Flags.ts';
import {
  makeServerState,
  metricsAnswer,
  type ServerState,
  readTls,
} from '../api/http/operations.ts';
import type { FrontServer } from '../api/forward/frontServer.ts';
import { openMetricsServer } from '../api/forward/metricsServer.ts';
import { ENDPOINTS } from '../api/endpoints/index.ts';
import { STREAMS } from '../api/endpoints/read/streams.ts';
import { buildServer } from '../api/http/server.ts';

export interface Tapedeck extends Core {
  /** `http://host:port`. */
  readonly base: string;
  /** Base URL of the test environment, if enabled. */
  readonly sandbox: string | undefined;
  /** Base URL of the port for streams only, if it has one. */
  readonly streaming: string | undefined;
  /** Base URL of the port for /metrics only, if it has one. */
  readonly monitoring: string | undefined;
  /** Reports it as not ready; requests are still answered. */
  readonly drain: () => void;
}

/** Parts that a node hands over when it begins to serve. */
interface Handover {
  /** Their ports become those of the server, without an interruption of listening. */
  readonly servers: Readonly<Partial<Record<EndpointKind, Server>>>;
  /** Server of /metrics, which this server takes over too. */
  readonly metricsServer?: Server | undefined;
  /** Key with which other nodes sign requests. */
  readonly hopKey: string;
  /** Decides whether it may still answer. */
  readonly fence?: Fence;
  /** Creates the publisher for nodes that answer reads, once this one is open. */
  readonly audience?: (core: Core, throttle: Throttle) => Promise<Followers>;
}

/** Opens all services and listens. */
export async function startTapedeck(
  settings: Settings,
  seams: Seams = {},
  handover?: Handover,
): Promise<Tapedeck> {
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
  const state = makeServerState(services, seams.pace);
  const servers: FastifyInstance[] = [];
  const throttle = throttleOf('production', settings, seams);
  const nodes = handover && { ...handover, audience: await handover.audience?.(core, throttle) };
  const open = async (
    kind: EndpointKind,
    port: number | undefined,
  ): Promise<string | undefined> => {
    if (port === undefined) return undefined;
    const own = kind === 'production' ? throttle : throttleOf(environmentOf(kind), settings, seams);
    const server = await openDoor(core, kind, state, { throttle: own, seams, nodes });
    servers.push(server);
    const former = handover?.servers[kind];
    if (former === undefined) await server.listen({ host: settings.host, port });
    else await listenInPlace(server, former);
    return baseOf(settings, (server.server.address() as AddressInfo).port);
  };
  let monitor: FrontServer | undefined;
  let endWait = (): void => undefined;
  const close = async (): Promise<void> => {
    endWait();
    state.isDraining = true;
    services.streams.open.close();
    services.streams.hub.close();
    for (const kind of WORKER_KINDS) poolFor(kind, services).removeRemotes();
    nodes?.audience?.close();
    await closeServers(servers, settings.drainMs * ANSWERS_SHARE);
    await monitor?.close(0);
    await core.close();
  };
  try {
    const base = (await open('production', settings.port)) ?? '';
    const sandbox = await open('test', settings.sandboxPort);
    const streaming = await open('streams', settings.streamPort);
    monitor = await openMonitor(settings, services, state, handover);
    const monitoring = monitor && baseOf({ ...settings, ...settings.metricsAddress }, monitor.port);
    endWait = await startOrWait(core, seams.watch !== false);
    const drain = (): void => void (state.isDraining = true);
    return { ...core, base, sandbox, streaming, monitoring, drain, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const openMonitor = async (
  settings: Settings,
  services: Core['services'],
  state: ServerState,
  handover: Handover | undefined,
): Promise<FrontServer | undefined> =>
  openMetricsServer({
    settings,
    https: (await readTls(settings)).https,
    metrics: (incoming) => metricsAnswer(incoming, services, state),
    former: handover?.metricsServer,
  });

/** New connections belong to the server; those of the former one stay with it. */
async function listenInPlace(server: FastifyInstance, former: Server): Promise<void> {
  await server.ready();
  const listening = once(server.server, 'listening');
  server.server.listen(former);
  await listening;
}

const environmentOf = (kind: EndpointKind): Environment => (kind === 'test' ? kind : 'production');

const throttleOf = (
  environment: Environment,
  { rateLimit }: Settings,
  { monotonic = monotonicMs }: Seams,
): Throttle => makeThrottle(rateLimit, environment, monotonic);

interface DoorParts {
  readonly seams: Seams;
  readonly throttle: Throttle;
  readonly nodes?:
    | { readonly audience: Followers | undefined; readonly fence?: Fence; readonly hopKey: string }
    | undefined;
}

/** Opens the routes of one port; operator routes are not part of the test environment. */
async function openDoor(
  { services, log }: Core,
  kind: EndpointKind,
  state: ServerState,
  { nodes, seams: { monotonic = monotonicMs }, throttle }: DoorParts,
): Promise<FastifyInstance> {
  const streamsOnly = kind === 'streams';
  const environment = environmentOf(kind);
  const all = streamsOnly ? STREAMS : ENDPOINTS;
  const rows = all.filter(({ token }) => environment === 'production' || token !== 'admin');
  const { trustedProxies: proxies } = services.settings;
  const hopping = nodes && { key: nodes.hopKey, clock: services.clock };
  const replays = makeReplays(monotonic);
  const port = {
    environment,
    hasStreamsOnly: streamsOnly,
    proxies,
    proxySigning: hopping,
    throttle,
    replays,
    fence: nodes?.fence,
  };
  const server = await buildServer(rows, { services, log, port }, state);
  if (nodes !== undefined && hopping !== undefined) {
    acceptNodes(server.server, hopping, {
      onWorker: (poolKind, socket) => {
        const pool = poolFor(poolKind, services);
        if (state.isDraining) socket.destroy();
        else pool.addRemote(new RemoteExecutor(socket, `${services.folder.lake}${sep}`));
      },
      onLoads: (socket) => {
        if (state.isDraining) socket.destroy();
        else services.loadGiver.join(socket);
      },
      onFollower: (nodeId, socket) => {
        if (state.isDraining || nodes.audience === undefined) socket.destroy();
        else nodes.audience.join(nodeId, socket);
      },
    });
  }
  if (!streamsOnly) {
    const { accounts, settings } = services;
    const place = (request: FastifyRequest): string => readClientAddress(request, port);
    addLlmsText(server);
    addMcpEndpoint(server, { accounts, log, settings, version: VERSION, clientAddress: place });
  }
  return server;
}

function poolFor(kind: WorkerKind, { ingestion, series, sql }: Core['services']): DuckDbPool {
  if (kind === 'read') return series.pool;
  return kind === 'sql' ? sql.pool : ingestion.pool;
}

/** The same routes without a port, for the command line. */
export const openUnlistened = (core: Core): Promise<FastifyInstance> =>
  openDoor(core, 'production', makeServerState(core.services), {
    seams: {},
    throttle: throttleOf('production', core.services.settings, {}),
  });

function baseOf({ host, tlsCert }: Pick<Settings, 'host' | 'tlsCert'>, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tlsCert === '' ? 'http' : 'https'}://${name}:${port}`;
}
