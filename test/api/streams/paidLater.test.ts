// A stream of an account whose messages are leased to other nodes: it waits for them, and ends without any.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'vitest';
import { StreamConnection } from '../../../api/sse/connection.ts';
import { StreamMeter } from '../../../api/sse/meter.ts';
import { Hub } from '../../../store/bus/hub.ts';
import { caller, fixture, K, QUOTA } from '../../store/ledger/ledgerFixture.ts';
import { until } from './listening.ts';

type Lending = Awaited<ReturnType<typeof fixture>> & {
  /** Returns leased messages. */
  home(messages: number): void;
};

/** All but `left` messages are leased, and are returned by `home`. */
async function lending(left: number): Promise<Lending> {
  const f = await fixture();
  const block = f.ledger.openBlock(caller, false);
  f.ledger.adjustBlock(block, QUOTA - left);
  let waiting = Promise.withResolvers<void>();
  f.ledger.setLending({ recall: () => waiting.promise, collectReports: () => Promise.resolve() });
  const home = (messages: number): void => {
    f.ledger.adjustBlock(block, -messages);
    waiting.resolve();
    waiting = Promise.withResolvers<void>();
  };
  return Object.assign(f, { home });
}

test('a meter waits for leased messages once, and then ends', async () => {
  await using f = await lending(20);
  const meter = new StreamMeter(f.ledger, caller, K);
  assert.equal(meter.pay(25), 20);
  const { room } = meter;
  assert.ok(room !== undefined && meter.renew());
  assert.deepEqual([meter.pay(5), meter.charged], [0, 20]);
  f.home(7);
  await room;
  assert.equal(meter.room, undefined);
  assert.equal(meter.pay(5), 5);
  assert.equal(meter.pay(5), 2);
  f.home(0);
  await meter.room;
  assert.deepEqual([meter.pay(3), meter.room, meter.renew()], [0, undefined, false]);
  assert.deepEqual(f.ledger.balance('a'), { used: 27, held: 0 });
});

test('unpaid messages are sent in their order once they can be paid', async () => {
  await using f = await lending(21);
  const hub = new Hub(Date.now);
  const [written, ended]: [string[], string[]] = [[], []];
  const socket = Object.assign(new EventEmitter(), {
    writableLength: 0,
    write: (bytes: Buffer) => written.push(bytes.toString()),
    end: () => undefined,
  });
  const connection = new StreamConnection({
    socket: socket as unknown as Socket,
    isChunked: false,
    hub,
    meter: new StreamMeter(f.ledger, caller, K),
    subscription: {
      topics: ['t'],
      symbols: ['A'],
      intervalMs: 0,
      ids: false,
    },
    newest: () => [],
    gathering: undefined,
    events: false,
    heartbeatMs: 0,
    isAllowed: () => true,
    nowMs: 0,
    onEnd: (reason: string) => ended.push(reason),
  });
  const send = (from: number, until: number): void => {
    const symbols = Array.from({ length: until - from }, (_, at) => `${from + at}`);
    connection.sendPast(symbols.map((n) => ({ symbol: 'A', json: `{"n":${n}}` })));
  };
  const numbers = (): readonly number[] =>
    [...written.join('').matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
  const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);
  send(0, 25);
  send(25, 30);
  assert.deepEqual(numbers(), upTo(21));
  f.home(6);
  await until(() => numbers().length === 27);
  assert.deepEqual([numbers(), ended], [upTo(27), []]);
  f.home(0);
  await until(() => ended.length > 0);
  assert.deepEqual([numbers(), ended], [upTo(27), ['quota']]);
  assert.equal(f.ledger.balance('a').used, 27);
  hub.close();
});
