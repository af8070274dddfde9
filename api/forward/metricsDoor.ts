// A port with only /metrics and /healthz, on this machine unless the setting has an address. It does not
// expose the API.
import type { IncomingMessage, Server } from 'node:http';
import type { Settings } from '../../store/base/settings/settings.ts';
import { type FrontDoor, openFrontDoor, type OwnAnswer } from './frontDoor.ts';

interface MetricsDoor {
  readonly settings: Pick<Settings, 'metricsPlace'>;
  readonly https: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly metrics: (incoming: IncomingMessage) => Promise<OwnAnswer>;
  /** A server that listens on the port already and hands it over. */
  readonly former?: Server | undefined;
}

/** Undefined without the setting: then the other ports serve /metrics. */
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
