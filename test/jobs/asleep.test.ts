// A restored folder does nothing automatically until it is woken: pending deliveries of the first folder are
// not sent twice.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { openReceiver, openRuleServer } from '../api/rules/ruleServer.ts';
import { until } from '../api/streams/listening.ts';
import { restoreBackup } from '../../jobs/backup/restore.ts';
import { isAsleep, wake } from '../../store/catalog/restoreGuard.ts';
import { localDisk } from '../../store/base/disk.ts';
import { startServer } from '../base/server.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-asleep-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const LOOPBACK = { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };
const HOUR_MS = 3_600_000;

test('a restored folder sleeps until it is woken, and one restored awake does not', async () => {
  await using receiver = await openReceiver();
  const target = join(root, 'backup');
  let firstMs = 0;
  {
    await using rules = await openRuleServer();
    receiver.answers.push({ status: 500 });
    const id = await rules.create({
      ruleSet: 'AAA',
      type: 'all',
      ruleName: 'waits',
      conditions: [['latestPrice', '>', 12]],
      outputs: [
        {
          frequency: 60,
          method: 'webhook',
          url: receiver.url,
        },
      ],
    });
    rules.trade('AAA', 12.5);
    await rules.settled();
    assert.match(JSON.stringify(await rules.get(`/rules/alerts/${id}`)), /waiting/);
    firstMs = rules.clock.nowMs;
    const { adminToken } = rules.server.tapedeck.services;
    const headers = { authorization: `Bearer ${adminToken}` };
    const url = `${rules.server.base}/v1/admin/backup`;
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ target }),
    });
    assert.equal(response.status, 200, await response.text());
  }
  assert.equal(receiver.heard.length, 1);
  const clock = (): number => firstMs + HOUR_MS;
  const served = (folder: string) => startServer({ folder, settings: LOOPBACK, seams: { clock } });
  const asleep = join(root, 'asleep');
  await restoreBackup(target, asleep, localDisk);
  assert.ok(isAsleep(asleep));
  {
    await using server = await served(asleep);
    assert.match(server.tapedeck.warnings.join(), /is asleep: .* until `tapedeck wake`/);
    await sleep(1_500);
    assert.equal(receiver.heard.length, 1, 'nothing is sent while it sleeps');
    assert.ok(wake(asleep));
    assert.ok(!wake(asleep), 'once');
    await until(() => receiver.heard.length === 2);
  }
  const awake = join(root, 'awake');
  await restoreBackup(target, awake, localDisk, true);
  await using server = await served(awake);
  assert.deepEqual(
    server.tapedeck.warnings.filter((one) => one.includes('asleep')),
    [],
  );
  await until(() => receiver.heard.length === 3);
});
