// kill -9 while rules fire: exactly the recorded alerts are charged, each once; each alert that was sent is
// recorded; the alerts of a rule keep its frequency; pending alerts are delivered after the restart, and
// alerts for a dataset are stored in it once.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openReceiver } from '../../../api/rules/ruleServer.ts';
import { until } from '../../../api/streams/listening.ts';
import { fetchText, DATED, killable } from './killable.ts';
import { type Seeded, seeded } from './seeded.ts';

const RULES = 6;
/** Messages of an alert: for the value of a record, and for its delivery. */
const VALUE = 1;
const WEBHOOK = 100;
/** Messages of an alert that is sent by a webhook. */
export const WEIGHT = VALUE + WEBHOOK;
export const LOOPBACK = { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };

interface Alert {
  readonly alertId: string;
  readonly timestamp: number;
  readonly messages: number;
  readonly state: string;
}
type Usage = { readonly keyUsage: Readonly<Record<string, number>> };

/** @returns a summary. @throws AssertionError. */
export async function ruleRounds(kills: number, seed: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-kill-rules-'));
  const children: ChildProcess[] = [];
  try {
    return await rounds(kills, seed, folder, children);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

async function rounds(
  kills: number,
  seed: number,
  folder: string,
  children: ChildProcess[],
): Promise<string> {
  await using receiver = await openReceiver();
  const random = seeded(seed);
  let server = await killable(folder, children, LOOPBACK);
  await fetchText(server.base, 'POST', '/workspaces', '{"name":"WS"}');
  await fetchText(server.base, 'POST', '/datasets/WS', JSON.stringify({ dataset: DATED }));
  const datasetRuleId = await makeRule(server.base, 0, { method: 'dataset', dataset: 'ALERTS' });
  const ids: string[] = [];
  for (let at = 1; at < RULES; at += 1) {
    ids.push(await makeRule(server.base, at, { method: 'webhook', url: receiver.url }));
  }
  const push = pusher(random);
  for (let kill = 0; kill < kills; kill += 1) {
    const endMs = Date.now() + random.between(200, 900);
    while (Date.now() < endMs) await push(server.base);
    const open = Promise.allSettled(Array.from({ length: 5 }, () => push(server.base)));
    await sleep(random.between(0, 60));
    await server.kill();
    await open;
    server = await killable(folder, children, LOOPBACK);
  }
  const { base } = server;
  const sent = await alertsOf(base, ids, WEIGHT);
  const stored = await alertsOf(base, [datasetRuleId], VALUE);
  const { keyUsage } = JSON.parse(await fetchText(base, 'GET', '/account/usage/messages')) as Usage;
  const charged = [keyUsage['ALERT_WEBHOOK'] ?? 0, keyUsage['ALERT_DATASET'] ?? 0];
  const due = [sent.length * WEIGHT, stored.length * VALUE];
  assert.deepEqual(charged, due, `seed ${seed}: charged`);
  const alertIds = new Set(sent.map(({ alertId }) => alertId));
  await until(() => new Set(receiver.heard.map(idOf)).size >= alertIds.size);
  for (const one of receiver.heard)
    assert.ok(alertIds.has(idOf(one)), `seed ${seed}: ${idOf(one)}`);
  await until(async () => (await recordsOf(base)).length >= stored.length);
  const records = (await recordsOf(base)).toSorted();
  assert.deepEqual(
    records,
    stored.map(({ alertId }) => alertId).toSorted(),
    `seed ${seed}: stored`,
  );
  await server.kill();
  const calls = receiver.heard.length;
  return `seed ${seed}: ${kills} kills, ${sent.length} alerts, ${calls} calls, ${stored.length} stored`;
}

const makeRule = (base: string, at: number, output: object): Promise<string> =>
  ruleOn(base, `S${at}`, output);

/** Creates a rule that fires for each record of a symbol, at most once a second. */
export async function ruleOn(base: string, symbol: string, output: object): Promise<string> {
  const rule = {
    ruleName: `rule ${symbol}`,
    index: [`WS:K:${symbol}:v`],
    conditions: [['$index[0]', '>', 0]],
    outputs: [
      {
        frequency: 1,
        ...output,
      },
    ],
  };
  const answer = await fetchText(base, 'POST', '/rules/create', JSON.stringify(rule));
  return (JSON.parse(answer) as { id: string }).id;
}

function pusher(random: Seeded): (base: string) => Promise<unknown> {
  let day = 0;
  return (base) => {
    day += 1;
    const date = new Date(Date.UTC(2020, 0, day)).toISOString().slice(0, 10);
    const record = { symbol: `S${random.between(0, RULES - 1)}`, day: date, v: day };
    return fetchText(base, 'POST', '/record/WS/K', JSON.stringify(record));
  };
}

export const idOf = ({
  headers,
}: {
  readonly headers: Readonly<Record<string, unknown>>;
}): string => String(headers['webhook-id']);

/** Ids of the alerts in the dataset. */
async function recordsOf(base: string): Promise<readonly string[]> {
  const text = await fetchText(base, 'GET', '/data/WS/ALERTS?last=1000');
  return (JSON.parse(text) as readonly Alert[]).map(({ alertId }) => alertId);
}

export async function alertsOf(
  base: string,
  ids: readonly string[],
  weight: number,
): Promise<readonly Alert[]> {
  const all: Alert[] = [];
  for (const id of ids) {
    const text = await fetchText(base, 'GET', `/rules/alerts/${id}?limit=1000`);
    const alerts = JSON.parse(text) as readonly Alert[];
    for (const [at, { messages, timestamp }] of alerts.entries()) {
      assert.equal(messages, weight);
      const before = alerts[at + 1];
      if (before === undefined) continue;
      assert.ok(timestamp - before.timestamp >= 1_000, `${id}: ${before.timestamp}, ${timestamp}`);
    }
    all.push(...alerts);
  }
  return all;
}
