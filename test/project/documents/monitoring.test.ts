// The alert rules and the dashboard of docs/guides/monitoring query metrics and labels of /metrics.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeProxyMetrics } from '../../../api/forward/proxyMetrics.ts';
import { loaded, send } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';
import { test } from '../../base/fixtures.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'docs', 'guides', 'monitoring');
const NAMES = /\b(?:tapedeck|nodejs|process)_[a-z0-9_]+/g;
/** Names that are not metrics: the job in the scrape configuration. */
const OTHERS: ReadonlySet<string> = new Set(['tapedeck_admin']);

/** The metrics of a forwarding node, and of a node whose bus is unavailable. */
async function ofSeveral(): Promise<string> {
  await using server = await startServer({ settings: { TAPEDECK_BUS: 'nats://127.0.0.1:9' } });
  const node = await makeProxyMetrics().text('node');
  const bus = await (await fetch(`${server.base}/metrics`)).text();
  expect(bus).toContain('tapedeck_bus_here 0');
  expect(node).toContain('tapedeck_serving_node{node="node"} 1');
  return `${node}\n${bus}`;
}

test('every queried metric exists, with the labels that are shown', async ({ server }) => {
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-01,1\n', { key: 'symbol', date: 'date' });
  const expectations = [{ range: { property: 'v', max: 5 } }];
  const patchAnswer = await send(server, 'PATCH', '/datasets/WS/P', { expectations });
  assert.equal(patchAnswer.status, 200, patchAnswer.text);
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-02,2\nB,2024-01-02,9\nC,never,1\n');
  const url = 'https://feed.example/ticks';
  const feed = { name: 'far', type: 'SSE', url, dataset: 'P' };
  const sourceAnswer = await send(server, 'POST', '/data-sources/WS', feed);
  assert.equal(sourceAnswer.status, 200, sourceAnswer.text);
  const { adminToken } = server.tapedeck.services;
  const answer = await fetch(`${server.base}/metrics`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const text = [await answer.text(), await ofSeveral()].join('\n');
  const files = await Promise.all(
    ['alerts.yml', 'dashboard.json'].map((name) => readFile(join(FOLDER, name), 'utf8')),
  );
  const metricNames = new Set(files.flatMap((file) => file.match(NAMES) ?? []));
  assert.ok(metricNames.size > 20, [...metricNames].join());
  const missing = [...metricNames].filter(
    (name) => !OTHERS.has(name) && !text.includes(`# TYPE ${name.replace(/_bucket$/, '')} `),
  );
  expect(missing).toEqual([]);
  expect(text).toContain('tapedeck_workspace_bytes{workspace="WS",of="live"}');
  expect(text).toMatch(/tapedeck_account_messages\{account="[0-9a-f]{16}"\} 0/);
  expect(text).toContain('tapedeck_upstream_running{workspace="WS",feed="far"}');
  expect(text).toContain('tapedeck_last_backup_seconds 0');
  expect(text).toContain('tapedeck_jobs_ended{status="INGESTED"} 2');
  expect(text).toContain('tapedeck_job_seconds_count 2');
  expect(text).toContain('tapedeck_job_records{result="ingested"} 2');
  expect(text).toContain('tapedeck_job_records{result="invalid"} 1');
  expect(text).toContain('tapedeck_job_records{result="quarantined"} 1');
  expect(text).toContain('tapedeck_quarantined_records{workspace="WS",dataset="P"} 1');
  const open = await (await fetch(`${server.base}/metrics`)).text();
  assert.ok(open.includes('tapedeck_feeds_failing') && !open.includes('"WS"'), 'names of accounts');
  JSON.parse(files[1] ?? '');
});
