// Checks whether NATS is available for stream messages, if a setting names it.
import type { BusSettings } from '../../store/base/settings/busSettings.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { readNatsInfo } from '../../store/bus/nats/natsLog.ts';
import { fault, fine, type Finding } from './finding.ts';

export async function busFinding(settings: BusSettings): Promise<Finding> {
  const place = settings.servers.join(', ');
  try {
    const { version } = await readNatsInfo(settings);
    return fine('bus', `NATS ${version} at ${place} answers, with JetStream`);
  } catch (error) {
    const what = `NATS at ${place}: ${reasonOf(error)}`;
    const advice =
      'Check TAPEDECK_BUS, and whether it was started with `-js`. Streams continue without it; readers ' +
      'that reconnect to another node are warned that messages may be missing.';
    return fault('bus', what, advice);
  }
}
