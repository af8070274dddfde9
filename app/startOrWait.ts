// Starts the automatic work of a server: immediately when it listens, or when a sleeping folder is woken.
import type { Core } from './core.ts';
import { isAsleep, WAITING_WORK } from '../store/catalog/restoreGuard.ts';
import { reasonOf } from '../store/base/failure.ts';

/** Interval at which a sleeping folder is checked. */
const LOOK_MS = 1_000;

export const ASLEEP_WARNING = `the folder was restored from a backup and is asleep: ${WAITING_WORK}`;

type Starting = Pick<Core, 'exchange' | 'log' | 'services'>;

/** Starts the work, or waits; the returned function ends the wait. */
export async function startOrWait(core: Starting, watches: boolean): Promise<() => void> {
  const { log } = core;
  const { folder, rules } = core.services;
  await rules.load();
  if (!isAsleep(folder.root)) {
    await begin(core, watches);
    return () => undefined;
  }
  const timer = setInterval(() => {
    if (isAsleep(folder.root)) return;
    clearInterval(timer);
    begin(core, watches).catch((error: unknown) =>
      log.error({ reason: reasonOf(error) }, 'the folder was woken, and its work could not start'),
    );
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

async function begin({ exchange, services }: Starting, watches: boolean): Promise<void> {
  await services.rules.start();
  // Only a server runs due work: a command on the folder must not.
  if (watches) {
    services.scheduler.start();
    services.deliveries.start();
    services.alertDeliveries.start();
    exchange?.start();
    await services.upstreams.start();
  }
  await services.exports.resume();
}
