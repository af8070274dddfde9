// kill -9 while rules fire: each alert that is recorded is charged once, and no other; each that was sent is
// recorded; none comes sooner after another than its rule allows; what waited is delivered after the restart.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { openReceiver } from '../api/rules/ruleServer.ts';
import { until } from '../api/streams/listening.ts';
import { note } from '../notes.ts';
import { seedsOf } from '../seeds.ts';
import { asked, killable } from './rounds/killable.ts';
import { seeded } from './rounds/seeded.ts';

const RULES = 6;
const KILLS = 3;
const WEIGHT = 101;
const LOOPBACK = { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };

let root = '';
const children: ChildProcess[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-kill-rules-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(root, { recursive: true, force: true });
});

const DATASET = {
  datasetId: 'K',
  schema: {
    properties: {
      symbol: { type: 'string' },
      day: { type: 'string', format: 'date' },
      v: { type: 'integer' },
    },
  },
  columnMapping: { key: 'symbol', date: 'day' },
};

interface Alert {
  readonly alertId: string;
  readonly timestamp: number;
  readonly messages: number;
  readonly state: string;
}
type Usage = { readonly keyUsage: Readonly<Record<string, number>> };

test('alerts, charges and what was sent agree, whenever the server is killed', async (t) => {
  for (const seed of seedsOf(t)) {
    await using receiver = await openReceiver();
    const random = seeded(seed);
    const data = join(root, String(seed));
    let server = await killable(data, children, LOOPBACK);
    await asked(server.base, 'POST', '/workspaces', '{"name":"WS"}');
    await asked(server.base, 'POST', '/datasets/WS', JSON.stringify({ dataset: DATASET }));
    const ids: string[] = [];
    for (let at = 0; at < RULES; at += 1) {
      const rule = {
        ...{ ruleName: `rule ${at}`, index: [`WS:K:S${at}:v`] },
        conditions: [['$index[0]', '>', 0]],
        outputs: [{ method: 'webhook', frequency: 1, url: receiver.url }],
      };
      const made = await asked(server.base, 'POST', '/rules/create', JSON.stringify(rule));
      ids.push((JSON.parse(made) as { id: string }).id);
    }
    let day = 0;
    const push = (): Promise<unknown> => {
      day += 1;
      const date = new Date(Date.UTC(2020, 0, day)).toISOString().slice(0, 10);
      const record = { symbol: `S${random.between(0, RULES - 1)}`, day: date, v: day };
      return asked(server.base, 'POST', '/record/WS/K', JSON.stringify(record));
    };
    for (let kill = 0; kill < KILLS; kill += 1) {
      const endMs = Date.now() + random.between(200, 900);
      while (Date.now() < endMs) await push();
      const open = Promise.allSettled(Array.from({ length: 5 }, push));
      await sleep(random.between(0, 60));
      await server.kill();
      await open;
      server = await killable(data, children, LOOPBACK);
    }
    const alerts = await alertsOf(server.base, ids);
    const usage = JSON.parse(await asked(server.base, 'GET', '/account/usage/messages')) as Usage;
    const charged = usage.keyUsage['ALERT_WEBHOOK'] ?? 0;
    assert.equal(charged, alerts.length * WEIGHT, `seed ${seed}: charged`);
    const known = new Set(alerts.map(({ alertId }) => alertId));
    await until(() => new Set(receiver.heard.map(idOf)).size >= known.size);
    for (const one of receiver.heard) assert.ok(known.has(idOf(one)), `seed ${seed}: ${idOf(one)}`);
    await server.kill();
    note(t, `seed ${seed}: ${alerts.length} alerts, ${receiver.heard.length} calls`);
  }
});

const idOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string =>
  String(headers['webhook-id']);

async function alertsOf(base: string, ids: readonly string[]): Promise<readonly Alert[]> {
  const all: Alert[] = [];
  for (const id of ids) {
    const text = await asked(base, 'GET', `/rules/alerts/${id}?limit=1000`);
    const alerts = JSON.parse(text) as readonly Alert[];
    for (const [at, { messages, timestamp }] of alerts.entries()) {
      assert.equal(messages, WEIGHT);
      const before = alerts[at + 1];
      if (before === undefined) continue;
      assert.ok(timestamp - before.timestamp >= 1_000, `${id}: ${before.timestamp}, ${timestamp}`);
    }
    all.push(...alerts);
  }
  return all;
}
