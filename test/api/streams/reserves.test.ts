// An idle open stream takes no messages from the calls of its account.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { get, loaded, send } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';
import { StreamMeter } from '../../../api/sse/meter.ts';
import { caller, fixture, K, QUOTA } from '../../store/ledger/ledgerFixture.ts';
import { openStream, until } from './listening.ts';

test('a stream holds no reserve that a call needs', async () => {
  let nowMs = Date.parse('2024-02-29T17:00:00Z');
  await using server = await startServer({ seams: { clock: () => nowMs, watch: false } });
  const { accounts, ledger } = server.tapedeck.services;
  const index = { key: 'symbol', date: 'date' };
  await loaded(server, 'DEAR', 'symbol,date,v\nA,2024-01-02,1\nA,2024-01-03,2\n', index);
  const change = await send(server, 'PATCH', '/datasets/WS/DEAR', { weight: 1_000 });
  assert.equal(change.status, 200, change.text);
  await accounts.changeAccount(server.tapedeck.accountId, { tier: 'scale', budget: 10_000 });
  const stream = await openStream(server, '/stream/WS/DEAR?nosnapshot=true');
  await until(() => ledger.balance(server.tapedeck.accountId).held === 10_000);
  for (let call = 0; call < 4; call += 1) {
    const answer = await get(server, '/data/WS/DEAR/A?last=2');
    assert.equal(answer.status, 200, await answer.text());
  }
  // Two messages of 1,000 each are left: the stream sends them.
  nowMs += 1_000;
  const rows = [4, 5, 6].map((day) => ({ symbol: 'A', date: `2024-01-0${day}`, v: day }));
  await send(server, 'POST', '/record/WS/DEAR', rows);
  await until(() => stream.isEnded());
  assert.deepEqual(
    [...stream.text().matchAll(/"v":(\d)/g)].map(([, v]) => v),
    ['4', '5'],
  );
  const balance = ledger.balance(server.tapedeck.accountId);
  assert.deepEqual(balance, { held: 0, used: 10_000 });
});

test('a refusal names the messages that streams have sent and calls may return', async () => {
  await using f = await fixture();
  const meter = new StreamMeter(f.ledger, caller, { ...K, requestId: 'tops-1', endpoint: 'tops' });
  assert.equal(meter.pay(15), 15);
  const running = f.ledger.hold(caller, { ...K, requestId: 'call-1', endpoint: 'getData' }, QUOTA);
  assert.equal(running.messages, QUOTA - 20);
  assert.throws(() => f.ledger.hold(caller, K, 6, 6), {
    type: 'OverLimit',
    detail: '995 messages are reserved: 15 by tops (tops-1.0), 980 by getData (call-1)',
  });
  f.ledger.release(running);
  meter.close();
});
