// Composes the server from its parts, starts it, and shuts it down.
import { once } from 'node:events';
import { sep } from 'node:path';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addLlmsText } from '../api/agents/llmsText.ts';
import { addMcpDoor } from '../api/agents/mcpDoor.ts';
import { addressOf, type Fence } from '../api/auth/admission.ts';
import { VERSION } from '../store/base/version.ts';
import { monotonicMs } from '../store/base/clock.ts';
import { checkOpenFiles, openFilesMax } from './openFiles.ts';
import type { Settings } from '../store/base/settings/settings.ts';
import { ANSWERS_SHARE, closeDoors } from '../api/http/drain.ts';
import { LENT_KINDS, type LentKind, takeNodes } from '../api/forward/nodeDoor.ts';
import type { DuckDbPool } from '../store/duckdb/pool.ts';
import { Borrowed } from '../store/lent/borrowed.ts';
import { makeReplays } from '../api/auth/replays.ts';
import { makeThrottle, type Environment, type Throttle } from '../api/request/throttle.ts';
import type { Audience } from '../store/replica/audience.ts';
import { type Core, type Seams, openCore } from './core.ts';
import { ASLEEP_WARNING, beginOrWait } from './starting.ts';
import { isAsleep } from '../store/catalog/asleep.ts';
import type { DoorKind } from '../store/postgres/nodeTable.ts';
import { keepRequestsYoung } from './v8Flags.ts';
import { makeState, metricsAnswer, type ServerState, tlsOf } from '../api/http/operations.ts';
import type { FrontDoor } from '../api/forward/frontDoor.ts';
import { openMetricsDoor } from '../api/forward/metricsDoor.ts';
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
  readonly servers: Readonly<Partial<Record<DoorKind, Server>>>;
  /** Server of /metrics, which this server takes over too. */
  readonly metricsServer?: Server | undefined;
  /** Key with which other nodes sign requests. */
  readonly hopKey: string;
  /** Decides whether it may still answer. */
  readonly fence?: Fence;
  /** Creates the publisher for nodes that answer reads, once this one is open. */
  readonly audience?: (core: Core, throttle: Throttle) => Promise<Audience>;
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
  const state = makeState(services, seams.pace);
  const servers: FastifyInstance[] = [];
  const throttle = throttleOf('production', settings, seams);
  const nodes = handover && { ...handover, audience: await handover.audience?.(core, throttle) };
  const open = async (kind: DoorKind, port: number | undefined): Promise<string | undefined> => {
    if (port === undefined) return undefined;
    const own = kind === 'production' ? throttle : throttleOf(environmentOf(kind), settings, seams);
    const server = await openDoor(core, kind, state, { throttle: own, seams, nodes });
    servers.push(server);
    const former = handover?.servers[kind];
    if (former === undefined) await server.listen({ host: settings.host, port });
    else await listenInPlace(server, former);
    return baseOf(settings, (server.server.address() as AddressInfo).port);
  };
  let monitor: FrontDoor | undefined;
  let endWait = (): void => undefined;
  const close = async (): Promise<void> => {
    endWait();
    state.draining = true;
    services.streams.open.close();
    services.streams.hub.close();
    for (const kind of LENT_KINDS) poolFor(kind, services).dismiss();
    nodes?.audience?.close();
    await closeDoors(servers, settings.drainMs * ANSWERS_SHARE);
    await monitor?.close(0);
    await core.close();
  };
  try {
    const base = (await open('production', settings.port)) ?? '';
    const sandbox = await open('test', settings.sandboxPort);
    const streaming = await open('streams', settings.streamPort);
    monitor = await openMonitor(settings, services, state, handover);
    const monitoring = monitor && baseOf({ ...settings, ...settings.metricsPlace }, monitor.port);
    endWait = await beginOrWait(core, seams.watch !== false);
    const drain = (): void => void (state.draining = true);
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
): Promise<FrontDoor | undefined> =>
  openMetricsDoor({
    settings,
    https: (await tlsOf(settings)).https,
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

const environmentOf = (kind: DoorKind): Environment => (kind === 'test' ? kind : 'production');

const throttleOf = (
  environment: Environment,
  { rateLimit }: Settings,
  { monotonic = monotonicMs }: Seams,
): Throttle => makeThrottle(rateLimit, environment, monotonic);

interface DoorParts {
  readonly seams: Seams;
  readonly throttle: Throttle;
  readonly nodes?:
    | { readonly audience: Audience | undefined; readonly fence?: Fence; readonly hopKey: string }
    | undefined;
}

/** Opens the routes of one port; operator routes are not part of the test environment. */
async function openDoor(
  { services, log }: Core,
  kind: DoorKind,
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
  const door = {
    environment,
    streamsOnly,
    proxies,
    hopping,
    throttle,
    replays,
    fence: nodes?.fence,
  };
  const server = await buildServer(rows, { services, log, door }, state);
  if (nodes !== undefined && hopping !== undefined) {
    takeNodes(server.server, hopping, {
      lent: (poolKind, socket) => {
        const pool = poolFor(poolKind, services);
        if (state.draining) socket.destroy();
        else pool.lend(new Borrowed(socket, `${services.folder.lake}${sep}`));
      },
      loads: (socket) => {
        if (state.draining) socket.destroy();
        else services.loadGiver.join(socket);
      },
      follows: (nodeId, socket) => {
        if (state.draining || nodes.audience === undefined) socket.destroy();
        else nodes.audience.join(nodeId, socket);
      },
    });
  }
  if (!streamsOnly) {
    const { accounts, settings } = services;
    const place = (request: FastifyRequest): string => addressOf(request, door);
    addLlmsText(server);
    addMcpDoor(server, { accounts, log, settings, version: VERSION, addressOf: place });
  }
  return server;
}

function poolFor(kind: LentKind, { ingestion, series, sql }: Core['services']): DuckDbPool {
  if (kind === 'read') return series.pool;
  return kind === 'sql' ? sql.pool : ingestion.pool;
}

/** The same routes without a port, for the command line. */
export const openUnlistened = (core: Core): Promise<FastifyInstance> =>
  openDoor(core, 'production', makeState(core.services), {
    seams: {},
    throttle: throttleOf('production', core.services.settings, {}),
  });

function baseOf({ host, tlsCert }: Pick<Settings, 'host' | 'tlsCert'>, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tlsCert === '' ? 'http' : 'https'}://${name}:${port}`;
}
