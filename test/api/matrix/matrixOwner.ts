// An account with an object of each kind that a request can name, and all contents of a folder.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createDataset, createWorkspace } from '../../../store/lake/datasetEdits.ts';
import { DATASET_DEFAULTS } from '../../../store/lake/datasets/datasets.ts';
import { READ_ALL, type TokenKind, type TokenSettings } from '../../../store/accounts/tokens.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import type { Case, Target } from './matrixCases.ts';

export interface Owner {
  readonly accountId: string;
  readonly publishable: string;
  readonly secret: string;
  /** A value that only its records include. */
  readonly value: string;
  readonly target: Target;
}

/** The account's workspace, dataset, job and tokens, with its `mark` in every name. */
export async function makeOwner(
  server: TestServer,
  accountId: string,
  mark: string,
  value: string,
): Promise<Owner> {
  const { accounts, lake } = server.tapedeck.services;
  const token = async (
    kind: 'publishable' | 'secret',
  ): Promise<{ readonly text: string; readonly tokenId: string }> =>
    accounts.createToken(accountId, kind, kind === 'secret' ? {} : { grants: READ_ALL });
  const { text: secret } = await token('secret');
  const { text: publishable } = await token('publishable');
  const { tokenId } = await token('publishable');
  const { text: signable } = await token('publishable');
  const { text: signed } = await token('publishable');
  await accounts.signToken(accountId, signed);
  const workspace = `WORKSPACE_OF_${mark}`;
  await createWorkspace(lake, workspace, accountId, 0);
  await accounts.changeAccount(accountId, { defaultWorkspace: workspace });
  const key = `KEY_OF_${mark}`;
  const stock = { symbol: key, part: '1', detail: '1' };
  const reference = { list: 'symbols', kind: 'otc', by: 'region', name: 'us', fragment: 'a' };
  const names = { key, ...stock, ...reference, subkey: `SUB_OF_${mark}`, date: '2024-01-01' };
  const target = {
    ...names,
    workspace,
    id: `HIDDEN_${mark}`,
    newId: '',
    type: 'ingest',
    attribute: 'v',
    jobId: '',
    accountId,
    tokenId,
    signable,
    signed,
    link: `dk_${'0'.repeat(64)}`,
    channel: 'trades',
    connection: '0'.repeat(16),
    replay: '0'.repeat(16),
    stream: 'last',
    from: 'USD',
    to: 'USD',
    expiration: '202403',
    contract: 'AAPL20240315C00180000',
    underlying: 'NG',
  };
  const owner = { accountId, publishable, secret, value, target };
  const rows = ['2024-01-01', '2024-01-02'].map(
    (date) => `${names.key},${names.subkey},${date},${value}\n`,
  );
  const head = `symbol,kind,date,v\n${rows.join('')}`;
  await loadInto(server, owner, head, '&key=symbol&subkey=kind&date=date');
  const jobId = await loadInto(server, owner, `${head}K,S,2024-13-99,1\n`, '');
  await publish(server, owner);
  return { ...owner, target: { ...target, jobId } };
}

/** A server with a test environment and an owner, its first account. */
export interface World {
  readonly server: TestServer;
  readonly owner: Owner;
  /** An account, with a token, that the operator's rows may change. */
  readonly spare: Pick<Target, 'accountId' | 'tokenId'>;
}

export async function openWorld(): Promise<World> {
  const server = await startServer({ settings: { TAPEDECK_SANDBOX_PORT: '0' } });
  const owner = await makeOwner(server, server.tapedeck.accountId, 'A', '424242');
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('spare', 'scale');
  const { tokenId } = await accounts.createToken(accountId, 'publishable');
  return { server, owner, spare: { accountId, tokenId } };
}

/** A new token of the owner. */
export async function newToken(
  { server, owner }: World,
  kind: TokenKind,
  settings: Partial<TokenSettings> = {},
): Promise<string> {
  const { accounts } = server.tapedeck.services;
  return (await accounts.createToken(owner.accountId, kind, settings)).text;
}

