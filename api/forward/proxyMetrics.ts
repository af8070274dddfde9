// Metrics of a node that forwards requests.
import { Counter, Gauge, Registry } from 'prom-client';
import { getProcessRegistry } from '../introspection/metrics/processMetrics.ts';
import { makeRequestTimes, type Observe } from '../introspection/metrics/requestTimes.ts';
import type { ForwardOutcome } from './forward.ts';

export interface ProxyMetrics {
  readonly recordOutcome: (outcome: ForwardOutcome) => void;
  /** Records a read that this node answered itself. */
  readonly observe: Observe;
  readonly contentType: string;
  /** @param serving the name of the serving node */
  readonly text: (serving: string | undefined) => Promise<string>;
}

export function makeProxyMetrics(): ProxyMetrics {
  const registry = new Registry();
  const registers = [registry];
  const hops = new Counter({
    registers,
    name: 'tapedeck_hops_total',
    labelNames: ['outcome'],
    help: 'Requests forwarded to the serving node, by outcome',
  });
  const times = makeRequestTimes();
  const serves = new Gauge({
    registers,
    name: 'tapedeck_serving_node',
    labelNames: ['node'],
    help: 'The node that serves, as this one knows it',
  });
  return {
    recordOutcome: (outcome) => hops.inc({ outcome }),
    observe: times.observe,
    contentType: registry.contentType,
    text: async (serving) => {
      serves.reset();
      if (serving !== undefined) serves.set({ node: serving }, 1);
      const own = [getProcessRegistry().metrics(), registry.metrics()];
      return [...(await Promise.all(own)), times.text()].join('\n');
    },
  };
}
