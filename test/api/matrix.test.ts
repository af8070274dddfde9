// Who may ask what: every row of the endpoint table, asked by another account about a workspace
// that is not its own, and with no token, an unknown one and one of the wrong kind.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Endpoint } from '../../api/endpoint.ts';
import { ENDPOINTS } from '../../api/endpoints/index.ts';
import { FAILURES } from '../../api/failures.ts';
import { expandPath } from '../../api/openapi.ts';
import { createWorkspace } from '../../store/datasetEdits.ts';
import { loaded } from '../client.ts';
import { startServer, type TestServer } from '../server.ts';

/** What the owner has. No answer to anyone else may hold one of these texts. */
const OWNER = { workspace: 'WS', id: 'HIDDEN_A', key: 'KEY_OF_A', subkey: 'SUB_OF_A' } as const;
const VALUE_OF_A = '424242';

interface Case {
  /** A valid body, where the row takes one: the refusal must not come from the body. */
  readonly body?: string;
  /** Values of path parameters that are not those of `pathValues`. */
  readonly path?: Readonly<Record<string, string>>;
}

const RECORDS = 'symbol,kind,date,v\nKEY_OF_B,S,2024-01-01,1\n';
const SCHEMA = { properties: { symbol: { type: 'string' }, v: { type: 'number' } } };
const bodyOf = (value: unknown): Case => ({ body: JSON.stringify(value) });

/** One entry for each row of the table: a new endpoint says here how it is asked. */
const CASES: Readonly<Record<string, Case>> = {
  getStatus: {},
  getOpenApi: {},
  listTimeSeries: {},
  getTimeSeries: { path: { id: `${OWNER.workspace}.${OWNER.id}` } },
  listData: {},
  queryData: {},
  loadData: { body: RECORDS },
  writeRecord: bodyOf([{ symbol: 'KEY_OF_B', kind: 'S', date: '2024-01-01', v: 1 }]),
  deleteRecords: {},
  listDatasets: {},
  createDataset: bodyOf({ dataset: { datasetId: 'MADE_BY_B', schema: SCHEMA } }),
  getDataset: {},
  changeDataset: bodyOf({ dataset: { title: 'taken by B' } }),
  deleteDataset: {},
  renameDataset: {},
  generateSchema: { body: RECORDS },
  listJobs: {},
  getJob: {},
  getInvalidRecords: {},
  cancelJob: {},
  getLogs: {},
  getMeta: {},
  getIndex: {},
  createIndex: {},
  deleteIndex: {},
  listWorkspaces: {},
  createWorkspace: bodyOf({ name: 'SECOND_OF_B' }),
  getUsage: {},
};

const UNKNOWN = 'sk_99999999999999999999999999999999';

let server: TestServer;
let other: { readonly publishable: string; readonly secret: string };
let jobOfA: string;
before(async () => {
  server = await startServer();
  const csv =
    `symbol,kind,date,v\n${OWNER.key},${OWNER.subkey},2024-01-01,${VALUE_OF_A}\n` +
    `${OWNER.key},${OWNER.subkey},2024-01-02,${VALUE_OF_A}\nK,S,2024-13-99,1\n`;
  const first = csv.split('\n').slice(0, 3).join('\n');
  await loaded(server, OWNER.id, first, { key: 'symbol', subkey: 'kind', date: 'date' });
  jobOfA = (await loaded(server, OWNER.id, csv)).jobId;
  const { accounts, lake } = server.tapedeck.services;
  const accountId = await accounts.createAccount('other', 'scale');
  const publishable = (await accounts.createToken(accountId, 'publishable')).token;
  other = { publishable, secret: (await accounts.createToken(accountId, 'secret')).token };
  await createWorkspace(lake, 'OTHER', accountId, 0);
});
after(() => server.close());

interface Ask {
  readonly endpoint: Endpoint;
  /** The route as the table says it, without optional segments that are left out. */
  readonly route: string;
  /** The route with values, below the version. */
  readonly path: string;
}

/** Every route of every row, with the owner's names in it, changed by `change`. */
function asksOf(change: Readonly<Record<string, string>> = {}): readonly Ask[] {
  const common = { ...OWNER, date: '2024-01-01', type: 'ingest', jobId: jobOfA };
  const rest = { attribute: 'v', newId: 'TAKEN_BY_B' };
  return ENDPOINTS.flatMap((endpoint) => {
    const own = CASES[endpoint.id]?.path;
    const values: Readonly<Record<string, string>> = { ...common, ...rest, ...own, ...change };
    const paths = [endpoint.path, ...(endpoint.aliases ?? [])].flatMap(expandPath);
    return paths.map((route) => {
      const path = route.replaceAll(/:(\w+)/g, (_, name: string) => {
        const value = values[name];
        assert.ok(value !== undefined, `${endpoint.id}: say in CASES what :${name} is`);
        return encodeURIComponent(value);
      });
      return { endpoint, route, path };
    });
  });
}

async function ask(
  { endpoint, path }: Pick<Ask, 'endpoint' | 'path'>,
  token: string | undefined,
): Promise<{ readonly status: number; readonly text: string; readonly type: string }> {
  const { body } = CASES[endpoint.id] ?? {};
  const answer = await fetch(`${server.base}/v1${path}`, {
    method: endpoint.method,
    ...(body === undefined ? {} : { body }),
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  });
  const text = await answer.text();
  if (answer.status >= 400) {
    assert.equal(answer.headers.get('svccloud-messages-used'), null, `${path}: refusals are free`);
  }
  return { status: answer.status, text, type: answer.headers.get('content-type') ?? '' };
}