/** Publishes a query of the latest record and a file, under the name of the dataset. */
export async function publish(
  { base }: TestServer,
  { secret, target: { id, workspace } }: Pick<Owner, 'secret' | 'target'>,
): Promise<void> {
  const url = `${base}/v1/endpoints/${workspace}/${id}`;
  const query = `SELECT * FROM \`${id}\` ORDER BY date DESC LIMIT 1`;
  const headers = { authorization: `Bearer ${secret}` };
  const body = JSON.stringify({ endpoint: { query } });
  const answer = await fetch(url, { method: 'POST', body, headers });
  assert.equal(answer.status, 200, await answer.text());
  const type = `${base}/v1/file-types/${workspace}/${id}`;
  const saved = await fetch(type, { method: 'PUT', body: '{}', headers });
  assert.equal(saved.status, 200, await saved.text());
  const file = await fetch(`${type}/files`, { method: 'POST', body: 'bytes', headers });
  assert.equal(file.status, 200, await file.text());
}

/** Loads into the owner's dataset and returns the job. */
async function loadInto(
  server: TestServer,
  { secret, target }: Owner,
  body: string,
  query: string,
): Promise<string> {
  const url = `${server.base}/v1/data/${target.workspace}/${target.id}?wait=true${query}`;
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await fetch(url, { method: 'POST', body, headers });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return (JSON.parse(text) as { readonly jobId: string }).jobId;
}

/** The texts of an account's tokens for tests, or of those for production. */
export async function tokensOf(
  { tapedeck }: TestServer,
  accountId: string,
  forTests: boolean,
): Promise<readonly { readonly kind: TokenKind; readonly text: string }[]> {
  const tokens = await tapedeck.services.accounts.tokens(accountId);
  return tokens.filter(({ test }) => test === forTests);
}

let newIdCount = 0;

/** The owner's objects, with unused names for objects to create. */
export const targetOf = ({ target }: Owner): Target => ({
  ...target,
  newId: `NEW_${++newIdCount}`,
});

/** The same with objects that the case may use up. */
export async function spareOf(
  server: TestServer,
  owner: Owner,
  { spends }: Case,
  spare: Pick<Target, 'accountId' | 'tokenId'>,
): Promise<Target> {
  const target = targetOf(owner);
  if (spends === 'key') return { ...target, key: 'GONE' };
  if (spends === 'record') return { ...target, newId: 'SAME' };
  if (spends === 'account') return { ...target, ...spare };
  if (spends !== 'dataset') return target;
  const id = `SPARE_${target.newId}`;
  const draft = {
    ...DATASET_DEFAULTS,
    workspace: target.workspace,
    dataset: id,
    schema: { type: 'object', properties: { v: { type: 'number' } }, required: [] },
    mapping: {},
  } as const;
  await createDataset(server.tapedeck.services.lake, draft, owner.accountId);
  return { ...target, id };
}

/** Every row of the catalog and every file of the folder, without when tokens were last used. */
export async function stored({ folder, tapedeck }: TestServer): Promise<readonly string[]> {
  const { ledger, rules } = tapedeck.services;
  // A rule runs when it is created, and its counts are written a while later.
  await rules.prepared();
  await rules.count();
  await ledger.flush();
  const catalog = new DatabaseSync(join(folder, 'catalog.db'), { readOnly: true });
  try {
    const tables = catalog.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const rows = tables.flatMap(({ name }) => {
      const tableRows = catalog.prepare(`SELECT * FROM "${String(name)}"`).all();
      return tableRows.map(
        (row) => `${String(name)} ${JSON.stringify({ ...row, last_used_ms: 0 })}`,
      );
    });
    return [...rows, ...filesOf(folder)];
  } finally {
    catalog.close();
  }
}

/** Removed and added lines between two states. */
export function differences(
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const [old, now] = [new Set(before), new Set(after)];
  const removedLines = before.filter((line) => !now.has(line)).map((line) => `- ${line}`);
  return [...removedLines, ...after.filter((line) => !old.has(line)).map((line) => `+ ${line}`)];
}

function filesOf(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('catalog.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path} ${statSync(path).size}`)
    .toSorted();
}
