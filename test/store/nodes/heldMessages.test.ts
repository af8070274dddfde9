// The replay buffer of a stream takes as much memory as is counted for it.
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'vitest';
import { Hub } from '../../../store/bus/hub.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Size of one message; a thousand of them are far below the limit of a buffer. */
const SPACING_BYTES = 60_000;
const MESSAGES = 1_000;

test('a quiet stream beside busy ones buffers its messages, and no memory of theirs', () => {
  const hub = new Hub(Date.now);
  const subscription = { topics: ['last'], symbols: ['A'], intervalMs: 0, ids: true } as const;
  const group = hub.join(subscription, { take: () => undefined });
  const read = group.createFrame('A', '{}').bytes.toString();
  collect();
  const before = process.memoryUsage().arrayBuffers;
  for (let price = 0; price < MESSAGES; price += 1) {
    hub.publish('last', 'A', () => `{"symbol":"A","price":${price}}`);
    group.flush();
    // Other streams allocate from the same memory meanwhile, and release it.
    for (let bytes = 0; bytes < SPACING_BYTES; bytes += 1_000) Buffer.from('x'.repeat(1_000));
  }
  collect();
  const usedBytes = process.memoryUsage().arrayBuffers - before;
  const id = /id: (\S+)/.exec(read)?.[1] ?? '';
  const { frames, gap } = group.resumeAfter(id);
  assert.equal(gap, 0);
  assert.equal(frames.length, MESSAGES);
  assert.match(
    frames.at(-1)?.bytes.toString() ?? '',
    /^id: \w+-1000\r\ndata: \[\{"symbol":"A","price":999\}\]\r\n\r\n$/,
  );
  hub.close();
  assert.ok(
    usedBytes < 8 * 1024 ** 2,
    `${usedBytes} bytes are held for ${MESSAGES} short messages`,
  );
});

test('long messages are released when they leave the buffer', () => {
  const hub = new Hub(Date.now);
  const subscription = { topics: ['last'], symbols: ['A'], intervalMs: 0, ids: true } as const;
  const group = hub.join(subscription, { take: () => undefined });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 2_000; at += 1) {
    hub.publish('last', 'A', () => `{"n":${at},"text":"${String(at % 10).repeat(50_000)}"}`);
    group.flush();
  }
  collect();
  const usedBytes = process.memoryUsage().heapUsed - before;
  hub.close();
  assert.ok(usedBytes < 12 * 1024 ** 2, `${usedBytes} bytes are held, of which 4 MB are counted`);
});

test('the buffer is bounded by messages: the latest ones stay, in their order', () => {
  const hub = new Hub(Date.now);
  const group = hub.join(
    { topics: ['last'], symbols: undefined, intervalMs: 0, ids: true },
    { take: () => undefined },
  );
  const first = /id: (\S+)/.exec(group.createFrame('A', '{}').bytes.toString())?.[1] ?? '';
  const all = 25_000;
  for (let price = 0; price < all; price += 1) {
    hub.publish('last', 'A', () => `{"price":${price}}`);
    if (price % 7 === 0) group.flush();
  }
  group.flush();
  const { frames, gap } = group.resumeAfter(first);
  hub.close();
  assert.equal(frames.length, 10_000);
  assert.equal(gap, all - 10_000);
  const prices = frames.map(({ bytes }) => Number(/"price":(\d+)/.exec(bytes.toString())?.[1]));
  assert.deepEqual(
    prices,
    Array.from({ length: 10_000 }, (_, at) => all - 10_000 + at),
  );
});
