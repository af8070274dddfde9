// The log of streams has one writer: a node that slept while it was replaced adds nothing to it.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { parseBusSettings } from '../../../store/base/settings/busSettings.ts';
import { Hub } from '../../../store/bus/hub.ts';
import type { TopicLog } from '../../../store/bus/topicLog.ts';
import { NatsLog } from '../../../store/bus/nats/natsLog.ts';
import { SoleWriter } from '../../../store/bus/nats/soleWriter.ts';
import { hasServers, isLeftOut } from '../../base/servers/hasServers.ts';
import { startNats } from '../../base/servers/nats.ts';

const skip = isLeftOut(await hasServers('nats'));
let nats: Awaited<ReturnType<typeof startNats>>;
const logs: NatsLog[] = [];
beforeAll(async () => {
  if (!skip) nats = await startNats();
});
afterAll(async () => {
  await Promise.all(logs.map((log) => log.close()));
  await nats?.[Symbol.asyncDispose]();
});

async function opened(fenceMs = 5_000, lake = 'sole'): Promise<NatsLog> {
  const settings = parseBusSettings(nats?.url ?? '');
  assert.ok(settings !== undefined);
  const log = new NatsLog({ settings, lake, onFault: () => undefined, fenceMs });
  logs.push(log);
  while (!log.isHere) await sleep(10);
  await log.open();
  return log;
}

test.skipIf(skip)('messages of a node that was replaced are not stored', async () => {
  const former = await opened(400);
  const [one, two] = await Promise.all([former.append('one'), former.append('two')]);
  assert.deepEqual([one?.sequence, two?.sequence], [2, 3], 'behind the marker of its start');
  const next = await opened();
  const late = former.append('late');
  const first = await Promise.race([late, sleep(100, 'not published')]);
  assert.equal(first, 'not published', 'before it knows whether it serves');
  assert.equal(await late, undefined, 'though the next one has published nothing yet');
  assert.equal((await next.append('three'))?.sequence, 5);
  assert.equal((await former.open())?.last, 5, 'also after it has read the log again');
  assert.equal(await former.append('later'), undefined);
  assert.equal((await next.append('four'))?.sequence, 6);
});

test.skipIf(skip)('a gap at one node is a gap at every node after it', async () => {
  const topics = ['records'];
  const subscription = { topics, symbols: undefined, intervalMs: 0, ids: true };
  const reader = { take: () => undefined };
  const nodeOf = async (): Promise<{ readonly hub: Hub; readonly log: TopicLog }> => {
    const hub = new Hub(Date.now, await opened(400, 'holes'));
    assert.ok(hub.log !== undefined);
    return { hub, log: hub.log };
  };
  const first = await nodeOf();
  await first.hub.prepareResume(subscription);
  const group = first.hub.join(subscription, reader);
  first.hub.publish('records', 'A', () => '{"n":1}');
  await first.log.flushed();
  const id = idOf(group.createFrame('', '{}').bytes);
  // The next one finds no checkpoint of the first one, and stores its own.
  const second = await nodeOf();
  await second.hub.prepareResume(subscription);
  second.log.setCheckpoint('records', '5');
  await second.log.flushed();
  const own = idOf(second.hub.join(subscription, reader).createFrame('', '{}').bytes);
  const third = await nodeOf();
  await third.log.ensureOpen();
  assert.equal(third.log.recovered('records')?.checkpoint, '5');
  third.log.startLogging('records', []);
  await third.log.flushed();
  const again = third.hub.join(subscription, reader);
  assert.equal(
    again.resumeAfter(id, reader).gap,
    null,
    'the messages between the first two are unknown',
  );
  assert.equal(again.resumeAfter(own, reader).gap, 0, 'since the second one nothing is missing');
  for (const { hub } of [first, second, third]) hub.close();
});

const idOf = (frame: Buffer): string => /(?<=id: ).*(?=\r)/.exec(frame.toString())?.[0] ?? '';

test('a writer goes on behind its own messages, stored or not, and not behind those of others', () => {
  let nowMs = 0;
  const writer = new SoleWriter(() => nowMs);
  writer.setLogState('a', 10);
  assert.deepEqual([writer.beginWrite(), writer.beginWrite()], [10, 11]);
  writer.recordStored(11);
  writer.recordUnconfirmed();
  writer.setLogState('a', 12);
  assert.equal(writer.beginWrite(), 12, 'the unconfirmed message had been stored');
  writer.recordStored(13);
  writer.setLogState('a', 14);
  assert.equal(writer.beginWrite(), undefined, 'the fourteenth is of another writer');
  assert.equal(writer.fencedMs, 5_000);
  nowMs = 5_000;
  assert.deepEqual([writer.fencedMs, writer.beginWrite()], [0, 14]);
  writer.recordRejected();
  assert.equal(writer.beginWrite(), undefined);
  nowMs = 10_000;
  writer.setLogState('b', 1);
  assert.equal(writer.beginWrite(), 1, 'another log of the same name');
});
