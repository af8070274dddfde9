// PostgreSQL goes and comes back: the node that serves goes on, and what it delivered is charged.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { hasServers, isLeftOut } from '../../base/servers/hasServers.ts';
import { asked, headers } from '../../soak/crash/rounds/killable.ts';
import { ready, startNodes } from '../../soak/crash/nodes/nodes.ts';
import { seeded } from '../../soak/crash/rounds/seeded.ts';

const READERS = 4;
/** Also longer than a statement waits for PostgreSQL. */
const AWAY_MS = [
  [0, 500],
  [500, 3_000],
  [10_500, 12_500],
] as const;

test.skipIf(isLeftOut(await hasServers('postgres', 'swift')))(
  'a restart of PostgreSQL ends no node that is well, and no charge is lost',
  async (context) => {
    for (const seed of seedsOf(context)) {
      const random = seeded(seed);
      await using here = await startNodes(2);
      const { living, postgres } = here;
      const [first, second] = living;
      assert.ok(first && second);
      const record = '[{"symbol":"A","day":"2024-01-01","v":1}]';
      await asked(first.base, 'POST', '/record/WS/K', record);
      let [isOver, told, refused] = [false, 0, 0];
      const reading = async (base: string): Promise<void> => {
        while (!isOver) {
          const answer = await fetch(`${base}/v1/data/WS/K/A`, { headers });
          await answer.arrayBuffer();
          if (answer.status === 200) told += Number(answer.headers.get('svccloud-messages-used'));
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
        assert.equal(first.serving.child.exitCode, null, first.serving.told.stderr);
        assert.match(await ready(second), / serves$/m);
      }
      isOver = true;
      await Promise.all(readers);
      const usage = JSON.parse(await asked(second.base, 'GET', '/account/usage')) as {
        readonly messages: { readonly keyUsage: Readonly<Record<string, number>> };
      };
      note(context, `seed ${seed}: ${told} messages delivered, ${refused} reads refused`);
      assert.equal(usage.messages.keyUsage['WS.K'], told);
    }
  },
  180_000,
);
