// The operator's limit binds: no token of the account changes it, also not through the account's own budget.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { loaded, send } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';

test('an account lifts its own budget, never the operator’s; the refusal names which', async () => {
  await using server = await startServer();
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-01,1\n', { key: 'symbol', date: 'date' });
  const { services, accountId } = server.tapedeck;
  const headers = { authorization: `Bearer ${services.adminToken}` };
  const set = async (body: object): Promise<Record<string, unknown>> => {
    const url = `${server.base}/v1/admin/accounts/${accountId}`;
    const answer = await fetch(url, { method: 'PATCH', headers, body: JSON.stringify(body) });
    assert.equal(answer.status, 200);
    return (await answer.json()) as Record<string, unknown>;
  };
  const readOne = () => send(server, 'GET', '/data/WS/P/A?last=1');
  for (const name of ['budget', 'ceiling']) {
    assert.equal((await set({ [name]: 0 }))['ceiling'], 0);
    for (const [method, path] of [
      ['DELETE', '/account/messagebudget'],
      ['POST', '/account/messagebudget?totalMessages=1000000'],
    ] as const) {
      assert.equal((await send(server, method, path)).status, 200);
      const refused = await readOne();
      assert.deepEqual(
        [refused.status, refused.text],
        [
          402,
          'The message budget that the operator set for this account is reached: ' +
            'only the operator can raise it',
        ],
      );
    }
    assert.equal((await set({ [name]: null }))['ceiling'], null);
    assert.equal((await readOne()).status, 200);
  }
  assert.equal((await send(server, 'POST', '/account/messagebudget?totalMessages=0')).status, 200);
  const own = await readOne();
  assert.deepEqual([own.status, /POST \/account\/messagebudget/.test(own.text)], [402, true]);
});
