// The server that the attacks run against: two accounts, small datasets of fixed weight and width, and a
// text that no answer may contain.
import assert from 'node:assert/strict';
import { createWorkspace } from '../../../../store/lake/datasetEdits.ts';
import { startServer, type TestServer } from '../../../base/server.ts';
import { remains } from '../http/judge.ts';

/** Value in another account's records and in erased ones. */
export const MARKER = 'TOPSECRET-7431';
/** Value in a dataset that the narrow token has no right to read. */
export const NARROW_MARKER = 'TOPSECRET-2112';
/** Value in a record that costs messages: a refusal is free and must not contain it. */
export const PAID = 'PAID-TEXT-0815';

interface Shelf {
  readonly weight: number;
  /** Names and JSON types, with an optional format after a blank. */
  readonly columns: Readonly<Record<string, string>>;
}

/** The datasets of WS; `fill` has their records. */
export const SHELVES: Readonly<Record<string, Shelf>> = {
  QUOTES: {
    weight: 1,
    columns: {
      symbol: 'string',
      date: 'string date',
      price: 'number',
      size: 'integer',
      note: 'string',
    },
  },
  COMPANIES: {
    weight: 3,
    columns: { symbol: 'string', name: 'string', sector: 'string', extra: 'object' },
  },
  NUMS: { weight: 1, columns: { n: 'integer', t: 'string' } },
  FREE: { weight: 0, columns: { id: 'integer', word: 'string' } },
  GONE: { weight: 1, columns: { id: 'string', text: 'string' } },
  PUSHED: { weight: 1, columns: { id: 'integer', v: 'integer' } },
  OTHER: { weight: 1, columns: { secrets: 'string' } },
  HIDDEN: { weight: 1, columns: { id: 'integer', text: 'string' } },
};

export interface World extends AsyncDisposable {
  readonly server: TestServer;
  /** Time limit of a query. */
  readonly deadlineMs: number;
  /** The token of each kind of caller. */
  readonly tokens: { readonly owner: string; readonly narrow: string };
  /** Id of the other account, which no answer may contain. */
  readonly strangerId: string;
  /** Its secret token. */
  readonly stranger: string;
  /** Faults of the server after the run; empty if it has none. */
  faults(): Promise<readonly string[]>;
}

/** Long enough for every honest query here, with others running on two busy cores. */
const DEADLINE_MS = 2_000;

const MEGABYTE = 1024 ** 2;
const SETTINGS = {
  TAPEDECK_SQL_MEMORY: String(128 * MEGABYTE),
  TAPEDECK_SQL_SPILL: String(256 * MEGABYTE),
} as const;

export async function openWorld(deadlineMs = DEADLINE_MS): Promise<World> {
  const loose: string[] = [];
  // The test runner survives errors that would end a server: uncaught ones are recorded here.
  const note = (error: unknown): void => void loose.push(`uncaught ${String(error)}`);
  process.on('uncaughtExceptionMonitor', note);
  process.on('unhandledRejection', note);
  const settings = { ...SETTINGS, TAPEDECK_SQL_TIMEOUT: String(deadlineMs) };
  const server = await startServer({ settings });
  const { accounts } = server.tapedeck.services;
  await fill(server);
  const strangerId = await accounts.createAccount('stranger', 'scale');
  const stranger = await fillOther(server, strangerId);
  const grants = [{ datasets: 'WS.QUOTES', rights: ['read' as const] }];
  const { accountId } = server.tapedeck;
  const narrow = (await accounts.createToken(accountId, 'publishable', { grants })).text;
  const tokens = { owner: server.publishable, narrow };
  const close = async (): Promise<void> => {
    await server.close();
    process.off('uncaughtExceptionMonitor', note);
    process.off('unhandledRejection', note);
  };
  const faults = async (): Promise<readonly string[]> => [
    ...loose,
    ...(await remains(server.folder)),
  ];
  return { server, deadlineMs, tokens, strangerId, stranger, faults, [Symbol.asyncDispose]: close };
}

/** Fills the other account's workspace; returns its secret token. */
async function fillOther(server: TestServer, accountId: string): Promise<string> {
  const { accounts, lake } = server.tapedeck.services;
  await createWorkspace(lake, 'OTHER', accountId, 0);
  const { text: token } = await accounts.createToken(accountId, 'secret');
  const secrets = { weight: 1, columns: { id: 'integer', text: 'string' } };
  await createDataset(server, token, 'OTHER', 'SECRETS', secrets, [{ id: 1, text: MARKER }]);
  const quotes = QUOTES.map((row) => ({ ...row, note: MARKER }));
  await createDataset(server, token, 'OTHER', 'QUOTES', SHELVES['QUOTES'] ?? secrets, quotes);
  return token;
}

