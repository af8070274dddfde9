// A port for monitoring alone: /metrics and /healthz, on this machine unless the setting has an address. A
// network that reaches it reaches nothing of the API.
import type { IncomingMessage, Server } from 'node:http';
import type { Settings } from '../../store/base/settings/settings.ts';
import { type FrontDoor, openFrontDoor, type OwnAnswer } from './frontDoor.ts';

interface MetricsDoor {
  readonly settings: Pick<Settings, 'metricsPlace'>;
  readonly https: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly metrics: (incoming: IncomingMessage) => Promise<OwnAnswer>;
  /** It has the port already, and gives it over. */
  readonly former?: Server | undefined;
}

/** Undefined where the setting names none: then the other ports have /metrics. */
export async function openMetricsDoor({
  former,
  https,
  metrics,
  settings: { metricsPlace },
}: MetricsDoor): Promise<FrontDoor | undefined> {
  if (metricsPlace === undefined) return undefined;
  const type = 'text/plain';
  return openFrontDoor({
    ...metricsPlace,
    https,
    former,
    own: (path, incoming) => {
      if (path === '/healthz')
        return {
          status: 200,
          type,
          text: 'ok\n',
        };
      return path === '/metrics' ? metrics(incoming) : undefined;
    },
    forward: async (_incoming, outgoing) => {
      outgoing.writeHead(404, { 'content-type': type });
      outgoing.end('there are /metrics and /healthz alone\n');
    },
  });
}
