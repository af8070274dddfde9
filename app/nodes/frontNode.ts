// A node while another one serves: its ports are open, and requests are forwarded.
import { hostname } from 'node:os';
import type { Agent, IncomingMessage, Server } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { senderAddress, signProxyHeader } from '../../api/auth/proxyIdentity.ts';
import { type Forwarder, makeForwarder, type Targets } from '../../api/forward/forward.ts';
import {
  type FrontServer,
  openFrontServer,
  type LocalAnswer,
} from '../../api/forward/frontServer.ts';
import type { Target } from '../../api/forward/proxyRequest.ts';
import type { ForwardRequest } from '../../api/http/replicaServer.ts';
import type { Reading } from './replicaReads.ts';
import { nodeReachability } from '../../api/forward/reachability.ts';
import { makeRenewedAgent } from '../../api/forward/renewedAgent.ts';
import { readTls } from '../../api/http/operations.ts';
import { openMetricsServer } from '../../api/forward/metricsServer.ts';
import type { Observe } from '../../api/introspection/metrics/requestTimes.ts';
import { makeProxyMetrics, type ProxyMetrics } from '../../api/forward/proxyMetrics.ts';
import { http } from '../../store/base/http.ts';
import { systemClock } from '../../store/base/clock.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type {
  EndpointKind,
  NodeEndpoints,
  NodeTable,
  ServingNode,
} from '../../store/postgres/nodeTable.ts';

/** Longest wait of a request while no node serves: a start takes one or two seconds. */
const WAIT_MS = 15_000;

export interface FrontNode {
  /** Servers whose ports another server may take over. */
  readonly servers: Readonly<Partial<Record<EndpointKind, Server>>>;
  /** The server of /metrics alone, if it has a port of its own. */
  readonly metricsServer: Server | undefined;
  /** URLs under which other nodes reach its ports. */
  readonly doors: NodeEndpoints;
  /** The serving node, as the target of requests. */
  readonly serving: Targets;
  /** Stops listening: the ports belong to another server now. */
  leave(): void;
  close(graceMs: number): Promise<void>;
  /** Reports it as not ready: it will stop accepting requests soon. */
  readonly drain: () => void;
  /** Forwards a production request. */
  readonly handOn: ForwardRequest;
  /** Called with each read that this node answered itself. */
  readonly observe: Observe;
  /** Answers production reads with `reading` from now on, while it can. */
  readonly reads: (reading: Pick<Reading, 'taking'>) => void;
}

interface Front {
  readonly node: FrontNode;
  /** Forwards to the node that the table names from now on. */
  readonly begin: (table: NodeTable) => void;
}

/** Opens the ports; requests wait until `begin` is called. */
export async function openFront(settings: Settings): Promise<Front> {
  const { https } = await readTls(settings);
  const metrics = makeProxyMetrics();
  let table: NodeTable | undefined;
  const hasMetrics = settings.metricsAddress === undefined;
  let isDraining = false;
  const reads = makeReads();
  const opened: Partial<Record<EndpointKind, FrontServer>> = {};
  const targetGetters: (() => Target | undefined)[] = [];
  const open = async (kind: EndpointKind, port: number | undefined): Promise<void> => {
    if (port === undefined) return;
    const current = createTargetGetter(kind, () => table);
    targetGetters.push(current);
    const forward = createForwarder(current, settings, () => table, metrics.recordOutcome);
    const own = (path: string): ReturnType<typeof ownAnswer> =>
      ownAnswer(path, {
        serving: table?.serving,
        target: targetGetters[0]?.(),
        isDraining,
        metrics,
        hasMetrics,
      });
    const answer = kind === 'production' ? reads.orHandOn(forward) : forward;
    opened[kind] = await openFrontServer({
      ...settings,
      https,
      port,
      forward: answer,
      answerLocally: own,
    });
  };
  let monitor: FrontServer | undefined;
  const all = (): readonly FrontServer[] =>
    [...Object.values(opened), monitor].filter((door) => door !== undefined);
  const close = async (graceMs: number): Promise<void> => {
    await Promise.all(all().map((door) => door.close(graceMs)));
  };
  try {
    await open('production', settings.port);
    await open('test', settings.sandboxPort);
    await open('streams', settings.streamPort);
    monitor = await openMetricsServer({
      settings,
      https,
      metrics: () => renderMetrics(metrics, table?.serving?.name),
    });
  } catch (error) {
    await close(0);
    throw error;
  }
  const parts = { settings, opened, monitor, all, close, reads, metrics };
  const node = createNode(parts, {
    current: () => targetGetters[0]?.(),
    waitForChange: async (withinMs) => table?.waitForChange(withinMs),
    drain: () => (isDraining = true),
  });
  const begin = (nodes: NodeTable): void => {
    table = nodes;
    nodes.onServing(() => {
      for (const look of targetGetters) look();
    });
  };
  return { node, begin };
}

interface FrontParts {
  readonly settings: Settings;
  readonly opened: Readonly<Partial<Record<EndpointKind, FrontServer>>>;
  readonly monitor: FrontServer | undefined;
  readonly all: () => readonly FrontServer[];
  readonly close: FrontNode['close'];
  readonly reads: Reads;
  readonly metrics: ProxyMetrics;
}

function createNode(
  { all, close, metrics, monitor, opened, reads, settings }: FrontParts,
  { waitForChange, current, drain }: Targets & Pick<FrontNode, 'drain'>,
): FrontNode {
  const servers = Object.entries(opened).map(([kind, { server }]) => [kind, server]);
  return {
    servers: Object.fromEntries(servers),
    metricsServer: monitor?.server,
    doors: listDoors(opened, settings),
    serving: { current, waitForChange },
    leave: () => {
      for (const door of all()) door.leave();
    },
    close,
    drain,
    handOn: reads.handOn,
    observe: metrics.observe,
    reads: reads.by,
  };
}

