// What a server does by itself begins when it listens: at once, or when the folder that sleeps is woken.
import type { Core } from './core.ts';
import { isAsleep } from '../store/catalog/asleep.ts';
import { reasonOf } from '../store/base/failure.ts';

/** How often a folder that sleeps is looked at. */
const LOOK_MS = 1_000;

export const ASLEEP_WARNING =
  'the folder was restored from a backup and is asleep: schedules, webhooks, alerts and exports wait ' +
  'until `tapedeck wake`';

type Starting = Pick<Core, 'exchange' | 'log' | 'services'>;

/** Begins, or waits; what ends the wait. */
export async function beginOrWait(core: Starting, watches: boolean): Promise<() => void> {
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
      log.error({ reason: reasonOf(error) }, 'the folder was woken, and could not begin'),
    );
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

async function begin({ exchange, services }: Starting, watches: boolean): Promise<void> {
  await services.rules.start();
  // Only a server does what is due: a command on the folder must not.
  if (watches) {
    services.scheduler.start();
    services.deliveries.start();
    services.alertDeliveries.start();
    exchange?.start();
    await services.upstreams.start();
  }
  await services.exports.resume();
}
