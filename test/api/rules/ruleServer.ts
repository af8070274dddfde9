// A server with a few days of two symbols, a settable clock, manual ticks, and a receiver of alerts.
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

/** Thursday, 29 February 2024, two in the afternoon in New York. */
const NOW_MS = Date.parse('2024-02-29T19:00:00Z');

const DAYS =
  'symbol,date,open,high,low,close,volume\n' +
  'AAA,2024-02-27,9,11,9,10,100\nAAA,2024-02-28,10,12,10,11,200\n' +
  'BBB,2024-02-27,1,2,1,2,20\nBBB,2024-02-28,1,2,1,2,20\n';

export interface RuleServer extends AsyncDisposable {
  readonly server: TestServer;
  readonly clock: { nowMs: number };
  trade(symbol: string, price: number): void;
  /** @returns id of the rule */
  create(rule: object): Promise<string>;
  post(path: string, body: object): Promise<{ readonly status: number; readonly text: string }>;
  get(path: string): Promise<unknown>;
  /** Resolves once all alerts are recorded, and all waiting deliveries were tried. */
  settled(): Promise<void>;
}

export async function openRuleServer(
  settings: Readonly<Record<string, string>> = {},
  folder?: string,
): Promise<RuleServer> {
  const clock = { nowMs: NOW_MS };
  const server = await startServer({
    settings: { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on', ...settings },
    seams: { clock: () => clock.nowMs, watch: false },
    ...(folder === undefined ? {} : { folder }),
  });
  const { services } = server.tapedeck;
  if (services.lake.directory.dataset('CORE', 'HISTORICAL_PRICES') === undefined) {
    const url = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}`;
    const loaded = await fetch(url, { method: 'POST', body: DAYS });
    assert.equal(loaded.status, 200, await loaded.text());
  }
  let trades = 0;
  const post: RuleServer['post'] = (path, body) => send(server, 'POST', path, body);
  return {
    server,
    clock,
    trade: (symbol, price) => {
      trades += 1;
      services.streams.board.apply({
        kind: 'trade',
        symbol,
        price,
        size: 100,
        tradeId: String(trades),
        timeMs: clock.nowMs,
      });
    },
    create: async (rule) => {
      const { status, text } = await post('/rules/create', rule);
      assert.equal(status, 200, text);
      await services.rules.prepared();
      return (JSON.parse(text) as { id: string }).id;
    },
    post,
    get: async (path) => {
      const { status, text } = await send(server, 'GET', path);
      assert.equal(status, 200, `${path}: ${text}`);
      return JSON.parse(text);
    },
    settled: async () => {
      await services.rules.prepared();
      await services.rules.settled();
      await services.alertDeliveries.deliverDue();
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** Statuses of the next answers; 200 once there are none. */
  readonly answers: {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly delayMs?: number;
  }[];
}

export async function openReceiver(): Promise<Receiver> {
  const heard: Heard[] = [];
  const answers: Receiver['answers'] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      heard.push({ headers: request.headers, body: Buffer.concat(pieces).toString('utf8') });
      const { delayMs = 0, headers = {}, status } = answers.shift() ?? { status: 200 };
      const send = (): unknown => response.writeHead(status, headers).end(`answer ${status}`);
      if (delayMs === 0) send();
      else setTimeout(send, delayMs).unref();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    heard,
    answers,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
