// The lake's time is monotonic under any change of the machine's clock, and a time of that clock maps to it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { CLOCK_BEHIND_MS } from '../../../store/catalog/lakeClock.ts';
import { loaded, load, send } from '../../base/client.ts';
import { seeded } from '../../soak/crash/rounds/seeded.ts';
import { seedsOf } from '../../base/seeds.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const HOUR_MS = 3_600_000;
const NOON_MS = Date.UTC(2026, 0, 1, 12);

interface Wall {
  ms: number;
}

const start = (folder: string, wall: Wall, settings = {}): Promise<TestServer> =>
  startServer({ folder, settings, seams: { clock: () => wall.ms, watch: false } });

const push = async (server: TestServer, v: number): Promise<number> =>
  (await send(server, 'POST', '/record/WS/D', [{ symbol: 'A', date: `2020-02-0${v}`, v }])).status;

async function valuesAt(server: TestServer, asOf: number): Promise<readonly number[]> {
  const path = `/data/WS/D/A?limit=100&sort=asc&asOf=${asOf}`;
  const { status, text } = await send(server, 'GET', path);
  assert.equal(status, 200, text);
  return (JSON.parse(text) as readonly { readonly v: number }[]).map(({ v }) => v);
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-clock-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const FIRST = '{"symbol":"A","date":"2020-01-01","v":0}';
const INDEX = { key: 'symbol', date: 'date' };

test('after a jump forth and back, asOf finds the values at each time of the clock', () =>
  withFolder(async (folder) => {
    const wall = { ms: NOON_MS };
    let server = await start(folder, wall);
    await loaded(server, 'D', FIRST, INDEX);
    wall.ms = NOON_MS + 365 * 24 * HOUR_MS;
    assert.equal(await push(server, 1), 200);
    wall.ms = NOON_MS + HOUR_MS;
    assert.deepEqual(await valuesAt(server, wall.ms), [0, 1], 'now includes everything');
    assert.equal(await push(server, 2), 200);
    wall.ms = NOON_MS + 2 * HOUR_MS;
    await loaded(server, 'D', '{"symbol":"A","date":"2020-03-01","v":3}');
    wall.ms = NOON_MS + 3 * HOUR_MS;
    const all = async (): Promise<void> => {
      assert.deepEqual(await valuesAt(server, NOON_MS + HOUR_MS / 2), [0], 'before the jump');
      assert.deepEqual(await valuesAt(server, NOON_MS + 1.5 * HOUR_MS), [0, 1, 2]);
      assert.deepEqual(await valuesAt(server, NOON_MS + 2.5 * HOUR_MS), [0, 1, 2, 3]);
      assert.deepEqual(await valuesAt(server, NOON_MS + 9_999 * HOUR_MS), [0, 1, 2, 3]);
    };
    await all();
    await server.close();
    server = await start(folder, wall);
    await all();
    const ahead = server.tapedeck.services.lakeClock.aheadMs;
    assert.ok(ahead > 300 * 24 * HOUR_MS, 'versions stay in order for other readers');
    const metrics = await (await fetch(`${server.base}/metrics`)).text();
    assert.match(metrics, /lake_clock_ahead_ms [1-9]\d+/);
    wall.ms = NOON_MS + 366 * 24 * HOUR_MS;
    await loaded(server, 'D', '{"symbol":"A","date":"2020-03-02","v":4}');
    assert.ok(server.tapedeck.services.lakeClock.aheadMs < 1_000, 'the clock caught up');
    await server.close();
  }));

test('a setting refuses writes while the clock is behind, at a start too', () =>
  withFolder(async (folder) => {
    const wall = { ms: NOON_MS };
    const settings = { TAPEDECK_CLOCK_BACK: 'refuse' };
    let server = await start(folder, wall, settings);
    await loaded(server, 'D', FIRST, INDEX);
    wall.ms = NOON_MS - CLOCK_BEHIND_MS + 1_000;
    assert.equal(await push(server, 1), 200, 'a small correction is ignored');
    wall.ms = NOON_MS - HOUR_MS;
    for (const phase of ['running', 'after a start']) {
      const pushed = await send(server, 'POST', '/record/WS/D', {
        symbol: 'A',
        date: '2020-02-02',
      });
      assert.equal(pushed.status, 503, phase);
      assert.match(pushed.text, /clock is at 2026-01-01T11:00.*TAPEDECK_CLOCK_BACK/, phase);
      const refused = await load(server, 'D', '{"symbol":"A","date":"2020-03-01","v":3}');
      assert.match(await refused.text(), /ended in ERROR.*TAPEDECK_CLOCK_BACK/, phase);
      assert.deepEqual(await valuesAt(server, wall.ms), [0, 1], phase);
      await server.close();
      server = await start(folder, wall, settings);
    }
    wall.ms = NOON_MS + HOUR_MS;
    assert.equal(await push(server, 2), 200);
    assert.deepEqual(await valuesAt(server, wall.ms), [0, 1, 2]);
    await server.close();
  }));

test('times only go on, over random walks of the clock and starts', async (t) => {
  for (const seed of seedsOf(t)) {
    await withFolder(async (folder) => {
      const random = seeded(seed);
      const wall = { ms: NOON_MS };
      let last = 0;
      for (let at = 0; at < 3; at += 1) {
        const server = await start(folder, wall);
        if (at === 0) await loaded(server, 'D', FIRST, INDEX);
        const { lakeClock } = server.tapedeck.services;
        for (let step = 0; step < 50; step += 1) {
          wall.ms += random.pick([1, 30, 10_000, HOUR_MS, -1, -6_000, -HOUR_MS, -500 * HOUR_MS]);
          const next = lakeClock.next();
          assert.ok(next > last, `seed ${seed}: ${next} after ${last}`);
          last = next;
          assert.ok(lakeClock.toLakeTime(wall.ms) >= last, 'now includes everything');
          if (wall.ms > NOON_MS) assert.ok(lakeClock.aheadMs < 10_000 * HOUR_MS);
        }
        assert.equal(await push(server, 1 + at), 200);
        last = lakeClock.now();
        await server.close();
      }
    });
  }
});
