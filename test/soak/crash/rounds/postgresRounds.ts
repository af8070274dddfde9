// The catalog in PostgreSQL, behind a proxied connection: writers push rising versions of their own record
// while the server is killed at a named point, PostgreSQL ends as in a power loss, or the connection breaks,
// also during a commit. Acknowledged data is stored afterwards, once.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Postgres, startPostgres } from '../../../base/servers/postgres.ts';
import { startWire, type Wire } from '../../../base/servers/wire.ts';
import { COMMIT_POINTS, Victim } from '../victim/victimProcess.ts';
import { faultsOf, loadRow, newTracks, pushing, type Track } from './pushRounds.ts';
import { type Order, type Report, type Seeded, seeded } from './seeded.ts';

const WRITERS = 4;
const POINTS = ['pushes-written', 'pushes-committed', ...COMMIT_POINTS] as const;
const QUIET_MS = 20_000;

interface Scene {
  readonly folder: string;
  readonly postgres: Postgres;
  readonly wire: Wire;
  readonly tracks: readonly Track[];
  readonly random: Seeded;
  victim: Victim;
}

/** Faults by name; a server that is not killed recovers automatically. */
const ENDS = {
  'the server is killed': async ({ random, victim }: Scene) => {
    await victim.arm({ point: random.pick(POINTS), passes: random.between(0, 6) });
    await Promise.race([victim.exited(), sleep(4_000, undefined, { ref: false })]);
    victim.kill(false);
  },
  'PostgreSQL loses its power': async ({ postgres, random }: Scene) => {
    await sleep(random.between(50, 600));
    const { up } = await postgres.down();
    await sleep(random.between(0, 800));
    await up();
  },
  'the wire is cut': async ({ random, wire }: Scene) => {
    for (let cuts = random.between(1, 4); cuts > 0; cuts -= 1) {
      await sleep(random.between(20, 300));
      wire.breakAfter(0, 'close');
      await sleep(random.between(1, 400));
      wire.mend();
    }
  },
};

const NAMES = [
  'the server is killed',
  'PostgreSQL loses its power',
  'the wire is cut',
] as const satisfies readonly (keyof typeof ENDS)[];

/** Plays `count` faults on one folder and its schema. */
export async function postgresRounds({ count, seed, log }: Order): Promise<Report> {
  const random = seeded(seed);
  const failures: string[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-postgres-rounds-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const postgres = await startPostgres();
  assert.ok(postgres, 'PostgreSQL is not on this machine');
  stack.use(postgres);
  const wire = stack.use(await startWire(postgres.port));
  const catalogs = postgres.url(wire.port);
  const start = (): Promise<Victim> => Victim.start(folder, undefined, catalogs);
  const tracks = newTracks(WRITERS);
  const scene = { folder, postgres, wire, tracks, random, victim: await start() };
  stack.defer(() => scene.victim[Symbol.asyncDispose]());
  await loadRow(scene.victim.door, 'first', 0);
  let pushes = 0;
  for (let round = 0; round < count; round += 1) {
    const name = random.pick(NAMES);
    pushes += await traffic(scene, ENDS[name]);
    if (scene.victim.isGone) {
      if (name !== 'the server is killed')
        failures.push(`seed ${seed}, round ${round}, ${name}: it ended`);
      await scene.victim[Symbol.asyncDispose]();
      scene.victim = await start();
    }
    const where = `seed ${seed}, round ${round}, ${name}`;
    for (const what of await settledFaults(scene)) failures.push(`${where}: ${what}`);
  }
  for (const what of await scene.victim.close()) failures.push(`seed ${seed}: ${what}`);
  log(`seed ${seed}: ${count} ends, ${pushes} pushes acknowledged`);
  return { seed, count, failures, notes: [`${pushes} pushes acknowledged`] };
}

/** Runs writers during the fault, and a while longer; returns how many pushes were acknowledged. */
async function traffic(scene: Scene, end: (scene: Scene) => Promise<void>): Promise<number> {
  const { random, tracks, victim } = scene;
  const over = new AbortController();
  const loader = async (): Promise<number> => {
    for (let at = 0; !victim.isGone && !over.signal.aborted; at += 1) {
      await loadRow(victim.door, 'loaded', at).catch(() => undefined);
      await sleep(random.between(5, 60));
    }
    return 0;
  };
  const clients = [...tracks.map((track) => pushing(victim, track, over.signal)), loader()];
  await end(scene);
  if (!victim.isGone) await sleep(random.between(100, 400));
  over.abort();
  return (await Promise.all(clients)).reduce((sum, one) => sum + one, 0);
}

/** After an outage of PostgreSQL the server refuses requests for a moment: retries until it answers. */
async function settledFaults({ tracks, victim }: Scene): Promise<readonly string[]> {
  const untilMs = performance.now() + QUIET_MS;
  for (;;) {
    const faults = await faultsOf(victim.door, tracks);
    if (!faults.some((fault) => fault.startsWith('answered 503'))) return faults;
    if (performance.now() > untilMs) return faults;
    await sleep(200);
  }
}
