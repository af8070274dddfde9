// The test environment for a developer: same paths, same shapes, other values, no charge.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
let tokens: { readonly publishable: string; readonly secret: string };
beforeAll(async () => {
  server = await startServer({ settings: { TAPEDECK_SANDBOX_PORT: '0' } });
  const rows = Array.from({ length: 20 }, (_, at) => {
    const day = String(at + 1).padStart(2, '0');
    return `MSFT,2020-01-${day},${100 + at}.25,${1_000_000 + at},Microsoft Corporation`;
  });
  await loaded(server, 'PRICES', `symbol,date,close,volume,company\n${rows.join('\n')}\n`);
  const all = await server.tapedeck.services.accounts.tokens(server.tapedeck.accountId);
  const of = (kind: string): string =>
    all.find((token) => token.test && token.kind === kind)?.text ?? '';
  tokens = { publishable: of('publishable'), secret: of('secret') };
});
afterAll(() => server.close());

interface Bar {
  readonly symbol: string;
  readonly date: string;
  readonly close: number;
  readonly volume: number;
  readonly company: string;
}

async function ask(base: string, path: string, token: string): Promise<Response> {
  return fetch(`${base}/v1${path}${path.includes('?') ? '&' : '?'}token=${token}`);
}

const read = async (base: string, token: string): Promise<readonly Bar[]> => {
  const answer = await ask(base, '/data/WS/PRICES/MSFT?last=20', token);
  assert.equal(answer.status, 200);
  return (await answer.json()) as readonly Bar[];
};

const letters = (text: string): string => [...text].toSorted().join('');

test('the same shape with other values, which are repeatable', async () => {
  const { sandbox = '' } = server.tapedeck;
  const real = await read(server.base, server.publishable);
  const other = await read(sandbox, tokens.publishable);
  assert.deepEqual(await read(sandbox, tokens.publishable), other);
  assert.equal(other.length, real.length);
  for (const [at, bar] of other.entries()) {
    const was = real[at];
    assert.ok(was);
    assert.deepEqual(Object.keys(bar), Object.keys(was));
    assert.equal(bar.symbol, 'MSFT', 'keys stay');
    assert.ok(
      Math.abs(bar.close / was.close - 1) <= 0.05 && Math.abs(bar.volume / was.volume - 1) <= 0.05,
    );
    assert.ok(Number.isInteger(bar.volume));
    assert.notEqual(bar.company, was.company);
    assert.equal(letters(bar.company), letters(was.company));
    assert.equal(bar.date, was.date, 'and so do the dates that select records');
    assert.notEqual(bar.close, was.close);
    assert.notEqual(bar.volume, was.volume);
  }
});

test('nothing is charged, and the answer is marked as deprecated', async () => {
  const { accountId, sandbox = '', services } = server.tapedeck;
  const before = services.ledger.balance(accountId);
  const answer = await ask(sandbox, '/time-series/PRICES/MSFT?last=5', tokens.publishable);
  assert.equal(answer.headers.get('svccloud-messages-used'), '5', 'the price in production');
  assert.equal(answer.headers.get('deprecation'), '@1661731200');
  assert.equal((await ask(server.base, '/status', '')).headers.get('deprecation'), null);
  assert.deepEqual(services.ledger.balance(accountId), before);
  await services.accounts.changeAccount(accountId, { budget: 0 });
  assert.equal((await ask(server.base, '/data/WS', server.publishable)).status, 402);
  const goesOn = await ask(sandbox, '/data/WS/PRICES', tokens.publishable);
  assert.equal(goesOn.status, 200, 'a spent budget does not stop tests');
  await services.accounts.changeAccount(accountId, { budget: undefined });
});

test('tokens of one environment are refused by the other, each with its own sentence', async () => {
  const { sandbox = '' } = server.tapedeck;
  const cases = [
    [server.base, tokens.publishable, /^Test tokens may only be used in the sandbox environment/],
    [server.base, tokens.secret, /^Test tokens may only be used in the sandbox environment/],
    [sandbox, server.publishable, /^Production tokens cannot be used in the sandbox environment/],
    [sandbox, server.secret, /^Production tokens cannot be used in the sandbox environment/],
  ] as const;
  for (const [base, token, text] of cases) {
    const answer = await ask(base, '/data/WS/PRICES', token);
    assert.equal(answer.status, 403);
    assert.match(await answer.text(), text);
  }
});

test('it changes nothing', async () => {
  const { sandbox = '' } = server.tapedeck;
  const url = `${sandbox}/v1/data/WS/PRICES?token=${tokens.secret}`;
  const answer = await fetch(url, { method: 'POST', body: 'symbol,date\nA,2020-01-01\n' });
  assert.equal(answer.status, 403);
  assert.match(await answer.text(), /The test environment changes nothing/);
  assert.equal((await fetch(`${sandbox}/v1/admin/accounts`)).status, 404);
});
