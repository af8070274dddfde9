// A port with only /metrics and /healthz, on this machine unless the setting has an address. It does not
// expose the API.
import type { IncomingMessage, Server } from 'node:http';
import type { Settings } from '../../store/base/settings/settings.ts';
import { type FrontServer, openFrontServer, type LocalAnswer } from './frontServer.ts';

interface MetricsServerOptions {
  readonly settings: Pick<Settings, 'metricsAddress'>;
  readonly https: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly metrics: (incoming: IncomingMessage) => Promise<LocalAnswer>;
  /** A server that listens on the port already and hands it over. */
  readonly former?: Server | undefined;
}

/** Undefined without the setting: then the other ports serve /metrics. */
export async function openMetricsServer({
  former,
  https,
  metrics,
  settings: { metricsAddress },
}: MetricsServerOptions): Promise<FrontServer | undefined> {
  if (metricsAddress === undefined) return undefined;
  const type = 'text/plain';
  return openFrontServer({
    ...metricsAddress,
    https,
    former,
    answerLocally: (path, incoming) => {
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
