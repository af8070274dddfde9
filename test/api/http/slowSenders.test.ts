// Bodies that arrive too slowly, or stop: they are refused by their pace. Slow but steady ones are read.
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { readJson } from '../../../api/request/body/jsonBody.ts';
import { Failure } from '../../../store/base/failure.ts';

const PACE = { bytesPerSecond: 100, windowMs: 300 };
const LIMITS = { bytesMax: 10_000, contentLength: undefined };

test('a body that stops arriving is refused with the pace', async () => {
  const body = new PassThrough();
  body.write('{"a":');
  const failure = await readJson(body, LIMITS, PACE).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Failure);
  assert.equal(failure.type, 'InvalidBody');
  assert.match(failure.message, /arrived too slowly: 100 bytes a second over 0\.3 s are the least/);
  // Its connection stays open: the refusal is sent on it.
  assert.equal(body.destroyed, false);
});

test('a slow body that keeps the pace is read', async () => {
  const body = new PassThrough();
  const read = readJson(body, LIMITS, PACE);
  body.write('["');
  for (let piece = 0; piece < 10; piece += 1) {
    body.write('x'.repeat(60));
    await sleep(100);
  }
  body.end('"]');
  const { value } = await read;
  assert.deepEqual(value, ['x'.repeat(600)]);
});
