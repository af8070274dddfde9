// The log of streams has one writer: a node that slept while another one took its place adds nothing to it.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { busSettings } from '../../store/base/busSettings.ts';
import { NatsLog } from '../../store/nats/natsLog.ts';
import { SoleWriter } from '../../store/nats/soleWriter.ts';
import { hasServers, isLeftOut } from '../servers/hasServers.ts';
import { startNats } from '../servers/nats.ts';

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

async function opened(fenceMs = 5_000): Promise<NatsLog> {
  const settings = busSettings(nats?.url ?? '');
  assert.ok(settings !== undefined);
  const log = new NatsLog({ settings, lake: 'sole', onFault: () => undefined, fenceMs });
  logs.push(log);
  while (!log.isHere) await sleep(10);
  await log.open();
  return log;
}

test.skipIf(skip)('what a node says that another one has followed is not kept', async () => {
  const former = await opened(400);
  const [one, two] = await Promise.all([former.append('one'), former.append('two')]);
  assert.deepEqual([one?.sequence, two?.sequence], [2, 3], 'behind the word that it begins');
  const next = await opened();
  const late = former.append('late');
  const first = await Promise.race([late, sleep(100, 'nobody is told of it')]);
  assert.equal(first, 'nobody is told of it', 'before it knows whether it serves');
  assert.equal(await late, undefined, 'though the next one has told nothing yet');
  assert.equal((await next.append('three'))?.sequence, 5);
  assert.equal((await former.open())?.last, 5, 'also when it has asked what there is');
  assert.equal(await former.append('later'), undefined);
  assert.equal((await next.append('four'))?.sequence, 6);
});

test('a writer goes on behind its own messages, kept or not, and not behind those of others', () => {
  let nowMs = 0;
  const writer = new SoleWriter(() => nowMs);
  writer.found('a', 10);
  assert.deepEqual([writer.begin(), writer.begin()], [10, 11]);
  writer.kept(11);
  writer.lost();
  writer.found('a', 12);
  assert.equal(writer.begin(), 12, 'what was lost had been kept');
  writer.kept(13);
  writer.found('a', 14);
  assert.equal(writer.begin(), undefined, 'the fourteenth is of another one');
  assert.equal(writer.fencedMs, 5_000);
  nowMs = 5_000;
  assert.deepEqual([writer.fencedMs, writer.begin()], [0, 14]);
  writer.refused();
  assert.equal(writer.begin(), undefined);
  nowMs = 10_000;
  writer.found('b', 1);
  assert.equal(writer.begin(), 1, 'another log of the same name');
});
