// What nodes that do not serve ask of the one that does, beside what they hand on: each is a connection,
// which that node takes over from HTTP.
import type { IncomingMessage, Server } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { http } from '../../store/base/http.ts';
import type { Clock } from '../../store/base/clock.ts';
import { VERSION } from '../../store/base/version.ts';
import { HOP_HEADER, hopAddress, type Hopping, signHop } from '../auth/hop.ts';
import { hostOf, type Target } from './hop.ts';

/** A process that is lent, for reads of series, for SQL, or to write files of what the lake has. */
export const LENT_KINDS = ['read', 'sql', 'ingest'] as const;
export type LentKind = (typeof LENT_KINDS)[number];

const PROTOCOL = 'tapedeck-node';
/** Of one version only: another one may answer otherwise. */
const ROOT = `/nodes/${VERSION}`;
export const lendPath = (kind: LentKind): string => `${ROOT}/lend/${kind}`;
export const followPath = (nodeId: string): string => `${ROOT}/follow/${nodeId}`;
const FOLLOW = followPath('');
export const LOAD_PATH = `${ROOT}/load`;
const NODE_ID = /^[\w-]{1,64}$/;
/** Nobody's address: it is the node itself that asks. */
const NOBODY = '-';

/** A node that does not take it for so long is asked again later. */
const ANSWER_MS = 5_000;

/** Whether a connection is to be taken over; any other upgrade is not asked for, and HTTP goes on. */
export const isOfNode = ({ headers }: IncomingMessage): boolean => headers.upgrade === PROTOCOL;

/** Takes connections of nodes of the same catalog; whoever has one closes it. */
interface Taking {
  readonly lent: (kind: LentKind, socket: Socket) => void;
  /** A node works on loads. */
  readonly loads: (socket: Socket) => void;
  /** A node answers reads by what it is told. */
  readonly follows: (nodeId: string, socket: Socket) => void;
}

export function takeNodes(
  server: Pick<Server, 'on'>,
  hopping: Hopping,
  { follows, lent, loads }: Taking,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    const { headers, url = '' } = request;
    const kind = LENT_KINDS.find((one) => url === lendPath(one));
    const nodeId = url.startsWith(FOLLOW) ? url.slice(FOLLOW.length) : '';
    const isFollowing = NODE_ID.test(nodeId);
    const from = hopAddress(hopping, request, headers[HOP_HEADER]);
    const isKnown = kind !== undefined || isFollowing || url === LOAD_PATH;
    if (!isKnown || from !== NOBODY) return void socket.destroy();
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${PROTOCOL}\r\n\r\n`,
    );
    if (kind !== undefined) lent(kind, socket);
    else if (isFollowing) follows(nodeId, socket);
    else loads(socket);
  });
}

/** A connection that the target takes over. @param path what for @throws Error where it is not taken */
export function openNodeConnection(
  target: Target,
  path: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<Socket> {
  const { hopKey: key, url } = target;
  const hop = signHop({ key, clock }, { method: 'GET', url: path }, NOBODY);
  const options = {
    agent: target.agent.now(),
    hostname: hostOf(url),
    port: url.port,
    path,
    timeout: ANSWER_MS,
    signal,
    headers: {
      connection: 'Upgrade',
      upgrade: PROTOCOL,
      [HOP_HEADER]: hop,
    },
  };
  const asking = url.protocol === 'https:' ? secureRequest(options) : http.request(options);
  return new Promise((resolve, reject) => {
    asking.once('upgrade', (_answer, socket: Socket, head: Buffer) => {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asking.once('response', (answer) => {
      answer.resume();
      reject(new Error(`it answered ${answer.statusCode}`));
    });
    asking.once('timeout', () => asking.destroy(new Error('it did not answer')));
    asking.once('error', reject);
    asking.end();
  });
}
