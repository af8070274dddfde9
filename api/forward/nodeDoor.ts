// Connections between a node and the serving node for remote execution, loads and replication. Each is
// upgraded from HTTP.
import type { IncomingMessage, Server } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { http } from '../../store/base/http.ts';
import type { Clock } from '../../store/base/clock.ts';
import { VERSION } from '../../store/base/version.ts';
import { HOP_HEADER, hopAddress, type Hopping, signHop } from '../auth/hop.ts';
import { hostOf, type Target } from './hop.ts';

/** Kinds of remote worker processes: series reads, SQL, and writing lake files. */
export const LENT_KINDS = ['read', 'sql', 'ingest'] as const;
export type LentKind = (typeof LENT_KINDS)[number];

const PROTOCOL = 'tapedeck-node';
/** Only nodes of the same version connect: protocols may differ. */
const ROOT = `/nodes/${VERSION}`;
export const lendPath = (kind: LentKind): string => `${ROOT}/lend/${kind}`;
export const followPath = (nodeId: string): string => `${ROOT}/follow/${nodeId}`;
const FOLLOW = followPath('');
export const LOAD_PATH = `${ROOT}/load`;
const NODE_ID = /^[\w-]{1,64}$/;
/** Placeholder for the client's address: the node itself sends the request. */
const NODE_ADDRESS = '-';

/** Timeout of the upgrade; the connection is retried later. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Whether to upgrade the connection; other upgrade headers are ignored. */
export const isOfNode = ({ headers }: IncomingMessage): boolean => headers.upgrade === PROTOCOL;

/** Handlers of upgraded connections; each handler closes its socket. */
interface ConnectionHandlers {
  readonly lent: (kind: LentKind, socket: Socket) => void;
  /** A node offers to work on loads. */
  readonly loads: (socket: Socket) => void;
  /** A node follows changes to answer reads itself. */
  readonly follows: (nodeId: string, socket: Socket) => void;
}

export function takeNodes(
  server: Pick<Server, 'on'>,
  hopping: Hopping,
  { follows: onFollower, lent: onWorker, loads: onLoads }: ConnectionHandlers,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    const { headers, url = '' } = request;
    const kind = LENT_KINDS.find((one) => url === lendPath(one));
    const nodeId = url.startsWith(FOLLOW) ? url.slice(FOLLOW.length) : '';
    const isFollowing = NODE_ID.test(nodeId);
    const senderAddress = hopAddress(hopping, request, headers[HOP_HEADER]);
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
  const { hopKey: key, url } = target;
  const proxyHeader = signHop({ key, clock }, { method: 'GET', url: path }, NODE_ADDRESS);
  const options = {
    agent: target.agent.now(),
    hostname: hostOf(url),
    port: url.port,
    path,
    timeout: ANSWER_TIMEOUT_MS,
    signal,
    headers: {
      connection: 'Upgrade',
      upgrade: PROTOCOL,
      [HOP_HEADER]: proxyHeader,
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