/** URLs under which other nodes reach its ports. */
function listDoors(
  opened: Readonly<Partial<Record<EndpointKind, FrontServer>>>,
  settings: Settings,
): NodeEndpoints {
  const scheme = settings.tlsCert === '' ? 'http' : 'https';
  const name = nodeHost(settings);
  const urls = Object.entries(opened).map(([kind, { port }]) => [
    kind,
    `${scheme}://${name}:${port}`,
  ]);
  return Object.fromEntries(urls) as NodeEndpoints;
}

interface Reads {
  /** Answers a request locally if possible, and forwards the others. */
  readonly orHandOn: (forward: Forwarder) => Forwarder;
  readonly handOn: ForwardRequest;
  readonly by: FrontNode['reads'];
}

function makeReads(): Reads {
  let reading: Pick<Reading, 'taking'> | undefined;
  let handOn: Forwarder = async () => undefined;
  return {
    orHandOn: (forward) => {
      handOn = forward;
      return async (incoming, outgoing) => {
        const take = mayBeRead(incoming) ? reading?.taking() : undefined;
        if (take === undefined) await forward(incoming, outgoing);
        else take(incoming, outgoing);
      };
    },
    handOn: (incoming, outgoing) => {
      // On any failure the client's connection is closed.
      handOn(incoming, outgoing).catch(() => outgoing.destroy());
    },
    by: (next) => (reading = next),
  };
}

/** Other requests are forwarded without a closer check. */
const READS = /^\/[^/]+\/(?:time-series|data|sql-query)\//;

const mayBeRead = ({ headers, method, url = '' }: IncomingMessage): boolean =>
  method === 'GET' &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  READS.test(url);

function nodeHost({ host, nodeHost: named }: Pick<Settings, 'host' | 'nodeHost'>): string {
  const own = ['0.0.0.0', '::'].includes(host) ? hostname() : host;
  const name = named === '' ? own : named;
  return name.includes(':') ? `[${name}]` : name;
}

/**
 * Returns the serving node, at its port of this kind. Requests to a former one are aborted with its
 * connections.
 */
function createTargetGetter(
  kind: EndpointKind,
  table: () => NodeTable | undefined,
): () => Target | undefined {
  let target: Target | undefined;
  return () => {
    const serving = table()?.serving;
    // A node that is ending may finish its answers until the next one serves.
    if (serving === undefined || serving.id === target?.id) return serving && target;
    target?.agent.destroy();
    target = createTarget(serving, kind);
    return target;
  };
}

function createForwarder(
  current: () => Target | undefined,
  { trustedProxies }: Settings,
  table: () => NodeTable | undefined,
  onHop: Parameters<typeof makeForwarder>[0]['recordOutcome'],
): Forwarder {
  return makeForwarder({
    targets: {
      current,
      waitForChange: async (withinMs) => {
        await table()?.waitForChange(withinMs);
      },
    },
    signHeader: ({ proxyKey: key }, incoming) =>
      signProxyHeader(
        { key, clock: systemClock },
        incoming,
        senderAddress(incoming, trustedProxies),
      ),
    waitMs: WAIT_MS,
    recordOutcome: onHop,
  });
}

/** Undefined where it has no such port. */
function createTarget(
  { certificate, doors, hopKey, id }: ServingNode,
  kind: EndpointKind,
): Target | undefined {
  const door = doors[kind];
  if (door === undefined) return undefined;
  const options = { keepAlive: true, maxFreeSockets: 256 };
  const connections = (): Agent =>
    certificate === ''
      ? new http.Agent(options)
      : // Trusts exactly its certificate, for any host name: the catalog links it to the node.
        new SecureAgent({
          ...options,
          ca: certificate,
          allowPartialTrustChain: true,
          checkServerIdentity: () => undefined,
        });
  const [agent, url] = [makeRenewedAgent(connections), new URL(door)];
  return {
    id,
    url,
    agent,
    proxyKey: hopKey,
    reachability: nodeReachability(url, agent, connections),
  };
}

interface AnswerParts {
  readonly serving: ServingNode | undefined;
  /** Its first port. */
  readonly target: Target | undefined;
  readonly isDraining: boolean;
  readonly metrics: ProxyMetrics;
  /** Whether /metrics has no port of its own. */
  readonly hasMetrics: boolean;
}

const renderMetrics = async (
  { contentType, text }: ProxyMetrics,
  serving: string | undefined,
): Promise<LocalAnswer> => ({ status: 200, type: contentType, text: await text(serving) });

/** Answers requests for this process itself. */
function ownAnswer(
  path: string,
  { hasMetrics, isDraining, metrics, serving, target }: AnswerParts,
): LocalAnswer | Promise<LocalAnswer> | undefined {
  const type = 'text/plain';
  if (path === '/healthz') return { status: 200, type, text: 'ok\n' };
  if (path === '/metrics' && hasMetrics) return renderMetrics(metrics, serving?.name);
  if (path !== '/readyz') return undefined;
  if (isDraining) return { status: 503, type, text: 'not ready: draining\n' };
  if (serving === undefined || target === undefined)
    return { status: 503, type, text: 'not ready: no node serves\n' };
  const { name } = serving;
  return target.reachability.checkReachable().then((isReached) =>
    isReached
      ? { status: 200, type, text: `ready: ${name} serves\n` }
      : {
          status: 503,
          type,
          text: `not ready: ${name} serves, and can not be reached from here\n`,
        },
  );
}
