// The contract of every source, independent of its server: one table of cases, run against real servers.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Landing, PullOrder } from '../../../pipeline/sources/base/source.ts';
import { failing, type Kind, OWNER, pulled, type World } from './contract.ts';

/** For a batch of 50 MB, and for parsed pages; a body in memory takes more. */
const MEMORY_BYTES_MAX = 150_000_000;

type Case = (world: World, kind: Kind) => Promise<void>;

const CASES: Readonly<Record<string, Case>> = {
  'everything available, oldest first, each with its name': async (world, { sends }) => {
    for (const batch of [1, 2, 3]) await world.add(batch);
    const { batches, names } = await pulled(world);
    assert.deepEqual(batches, [1, 2, 3]);
    assert.equal(names.length, sends === 'each' ? 3 : 1);
    for (const name of names) assert.match(name, /\S/);
    assert.equal(new Set(names).size, names.length);
  },

  'nothing new is no piece, at any time of our clock': async (world) => {
    await world.add(1);
    const { position } = await pulled(world);
    for (const nowMs of [Date.UTC(1999, 0, 1), Date.UTC(2040, 0, 1)]) {
      const again = await pulled(world, { since: position, landing: { nowMs } });
      assert.deepEqual(again.names, []);
    }
  },

  'only what is new since the position': async (world, { sends }) => {
    await world.add(1);
    const first = await pulled(world);
    await world.add(2);
    await world.add(3);
    const second = await pulled(world, { since: first.position, landing: { nowMs: 0 } });
    assert.deepEqual(second.batches, sends === 'one' ? [1, 2, 3] : [2, 3]);
    await world.add(4);
    const third = await pulled(world, { since: second.position });
    assert.deepEqual(third.batches, sends === 'one' ? [1, 2, 3, 4] : [4]);
    assert.deepEqual((await pulled(world, { since: third.position })).names, []);
  },

  'goes on after the piece that was stored last': async (world, { sends }) => {
    for (const batch of [1, 2, 3]) await world.add(batch);
    const first = await pulled(world, { most: 1 });
    const rest = await pulled(world, { since: first.position });
    assert.deepEqual([...new Set([...first.batches, ...rest.batches])], [1, 2, 3]);
    if (sends === 'each') assert.deepEqual([first.batches, rest.batches], [[1], [2, 3]]);
    assert.deepEqual((await pulled(world, { since: rest.position ?? first.position })).names, []);
  },

  'a position of another definition counts as none': async (world) => {
    await world.add(1);
    const { position } = await pulled(world);
    const since = { ...position, of: 'another' };
    assert.deepEqual((await pulled(world, { since })).batches, [1]);
  },

  'a sample is small and oldest': async (world) => {
    for (const batch of [1, 2, 3]) await world.add(batch);
    const { batches, names } = await pulled(world, { order: { sample: true } });
    assert.equal(names.length, 1);
    assert.equal(batches[0], 1);
  },

  'a file over the limit is refused for good': async (world) => {
    await world.add(1, 100_000);
    const sent = pulled(world, { landing: { bytesMax: 50_000 } });
    await assert.rejects(sent, failing(/at most 50000 bytes|more than 50000 bytes/, false));
  },

  'the caller may cancel it': async (world) => {
    await world.add(1, 3_000_000);
    const stop = new AbortController();
    const reason = new Error('cancelled');
    const onBytes = (): void => {
      stop.abort(reason);
    };
    const sent = pulled(world, { landing: { signal: stop.signal, onBytes } });
    await assert.rejects(sent, (error) => error === reason);
    await assert.rejects(
      pulled(world, { landing: { signal: AbortSignal.abort(reason) } }),
      (error) => error === reason,
    );
  },

  'large batches pass through little memory, and are counted': async (world, kind) => {
    const { largeBytes = 50_000_000 } = kind;
    await world.add(1, largeBytes);
    let [peak, counted, calls] = [0, 0, 0];
    const before = process.memoryUsage().rss;
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-landing-'));
    const onBytes = (bytes: number): void => {
      assert.ok(bytes >= counted);
      counted = bytes;
      calls += 1;
      if (calls % 20 === 0) peak = Math.max(peak, process.memoryUsage().rss - before);
    };
    const { signal } = new AbortController();
    const landing: Landing = { folder, bytesMax: 1024 ** 3, signal, nowMs: 0, onBytes };
    const order: PullOrder = { ...world.order, since: undefined, landing, owner: OWNER };
    try {
      for await (const piece of world.pull(order)) assert.equal(piece.bytes, counted);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    assert.ok(counted >= largeBytes);
    assert.ok(peak < MEMORY_BYTES_MAX, `${Math.round(peak / 1e6)} MB`);
  },
};

/** Faults of a server behind a wire. */
const FAULTS: Readonly<Record<string, Case>> = {
  'a disconnect in the middle is worth another try': async (world, { untilRecords }) => {
    await world.add(1, 3_000_000);
    world.wire?.breakAfter(untilRecords + 1_000_000, 'close');
    await assert.rejects(pulled(world), failing(/clos|cut|terminat|gone|end/i, true));
    world.wire?.breakAfter(0, 'close');
    await assert.rejects(pulled(world), failing(/./, true));
    world.wire?.mend();
    assert.deepEqual((await pulled(world)).batches, [1]);
  },

  'a pull from a silent server ends at the deadline': async (world, { untilRecords }) => {
    await world.add(1, 3_000_000);
    for (const bytes of [untilRecords + 1_000_000, 0]) {
      world.wire?.breakAfter(bytes, 'stall');
      const sent = pulled(world, { pull: world.impatient });
      await assert.rejects(sent, failing(/longer than|in time|does not answer|stopped/, true));
    }
  },
};

export function runContract(kind: Kind): void {
  const faults = kind.untilRecords === 0 ? [] : Object.entries(FAULTS);
  describe(`${kind.name} keeps the contract`, () => {
    for (const [name, check] of [...Object.entries(CASES), ...faults]) {
      test(name, async () => {
        await using world = await kind.start();
        await check(world, kind);
      });
    }
    describe('a refusal names its reason', async () => {
      const world = await kind.start();
      beforeAll(() => world.add(1));
      afterAll(() => world[Symbol.asyncDispose]());
      for (const [name, { order, why }] of Object.entries(world.refused)) {
        test(name, () => assert.rejects(pulled(world, { order }), failing(why, false)));
      }
    });
  });
}