const told = ({ endpoint }: Ask, path: string): string => `${endpoint.method} ${path}`;

function noMention(text: string, what: string): void {
  const marks = [OWNER.id, OWNER.key, OWNER.subkey, VALUE_OF_A, jobOfA, `"${OWNER.workspace}"`];
  for (const mark of [...marks, server.tapedeck.accountId, server.secret]) {
    assert.ok(!text.includes(mark), `${what} tells ${mark}: ${text.slice(0, 500)}`);
  }
}

/** All that the owner can see, without what reading itself changes. */
async function stateOfA(): Promise<readonly string[]> {
  const { workspace, id } = OWNER;
  const paths = [
    ...[`/data/${workspace}/${id}?limit=100`, `/data/${workspace}`, '/data', '/time-series'],
    ...[
      `/datasets/${workspace}`,
      `/jobs/${workspace}/ingest`,
      `/jobs/${workspace}/ingest/${jobOfA}`,
    ],
    ...[`/jobs/${workspace}/ingest/${jobOfA}/invalid-records-log`, `/logs/${workspace}`],
    ...['/workspaces', '/meta', `/meta/${workspace}/*?schema=true`],
  ];
  const texts: string[] = [];
  for (const path of paths) {
    const headers = { authorization: `Bearer ${server.secret}` };
    const answer = await fetch(`${server.base}/v1${path}`, { headers });
    const text = await answer.text();
    assert.equal(answer.status, 200, `${path}: ${text}`);
    texts.push(`${path}: ${text}`);
  }
  return texts;
}

test('every row of the table has a case, and every case a row', () => {
  const rows = ENDPOINTS.map(({ id }) => id).toSorted();
  assert.deepEqual(Object.keys(CASES).toSorted(), rows);
});

test("another account is told Not Found about all that is A's, and A keeps it", async () => {
  const beforeAll = await stateOfA();
  const { ledger } = server.tapedeck.services;
  const used = ledger.balance(server.tapedeck.accountId);
  for (const workspace of [OWNER.workspace, OWNER.workspace.toLowerCase()]) {
    for (const one of asksOf({ workspace })) {
      const path = one.path.replace(`/${OWNER.workspace}.`, `/${workspace}.`);
      const token = one.endpoint.token === 'secret' ? other.secret : other.publishable;
      const { status, text } = await ask({ ...one, path }, token);
      if (one.route.includes(':')) {
        assert.deepEqual([status, text], [404, 'Not Found'], told(one, path));
      } else noMention(text, told(one, path));
    }
  }
  assert.deepEqual(ledger.balance(server.tapedeck.accountId), used, 'A pays for nobody');
  assert.deepEqual(await stateOfA(), beforeAll);
});

test("A's names in B's own workspace find nothing of A", async () => {
  const beforeAll = await stateOfA();
  const names = [{ workspace: 'OTHER' }, { workspace: 'OTHER', id: '*' }, { id: OWNER.id }];
  for (const one of names.flatMap((change) => asksOf(change))) {
    const { endpoint, path } = one;
    const { status, text } = await ask(one, other.secret);
    assert.ok(status < 500, `${told(one, path)}: ${status} ${text}`);
    // What B makes under these names is B's; what tells A's values or A's job's fate is a leak.
    const finds = ['getJob', 'cancelJob', 'getInvalidRecords'].includes(endpoint.id);
    if (finds) assert.deepEqual([status, text], [404, 'Not Found'], told(one, path));
    for (const mark of [OWNER.key, VALUE_OF_A, server.tapedeck.accountId, `"${OWNER.workspace}"`]) {
      assert.ok(!text.includes(mark), `${told(one, path)} tells ${mark}: ${text}`);
    }
  }
  assert.deepEqual(await stateOfA(), beforeAll);
});

test('a workspace name that is taken stays with its owner', async () => {
  const body = JSON.stringify({ name: OWNER.workspace });
  const headers = { authorization: `Bearer ${other.secret}` };
  const answer = await fetch(`${server.base}/v1/workspaces`, { method: 'POST', body, headers });
  assert.equal(answer.status, 409, await answer.text());
});

test('no token is 401, an unknown one 403, a publishable one for a secret row 401', async () => {
  const beforeAll = await stateOfA();
  for (const one of asksOf()) {
    const { endpoint, path } = one;
    const without = await ask(one, undefined);
    if (endpoint.token === 'none') {
      assert.equal(without.status, 200, told(one, path));
      noMention(without.text, told(one, path));
      continue;
    }
    const refused = [
      { given: without, wanted: FAILURES.NoKey },
      { given: await ask(one, UNKNOWN), wanted: FAILURES.InvalidKey },
    ];
    if (endpoint.token === 'secret') {
      const given = await ask(one, server.publishable);
      refused.push({ given, wanted: FAILURES.SecretKeyRequired });
    }
    for (const { given, wanted } of refused) {
      const { status, text, type } = given;
      const expected = { ...wanted, type: 'text/html; charset=utf-8' };
      assert.deepEqual({ status, text, type }, expected, told(one, path));
    }
  }
  assert.deepEqual(await stateOfA(), beforeAll);
});
