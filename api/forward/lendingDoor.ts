// Query processes that a node which does not serve lends to the one that does: each is a connection, which
// that node takes over from HTTP.
import type { IncomingMessage, Server } from 'node:http';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '../../store/base/clock.ts';
import { VERSION } from '../../store/base/version.ts';
import { HOP_HEADER, hopAddress, type Hopping, signHop } from '../auth/hop.ts';
import { hostOf, type Target } from './hop.ts';

/** Reads of series, or SQL. */
const LENT_KINDS = ['read', 'sql'] as const;
export type LentKind = (typeof LENT_KINDS)[number];

const PROTOCOL = 'tapedeck-lend';
/** Of one version only: another one may write an answer otherwise. */
const pathOf = (kind: LentKind): string => `/lend/${VERSION}/${kind}`;
/** Nobody's address: it is the node itself that asks. */
const NOBODY = '-';

/** A node that does not take it for so long is asked again later. */
const ANSWER_MS = 5_000;

/** Whether a connection is to be taken over; any other upgrade is not asked for, and HTTP goes on. */
export const isLent = ({ headers }: IncomingMessage): boolean => headers.upgrade === PROTOCOL;

/** @param take is given connections of nodes of the same catalog alone */
export function takeLent(
  server: Pick<Server, 'on'>,
  hopping: Hopping,
  take: (kind: LentKind, socket: Socket) => void,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    const kind = LENT_KINDS.find((one) => request.url === pathOf(one));
    const from = hopAddress(hopping, request, request.headers[HOP_HEADER]);
    if (kind === undefined || from !== NOBODY) return void socket.destroy();
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${PROTOCOL}\r\n\r\n`,
    );
    take(kind, socket);
  });
}

/** A connection by which a process is lent to the target. @throws Error where it is not taken */
export function openLent(
  target: Target,
  kind: LentKind,
  clock: Clock,
  signal: AbortSignal,
): Promise<Socket> {
  const { hopKey: key, url } = target;
  const hop = signHop({ key, clock }, { method: 'GET', url: pathOf(kind) }, NOBODY);
  const options = {
    ...{ agent: target.agent.now(), hostname: hostOf(url) },
    ...{ port: url.port, path: pathOf(kind), timeout: ANSWER_MS, signal },
    headers: { connection: 'Upgrade', upgrade: PROTOCOL, [HOP_HEADER]: hop },
  };
  const asking = url.protocol === 'https:' ? secureRequest(options) : plainRequest(options);
  return new Promise((resolve, reject) => {
    asking.once('upgrade', (_answer, socket: Socket, head: Buffer) => {
      socket.setTimeout(0);
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
