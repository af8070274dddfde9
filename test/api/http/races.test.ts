// Concurrent requests for the same thing: one is first, and the answers agree.
import assert from 'node:assert/strict';
import { expect } from 'vitest';
import { send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';

/** Concurrent requests; more than any limit below. */
const ASKERS = 8;

const together = <T>(ask: (at: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
  Promise.allSettled(Array.from({ length: ASKERS }, (_, at) => ask(at)));

test('no more tokens than the tier has', async ({ server }) => {
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('Small', 'free');
  const creations = await together(() => accounts.createToken(accountId, 'secret'));
  const refused = creations.filter(({ status }) => status === 'rejected');
  assert.equal(refused.length, ASKERS - 2);
  const tokens = (await accounts.tokens(accountId)).filter(({ test: isTest }) => !isTest);
  assert.equal(tokens.length, 2);
  // One token is deleted, and all requests compete for its place.
  const [one] = tokens;
  assert.ok(one);
  await accounts.changeToken(accountId, one.tokenId, { disabled: true });
  const back = together((at) =>
    at === 0
      ? accounts.changeToken(accountId, one.tokenId, { disabled: false })
      : accounts.createToken(accountId, 'secret'),
  );
  assert.equal((await back).filter(({ status }) => status === 'fulfilled').length, 1);
});

test('a token that is signed by several has one secret', async ({ server }) => {
  const tokenToSign = server.publishable;
  const answers = await together(() => send(server, 'POST', '/account/signed', { tokenToSign }));
  const texts = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.text : ''));
  assert.equal(new Set(texts).size, 1, texts.join('\n'));
  const path = `/account/signed?signedToken=${tokenToSign}`;
  const { text } = await send(server, 'GET', path);
  assert.ok(texts[0]?.includes((JSON.parse(text) as { secret: string }).secret));
});

test('a name is used once: views, datasets, workspaces', async ({ server }) => {
  const query = 'SELECT 1 AS one';
  await together((at) =>
    send(server, 'POST', '/views/WS', { view: { name: at % 2 === 0 ? 'V' : 'v', query } }),
  );
  const { text } = await send(server, 'GET', '/views/WS');
  assert.equal((JSON.parse(text) as readonly unknown[]).length, 1, text);
  const schema = { properties: { s: { type: 'string' } } };
  const dataset = { datasetId: 'D', schema, columnMapping: { key: 's' } };
  for (const [path, body] of [
    ['/datasets/WS', { dataset }],
    ['/workspaces', { name: 'TWICE' }],
  ] as const) {
    const answers = await together(() => send(server, 'POST', path, body));
    const outcomes = answers.map((answer) =>
      answer.status === 'fulfilled' ? answer.value : answer,
    );
    expect(
      outcomes.filter(({ status }) => status === 200),
      JSON.stringify(outcomes),
    ).toHaveLength(1);
    expect(outcomes.filter(({ status }) => status === 409)).toHaveLength(ASKERS - 1);
  }
});

test('a view and a dataset never have one name', async ({ server }) => {
  const query = 'SELECT 1 AS one';
  const schema = { properties: { s: { type: 'string' } } };
  const loads = (datasetId: string) => ({ datasetId, schema, columnMapping: { key: 's' } });
  await send(server, 'POST', '/datasets/WS', { dataset: loads('MOVES') });
  for (let turn = 0; turn < 5; turn += 1) {
    const name = `BOTH${turn}`;
    const results = await together((at) => {
      if (at === 0) return send(server, 'PUT', `/datasets/WS/MOVES/${name}`);
      if (at % 2 === 0) return send(server, 'POST', '/datasets/WS', { dataset: loads(name) });
      return send(server, 'POST', '/views/WS', { view: { name: name.toLowerCase(), query } });
    });
    const { queries, lake } = server.tapedeck.services;
    const both = [queries.view('WS', name), lake.directory.dataset('WS', name)];
    assert.equal(both.filter((one) => one !== undefined).length, 1, JSON.stringify(results));
    if (lake.directory.dataset('WS', 'MOVES') === undefined)
      await send(server, 'PUT', `/datasets/WS/${name}/MOVES`);
  }
});

test('no more webhooks than the limit of a workspace', async ({ server }) => {
  const webhook = { url: 'https://example.com/hook', events: ['INGESTED'] };
  const hooks = await Promise.all(
    Array.from({ length: 105 }, () => send(server, 'POST', '/webhooks/WS', webhook)),
  );
  const { text } = await send(server, 'GET', '/webhooks/WS');
  assert.equal((JSON.parse(text) as readonly unknown[]).length, 100, JSON.stringify(hooks[0]));
});
