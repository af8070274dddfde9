// A token reads what its documentation promises, and a refusal names the missing grant.
import assert from 'node:assert/strict';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { READ_ALL } from '../../../store/accounts/tokens.ts';
import { loaded, send } from '../../base/client.ts';
import { runHere } from '../../cli/commandHere.ts';
import { startServer } from '../../base/server.ts';

test('a publishable token without grants reads the open data of CORE, also one of its owner', async () => {
  await using server = await startServer();
  const index = { key: 'symbol', date: 'date' };
  await send(server, 'POST', '/workspaces', { name: 'CORE' });
  const rows = 'symbol,date,v\nA,2024-01-02,1\n';
  for (const [id, level] of [
    ['OPEN', 'open'],
    ['CLOSED', 'restricted'],
  ] as const) {
    const url = `${server.base}/v1/data/CORE/${id}?wait=true&key=symbol&date=date&token=${server.secret}`;
    assert.equal((await fetch(url, { method: 'POST', body: rows })).status, 200);
    const changed = await send(server, 'PATCH', `/datasets/CORE/${id}`, { access: { level } });
    assert.equal(changed.status, 200, changed.text);
  }
  await loaded(server, 'OWN', rows, index);
  const { accounts } = server.tapedeck.services;
  const { accountId } = server.tapedeck;
  const { text: token, tokenId } = await accounts.createToken(accountId, 'publishable');
  const ask = async (path: string): Promise<readonly [number, string]> => {
    const answer = await fetch(`${server.base}/v1${path}?token=${token}`);
    return [answer.status, await answer.text()];
  };
  assert.equal((await ask('/data/CORE/OPEN/A'))[0], 200);
  const [status, text] = await ask('/data/WS/OWN/A');
  assert.equal(status, 401);
  const grant = /add (\{.*?\}) to its grants/.exec(text)?.[1] ?? '';
  assert.equal((await ask('/data/CORE/CLOSED/A'))[0], 401);
  // The grant as it is printed.
  const path = `/account/tokens/${tokenId}`;
  const changed = await send(server, 'PATCH', path, { grants: [JSON.parse(grant) as object] });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await ask('/data/WS/OWN/A'))[0], 200);
  await accounts.changeToken(accountId, tokenId, { grants: READ_ALL, core: false });
  assert.equal((await ask('/data/CORE/CLOSED/A'))[0], 200);
});

test('a misspelled grant is refused with an example', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'tapedeck-grants-'));
  const env = { TAPEDECK_DATA: folder.path, TAPEDECK_DEMO: 'off', TAPEDECK_LOG: 'silent' };
  for (const grant of ['*:read', 'DEMO.*', '=read', '*=read;write']) {
    const { code, stderr } = await runHere(['tokens', 'create', '--grant', grant], { env });
    assert.equal(code, 1);
    assert.match(stderr, /must be datasets=rights, such as \*=read for all datasets/);
  }
});
