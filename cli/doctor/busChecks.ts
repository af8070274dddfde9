// Whether NATS is there for what streams tell, where a setting names it.
import type { BusSettings } from '../../store/base/settings/busSettings.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { askNats } from '../../store/bus/nats/natsLog.ts';
import { fault, fine, type Finding } from './finding.ts';

export async function busFinding(settings: BusSettings): Promise<Finding> {
  const place = settings.servers.join(', ');
  try {
    const { version } = await askNats(settings);
    return fine('bus', `NATS ${version} at ${place} answers, with JetStream`);
  } catch (error) {
    const what = `NATS at ${place}: ${reasonOf(error)}`;
    const advice =
      'See TAPEDECK_BUS, and whether it was started with `-js`. Streams go on without it; readers that ' +
      'come back to another node are told that something may be missing.';
    return fault('bus', what, advice);
  }
}
