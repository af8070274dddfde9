// A recording proxy between a client and a server: it keeps the last request and its answer.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Recorder extends AsyncDisposable {
  readonly base: string;
  /** The last request without its token. */
  readonly last: () => { readonly path: string; readonly status: number; readonly text: string };
}

/** @param base `http://host:port` of the server */
export async function recorded(base: string): Promise<Recorder> {
  let last = { path: '', status: 0, text: '' };
  const server = createServer(async (request, response) => {
    const url = request.url ?? '';
    const answer = await fetch(`${base}${url}`, { method: request.method ?? 'GET' });
    const text = await answer.text();
    const [path = '', query = ''] = url.split('?');
    const rest = query.split('&').filter((pair) => pair !== '' && !pair.startsWith('token='));
    last = { path: [path, ...rest].join('&').replace('&', '?'), status: answer.status, text };
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'text/plain',
    });
    response.end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return {
    base: `http://127.0.0.1:${port}`,
    last: () => last,
    [Symbol.asyncDispose]: close,
  };
}