type Rows = readonly Readonly<Record<string, unknown>>[];

const quote = (symbol: string, day: number, price: number, size: number, note: string | null) => ({
  symbol,
  date: `2024-01-0${day}`,
  price,
  size,
  note,
});

const QUOTES: Rows = [
  quote('AAPL', 2, 185.5, 100, 'open'),
  quote('AAPL', 3, 184.25, 200, null),
  quote('AAPL', 4, 181.75, 300, "it's"),
  quote('AAPL', 5, 181, 400, ''),
  quote('IBM', 2, 161.5, 10, 'a"b'),
  quote('IBM', 3, 160, 20, 'back\\slash'),
  quote('IBM', 4, 160.75, 30, 'semi;colon'),
  quote('IBM', 5, 159.25, 40, '100%'),
  quote('MSFT', 2, 370.5, 1_000, 'under_score'),
  quote('MSFT', 3, 370.75, 2_000, PAID),
  quote('MSFT', 4, 367.25, 3_000, null),
  quote('MSFT', 5, 367.5, 0, '-- no comment'),
];

const COMPANIES: Rows = [
  { symbol: 'AAPL', name: 'Apple Inc.', sector: 'Tech', extra: { employees: 164_000 } },
  {
    symbol: 'IBM',
    name: 'International Business Machines',
    sector: 'Tech',
    extra: { employees: 282e3 },
  },
  { symbol: 'MSFT', name: 'Microsoft', sector: 'Tech', extra: {} },
  { symbol: 'XOM', name: 'Exxon', sector: 'Energy', extra: null },
];

const NUMS_COUNT = 2_000;
const NUMS: Rows = Array.from({ length: NUMS_COUNT }, (_, at) => ({
  n: at + 1,
  t: `the text of number ${at + 1} `.padEnd(100, 'to the end '),
}));

const FREE: Rows = ['alpha', 'beta', 'gamma', 'delta'].map((word, at) => ({ id: at + 1, word }));

async function fill(server: TestServer): Promise<void> {
  const { base, secret } = server;
  const own = (id: string, rows: Rows, index: object = {}): Promise<void> =>
    createDataset(server, secret, 'WS', id, SHELVES[id] ?? { weight: 1, columns: {} }, rows, index);
  await own('QUOTES', QUOTES, { key: 'symbol', date: 'date' });
  await own('COMPANIES', COMPANIES, { key: 'symbol' });
  await own('NUMS', NUMS);
  await own('FREE', FREE);
  await own('OTHER', [{ secrets: 'mine' }]);
  await own('HIDDEN', [{ id: 1, text: NARROW_MARKER }]);
  await own('PUSHED', [{ id: 1, v: 10 }]);
  await post(`${base}/v1/record/WS/PUSHED?token=${secret}`, JSON.stringify([{ id: 2, v: 20 }]));
  const texts = ['kept', `${MARKER} deleted`, `${MARKER} replaced`];
  await own(
    'GONE',
    texts.map((text, at) => ({ id: String(at + 1), text })),
    { key: 'id' },
  );
  const erased = await fetch(`${base}/v1/data/WS/GONE/2?token=${secret}`, { method: 'DELETE' });
  assert.equal(erased.status, 200, await erased.text());
  const replacing = 'wait=true&duplicateKeyHandling=replace';
  const rows = JSON.stringify([{ id: '3', text: 'new' }]);
  await post(`${base}/v1/data/WS/GONE?${replacing}&token=${secret}`, rows);
  // No double can represent this number, so it is written into the JSON text.
  const big = { symbol: 'MSFT', date: '2024-01-05', price: 367.5, size: 0, note: '-- no comment' };
  const large = JSON.stringify([big]).replace('"size":0', '"size":9007199254740993');
  await post(`${base}/v1/data/WS/QUOTES?${replacing}&token=${secret}`, large);
}

async function createDataset(
  { base }: TestServer,
  token: string,
  workspace: string,
  datasetId: string,
  { columns, weight }: Shelf,
  rows: Rows,
  columnMapping: object = {},
): Promise<void> {
  const properties = Object.fromEntries(
    Object.entries(columns).map(([name, typeText]) => {
      const [type, format] = typeText.split(' ');
      return [name, format === undefined ? { type } : { type, format }];
    }),
  );
  const dataset = { datasetId, weight, schema: { type: 'object', properties }, columnMapping };
  await post(`${base}/v1/datasets/${workspace}?token=${token}`, JSON.stringify({ dataset }));
  const load = `${base}/v1/data/${workspace}/${datasetId}?wait=true&token=${token}`;
  await post(load, JSON.stringify(rows));
}

async function post(url: string, body: string): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body });
  assert.equal(answer.status, 200, `${new URL(url).pathname}: ${await answer.text()}`);
}
