// Connections between a node and the serving node for remote execution, loads and replication. Each is
// upgraded from HTTP.
import type { IncomingMessage, Server } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { http } from '../../store/base/http.ts';
import type { Clock } from '../../store/base/clock.ts';
import { VERSION } from '../../store/base/version.ts';
import {
  PROXY_HEADER,
  verifyProxyHeader,
  type ProxySigning,
  signProxyHeader,
} from '../auth/proxyIdentity.ts';
import { hostWithoutBrackets, type Target } from './proxyRequest.ts';

/** Kinds of remote worker processes: series reads, SQL, and writing lake files. */
export const WORKER_KINDS = ['read', 'sql', 'ingest'] as const;
export type WorkerKind = (typeof WORKER_KINDS)[number];

const PROTOCOL = 'tapedeck-node';
/** Only nodes of the same version connect: protocols may differ. */
const ROOT = `/nodes/${VERSION}`;
export const workerPath = (kind: WorkerKind): string => `${ROOT}/lend/${kind}`;
export const followPath = (nodeId: string): string => `${ROOT}/follow/${nodeId}`;
const FOLLOW = followPath('');
export const LOAD_PATH = `${ROOT}/load`;
const NODE_ID = /^[\w-]{1,64}$/;
/** Placeholder for the client's address: the node itself sends the request. */
const NODE_ADDRESS = '-';

/** Timeout of the upgrade; the connection is retried later. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Whether to upgrade the connection; other upgrade headers are ignored. */
export const isNodeUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade === PROTOCOL;

/** Handlers of upgraded connections; each handler closes its socket. */
interface ConnectionHandlers {
  readonly onWorker: (kind: WorkerKind, socket: Socket) => void;
  /** A node offers to work on loads. */
  readonly onLoads: (socket: Socket) => void;
  /** A node follows changes to answer reads itself. */
  readonly onFollower: (nodeId: string, socket: Socket) => void;
}

export function acceptNodes(
  server: Pick<Server, 'on'>,
  hopping: ProxySigning,
  { onFollower, onWorker, onLoads }: ConnectionHandlers,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    const { headers, url = '' } = request;
    const kind = WORKER_KINDS.find((one) => url === workerPath(one));
    const nodeId = url.startsWith(FOLLOW) ? url.slice(FOLLOW.length) : '';
    const isFollowing = NODE_ID.test(nodeId);
    const senderAddress = verifyProxyHeader(hopping, request, headers[PROXY_HEADER]);
    const isKnownPath = kind !== undefined || isFollowing || url === LOAD_PATH;
    if (!isKnownPath || senderAddress !== NODE_ADDRESS) return void socket.destroy();
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${PROTOCOL}\r\n\r\n`,
    );
    if (kind !== undefined) onWorker(kind, socket);
    else if (isFollowing) onFollower(nodeId, socket);
    else onLoads(socket);
  });
}

/** Opens a connection that the target upgrades. @param path its purpose @throws Error if it is refused */
export function openNodeConnection(
  target: Target,
  path: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<Socket> {
  const { proxyKey: key, url } = target;
  const proxyHeader = signProxyHeader({ key, clock }, { method: 'GET', url: path }, NODE_ADDRESS);
  const options = {
    agent: target.agent.current(),
    hostname: hostWithoutBrackets(url),
    port: url.port,
    path,
    timeout: ANSWER_TIMEOUT_MS,
    signal,
    headers: {
      connection: 'Upgrade',
      upgrade: PROTOCOL,
      [PROXY_HEADER]: proxyHeader,
    },
  };
  const upgradeRequest = url.protocol === 'https:' ? secureRequest(options) : http.request(options);
  return new Promise((resolve, reject) => {
    upgradeRequest.once('upgrade', (_answer, socket: Socket, head: Buffer) => {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    upgradeRequest.once('response', (answer) => {
      answer.resume();
      reject(new Error(`it answered ${answer.statusCode}`));
    });
    upgradeRequest.once('timeout', () => upgradeRequest.destroy(new Error('it did not answer')));
    upgradeRequest.once('error', reject);
    upgradeRequest.end();
  });
}
