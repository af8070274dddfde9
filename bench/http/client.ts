// Client process of all HTTP benches. It runs one order of its parent after the other in the same process, so
// that its code is already compiled when times are measured.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { answerReader } from './answerReader.ts';
import { serveParent } from './childRequests.ts';
import { cpuSince } from './cpuTime.ts';
import type { Order, RunResult, RequestSpec } from './order.ts';

/** A request as bytes, with the file to send after it. */
interface RawRequest {
  readonly bytes: Buffer;
  readonly file: string | undefined;
}

async function encodeRequest({
  body,
  file,
  headers,
  method,
  path,
}: RequestSpec): Promise<RawRequest> {
  const length = file === undefined ? Buffer.byteLength(body ?? '') : (await stat(file)).size;
  const all: Readonly<Record<string, string>> = {
    host: 'localhost',
    ...headers,
    ...(body === undefined && file === undefined ? {} : { 'content-length': String(length) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method ?? 'GET'} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return { bytes: Buffer.from(`${head}${body ?? ''}`), file };
}

/** State shared by all connections of an order. */
interface Run {
  readonly requests: readonly RawRequest[];
  readonly untilMs: number;
  readonly count: number;
  sentCount: number;
  bytes: number;
  failures: number;
  failure: string;
  readonly times: number[];
}

/** Sends requests on one connection until the time is over or all are sent. */
function runConnection(socket: Socket, run: Run): Promise<void> {
  return new Promise((resolve, reject) => {
    let beganMs = 0;
    const next = (): void => {
      if (run.sentCount >= run.count || performance.now() >= run.untilMs) return resolve();
      const request = run.requests[run.sentCount % run.requests.length];
      if (request === undefined) return reject(new Error('the order has no requests'));
      run.sentCount += 1;
      beganMs = performance.now();
      socket.write(request.bytes);
      if (request.file === undefined) return;
      pipeline(createReadStream(request.file), socket, { end: false }).catch(reject);
    };
    const read = answerReader((status, beginning) => {
      if (status >= 200 && status < 300) run.times.push(performance.now() - beganMs);
      else {
        run.failures += 1;
        run.failure ||= `${status} ${beginning.trim()}`;
      }
      next();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`the server closed a connection ${run.failure}`)));
    socket.on('data', (bytes: Buffer) => {
      run.bytes += bytes.length;
      try {
        read(bytes);
      } catch (error) {
        reject(error);
      }
    });
    next();
  });
}

async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  await once(socket, 'connect');
  return socket;
}

async function runOrder(order: Order): Promise<RunResult> {
  const requests = await Promise.all(order.requests.map(encodeRequest));
  const opening = Array.from({ length: order.connections }, () => openSocket(order.port));
  const sockets = await Promise.all(opening);
  const beganMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const run: Run = {
    requests,
    untilMs: beganMs + (order.seconds ?? Number.POSITIVE_INFINITY) * 1e3,
    count: order.count ?? Number.POSITIVE_INFINITY,
    sentCount: 0,
    bytes: 0,
    failures: 0,
    failure: '',
    times: [],
  };
  try {
    await Promise.all(sockets.map((socket) => runConnection(socket, run)));
    const tookMs = performance.now() - beganMs;
    const cpuMs = cpuSince(cpuBefore);
    const { bytes, failure, failures, times } = run;
    return { tookMs, times, failures, failure, bytes, cpuMs };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

serveParent(runOrder);
