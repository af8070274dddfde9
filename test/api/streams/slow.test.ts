// A reader of the newest messages only, which does not read for a while.
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { StreamConnection } from '../../../api/sse/connection.ts';
import { CountingMeter } from '../../../api/sse/meter.ts';
import { Hub } from '../../../store/bus/hub.ts';
import { until } from './listening.ts';

test('what is newest when it reads again is sent, not what was newest when it came', async () => {
  const hub = new Hub(Date.now);
  const written: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    writableLength: 0,
    write: (bytes: Buffer) => written.push(bytes.toString()),
    end: () => undefined,
  });
  const connection = new StreamConnection({
    ...{ socket: socket as unknown as Socket, isChunked: false, hub, meter: new CountingMeter() },
    subscription: { topics: ['rates'], symbols: ['A'], intervalMs: 1, ids: false },
    ...{ newest: () => ['{"rate":1}'], gathering: undefined, events: false, heartbeatMs: 0 },
    ...{ isAllowed: () => true, nowMs: 0, onEnd: () => undefined },
  });
  connection.sendNewest(['A']);
  socket.writableLength = 2 * 1024 ** 2;
  hub.publish('rates', 'A', () => '{"rate":2}');
  await until(() => hub.state().waiting === 0);
  socket.writableLength = 0;
  socket.emit('drain');
  expect(written).toEqual(['data: [{"rate":1}]\r\n\r\n', 'data: [{"rate":2}]\r\n\r\n']);
  hub.close();
});
