// Requests that arrive in one turn of the event loop, and the turns in which they start.
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'vitest';
import { RequestTurns } from '../../../api/http/requestTurns.ts';

test('a second account starts in the next turn, behind 2,000 requests of the first', async () => {
  const turns = new RequestTurns();
  const started: string[] = [];
  const enter = (account: string): void =>
    turns.enter(
      () => started.push(account),
      () => account,
    );
  for (let at = 0; at < 2_000; at++) enter('first');
  enter('second');
  assert.equal(started.length, 32);
  await nextTurn();
  assert.equal(started.length, 64);
  assert.ok(started.includes('second'));
  while (started.length < 2_001) await nextTurn();
  assert.equal(started.filter((account) => account === 'first').length, 2_000);
});

test('after a quiet turn requests start immediately again', async () => {
  const turns = new RequestTurns();
  let started = 0;
  for (let round = 0; round < 100; round++) {
    for (let at = 0; at < 20; at++) {
      turns.enter(
        () => (started += 1),
        () => assert.fail('an account is read only for a deferred request'),
      );
    }
    assert.equal(started, (round + 1) * 20);
    await nextTurn();
    await nextTurn();
  }
});
