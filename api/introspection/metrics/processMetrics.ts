// Default metrics of the process, one registry for all its servers. The observers of the event loop and of
// garbage collections last as long as the process, and each collection would notify every one of them.
import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

export function getProcessRegistry(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
