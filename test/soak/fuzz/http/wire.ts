// One request as bytes on a socket: the client normalises, refuses and retries nothing.
import { connect } from 'node:net';

export interface RawRequest {
  readonly method: string;
  /** The request target, as sent on the wire. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface RawAnswer {
  /** 0 if the connection ended without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

const SILENCE_MS = 60_000;
const STREAM = /^content-type: text\/event-stream/im;

const headOf = ({ method, target, headers, body }: RawRequest): Buffer => {
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  const all = { host: 'localhost', connection: 'close', ...length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'utf8');
};

/** The request as JSON text, its body in base64. */
export const describeRequest = (request: RawRequest): string =>
  JSON.stringify({ ...request, body: request.body?.toString('base64') });

/** Sends a request and reads until the server closes; rejects if the server stays silent. */
export function send(port: number, request: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(SILENCE_MS, () => {
      reject(new Error(`no answer in ${SILENCE_MS} ms`));
      socket.destroy();
    });
    socket.on('connect', () => {
      socket.write(headOf(request));
      if (request.body !== undefined) socket.write(request.body);
    });
    socket.on('data', (piece) => {
      pieces.push(piece);
      // A stream has no end: its beginning is the answer.
      if (pieces.length === 1 && STREAM.test(piece.toString('latin1'))) socket.destroy();
    });
    // A server that refuses may close while the body is still being sent.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(parse(Buffer.concat(pieces))));
  });
}

function parse(received: Buffer): RawAnswer {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
  const continued = received.subarray(0, interim.length).toString('latin1') === interim;
  const bytes = continued ? received.subarray(interim.length) : received;
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, Math.max(end, 0)).toString('latin1');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
  const rest = bytes.subarray(end + 4).toString('utf8');
  const chunked = /^transfer-encoding: chunked$/im.test(head);
  return { status, head, body: chunked ? unchunked(rest) : rest };
}

const unchunked = (text: string): string =>
  text.replaceAll(/(^|\r\n)[0-9a-f]+\r\n/g, '').replace(/\r\n$/, '');
