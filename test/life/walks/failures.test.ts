// For every failure of a source, an operator finds the same reason in the log, in the history, in the
// status and in the metrics.
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { until } from '../../api/streams/listening.ts';
import { startHttp } from '../../base/servers/http.ts';
import { Walk } from './walk.ts';

/** The behaviour of the source server, by path. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  GONE: (response) => void response.writeHead(404).end('no'),
  FORBIDDEN: (response) => void response.writeHead(403).end('who are you'),
  BROKEN: (response) => void response.writeHead(500).end('oops'),
  PAGE: (response) => void response.end('<!doctype html><title>Log in</title>'),
  EMPTY: (response) => void response.end(''),
  LOOP: (response) => void response.writeHead(302, { location: '/LOOP' }).end(),
  CUT: (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('symbol,date,v\nA,2024-01-01,1\n');
    setTimeout(() => response.destroy(), 50);
  },
  SPOILED: (response) => void response.end('symbol,date,v\nA,never,1\nB,never,2\n'),
  SHAPELESS: (response) => void response.end('{"data": {"rows": 4}}'),
  TEXT: (response) => void response.end('[{"symbol": "A", "date": '),
};
interface Run {
  readonly datasetId: string;
  readonly error: string | null;
}

test('every failure is reported everywhere, with the same reason', async () => {
  await using http = await startHttp((request, response) => {
    const answer = ANSWERS[(request.url ?? '').slice(1)];
    if (answer === undefined) response.writeHead(404).end();
    else answer(response);
  });
  await using walk = await Walk.open();
  await walk.fill('symbol,date,v\nA,2024-01-01,1\n');
  await walk.serve({ TAPEDECK_SOURCE_FOLDER: walk.folder });
  const sources = [
    ...Object.keys(ANSWERS).map((name) => [name, `http://127.0.0.1:${http.port}/${name}`] as const),
    ['CLOSED', `http://127.0.0.1:${await closedPort()}/p.csv`] as const,
    ['UNKNOWN', 'http://nobody.invalid/p.csv'] as const,
    ['MISSING', 'missing.csv'] as const,
  ];
  const kinds = sources.map(([name]) => name);
  for (const [name, from] of sources) {
    await walk.runCommand('source', 'add', from, '--name', name);
    const index = ['--key', 'symbol', '--date', 'date'];
    await walk.runCommand('schedule', 'add', name, '--dataset', name, ...index);
  }
  const reasons = await reasonsOf(walk, kinds);
  // The history is written first.
  const failing = `\ntapedeck_schedules_failing ${kinds.length}\n`;
  const metrics = await metricsWith(walk, failing);
  await until(() => walk.log().split('a scheduled run failed').length > kinds.length);
  const { code, stdout } = await walk.run(['status', '--json']);
  expect(code).toBe(1);
  const { problems, schedules } = JSON.parse(stdout) as {
    readonly problems: readonly { readonly level: string; readonly what: string }[];
    readonly schedules: readonly { readonly dataset: string; readonly reason: string | null }[];
  };
  const logged = walk
    .log()
    .split('\n')
    .filter((line) => line.includes('a scheduled run failed'))
    .map((line) => JSON.parse(line) as { readonly dataset: string; readonly reason: string });
  for (const [name, reason] of reasons) {
    expect(reason.length, name).toBeGreaterThan(10);
    expect(logged.find(({ dataset }) => dataset === name)?.reason, `${name} in the log`).toBe(
      reason,
    );
    expect(schedules.find(({ dataset }) => dataset === name)?.reason, `${name} in status`).toBe(
      reason,
    );
    const faults = problems.filter(
      ({ level, what }) => level === 'fault' && what.includes(`W.${name} `),
    );
    expect(faults[0]?.what, `${name} is a fault`).toContain(reason);
    const row = new RegExp(
      `^tapedeck_schedule_failed_in_a_row\\{[^}]*dataset="${name}"[^}]*\\} 1$`,
      'm',
    );
    expect(metrics, `${name} in the metrics`).toMatch(row);
  }
});

/** A port that was closed. */
async function closedPort(): Promise<number> {
  await using http = await startHttp(() => undefined);
  return http.port;
}

/** The metrics once they include a line: an immediate retry may be refused. */
async function metricsWith(walk: Walk, line: string): Promise<string> {
  const token = (await readFile(walk.path('data/admin-token'), 'utf8')).trim();
  let metrics = '';
  await until(async () => {
    metrics = (await walk.ask('/metrics', { headers: { authorization: `Bearer ${token}` } })).text;
    return metrics.includes(line);
  });
  return metrics;
}

/** The reason in the history of each schedule, once all have failed. */
async function reasonsOf(walk: Walk, kinds: readonly string[]): Promise<Map<string, string>> {
  const reasons = new Map<string, string>();
  await until(async () => {
    for (const name of kinds.filter((one) => !reasons.has(one))) {
      const lines = (await walk.runCommand('schedule', 'history', name, '--json'))
        .trim()
        .split('\n');
      const runs = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Run);
      const error = runs.find((run) => run.error !== null)?.error ?? null;
      if (error !== null) reasons.set(name, error);
    }
    return reasons.size === kinds.length;
  }, 60_000);
  return reasons;
}
