// A server whose CORE has datasets of the stock endpoints, and an account that is not its owner.
import assert from 'node:assert/strict';
import type { Access } from '../../../store/lake/datasets/datasets.ts';
import { startServer, type TestServer } from '../../base/server.ts';

export interface StockWorld extends AsyncDisposable {
  readonly server: TestServer;
  /** A reader's account on tier scale. */
  readonly accountId: string;
  readonly token: string;
}

export const SYMBOLS: readonly string[] = Array.from({ length: 120 }, (_, at) => `S${at + 100}`);

/** Wednesday, 29 February 2024, noon in New York. */
const NOW_MS = Date.parse('2024-02-29T17:00:00Z');

const dayOf = (at: number): string => `2024-02-${String(at).padStart(2, '0')}`;

/** Dataset -> its index and its records. */
const TABLES: Readonly<Record<string, { readonly index: string; readonly csv: string }>> = {
  QUOTE: {
    index: 'key=symbol',
    csv: ['symbol,price,exact', ...SYMBOLS.map((name, at) => `${name},${at + 0.25},${at}`)].join(
      '\n',
    ),
  },
  HISTORICAL_PRICES: {
    index: 'key=symbol&date=date',
    csv: [
      'symbol,date,close',
      ...SYMBOLS.flatMap((name, at) => [27, 28, 29].map((day) => `${name},${dayOf(day)},${at}.5`)),
    ].join('\n'),
  },
  NEWS: {
    index: 'key=symbol&subkey=id&date=time',
    csv: [
      'symbol,id,time,headline',
      ...Array.from({ length: 12 }, (_, at) => `S100,n${at},${dayOf(at + 1)}T10:00:00Z,${at}`),
    ].join('\n'),
  },
  EARNINGS: { index: 'key=symbol&date=date', csv: 'symbol,date,EPS\nS100,2024-02-01,2.18' },
};

export async function openStockWorld(): Promise<StockWorld> {
  const settings = { TAPEDECK_SANDBOX_PORT: '0' };
  const server = await startServer({ settings, seams: { clock: () => NOW_MS } });
  await post(server, '/workspaces', JSON.stringify({ name: 'CORE' }));
  for (const [dataset, { csv, index }] of Object.entries(TABLES)) {
    await post(server, `/data/CORE/${dataset}?wait=true&${index}`, `${csv}\n`);
  }
  const reader = await newReader(server);
  return { server, ...reader, [Symbol.asyncDispose]: () => server.close() };
}

/** The same server for another reader, with the initial weights and rights. */
export async function withNewReader(world: StockWorld): Promise<StockWorld> {
  for (const dataset of Object.keys(TABLES)) {
    await changeDataset(world, dataset, { weight: 1, access: { level: 'open' } });
  }
  return { ...world, ...(await newReader(world.server)) };
}

async function newReader({
  tapedeck,
}: TestServer): Promise<Pick<StockWorld, 'accountId' | 'token'>> {
  const { accounts } = tapedeck.services;
  const accountId = await accounts.createAccount('reader', 'scale');
  const { text: token } = await accounts.createToken(accountId, 'publishable');
  return { accountId, token };
}

/** Sends a POST of the operator and expects success. */
const post = (server: TestServer, path: string, body: string): Promise<void> =>
  sent(server, 'POST', path, body);

/** Creates a dataset of CORE by symbol and date, of weight 1, unless the name exists. */
export async function loadCore(world: StockWorld, dataset: string, csv: string): Promise<void> {
  const { server } = world;
  if (server.tapedeck.services.lake.directory.dataset('CORE', dataset) !== undefined) return;
  await post(server, `/data/CORE/${dataset}?wait=true&key=symbol&date=date`, csv);
  await changeDataset(world, dataset, { weight: 1 });
}

/** Sets weight and access of a dataset of CORE as the operator. */
export const changeDataset = (
  { server }: StockWorld,
  dataset: string,
  change: { readonly weight?: number; readonly access?: Access },
): Promise<void> => sent(server, 'PATCH', `/datasets/CORE/${dataset}`, JSON.stringify(change));

async function sent(server: TestServer, method: string, path: string, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const answer = await fetch(`${server.base}/v1${path}`, { method, body, headers });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly messages: number;
}

/** GETs below /v1/stock, by the reader unless a token is given. */
export async function askStock(
  world: StockWorld,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  token = world.token,
): Promise<Answered> {
  const joint = path.includes('?') ? '&' : '?';
  const url = `${world.server.base}/v1/stock${path}${joint}token=${token}`;
  const answer = await fetch(url, { headers });
  const messages = Number(answer.headers.get('svccloud-messages-used') ?? 0);
  return { status: answer.status, text: await answer.text(), headers: answer.headers, messages };
}
