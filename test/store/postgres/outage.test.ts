// PostgreSQL stops and starts again: the serving node goes on, and its deliveries are charged.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { hasServers, isLeftOut } from '../../base/servers/hasServers.ts';
import { fetchText, headers } from '../../soak/crash/rounds/killable.ts';
import { ready, startNodes } from '../../soak/crash/nodes/nodes.ts';
import { seeded } from '../../soak/crash/rounds/seeded.ts';

const READERS = 4;
/** Up to more than the time that a statement waits for PostgreSQL. */
const AWAY_MS = [
  [0, 500],
  [500, 3_000],
  [10_500, 12_500],
] as const;

test.skipIf(isLeftOut(await hasServers('postgres', 'swift')))(
  'a restart of PostgreSQL ends no healthy node, and no charge is lost',
  async (context) => {
    for (const seed of seedsOf(context)) {
      const random = seeded(seed);
      await using here = await startNodes(2);
      const { living, postgres } = here;
      const [first, second] = living;
      assert.ok(first && second);
      const record = '[{"symbol":"A","day":"2024-01-01","v":1}]';
      await fetchText(first.base, 'POST', '/record/WS/K', record);
      let [isOver, deliveredCount, refused] = [false, 0, 0];
      const reading = async (base: string): Promise<void> => {
        while (!isOver) {
          const answer = await fetch(`${base}/v1/data/WS/K/A`, { headers });
          await answer.arrayBuffer();
          if (answer.status === 200)
            deliveredCount += Number(answer.headers.get('svccloud-messages-used'));
          else refused += 1;
          await sleep(5);
        }
      };
      const readers = Array.from({ length: READERS }, (_, at) =>
        reading((at % 2 === 0 ? first : second).base),
      );
      for (const [least, most] of AWAY_MS) {
        await sleep(random.between(100, 500));
        const { up } = await postgres.down();
        await sleep(random.between(least, most));
        await up();
        while (!/^ready(,|$)/m.test(await ready(first))) await sleep(50);
        // As long as another one may wait for a free place.
        await sleep(3_500);
        assert.equal(first.serving.child.exitCode, null, first.serving.output.stderr);
        assert.match(await ready(second), / serves$/m);
      }
      isOver = true;
      await Promise.all(readers);
      const usage = JSON.parse(await fetchText(second.base, 'GET', '/account/usage')) as {
        readonly messages: { readonly keyUsage: Readonly<Record<string, number>> };
      };
      note(context, `seed ${seed}: ${deliveredCount} messages delivered, ${refused} reads refused`);
      assert.equal(usage.messages.keyUsage['WS.K'], deliveredCount);
    }
  },
  180_000,
);
