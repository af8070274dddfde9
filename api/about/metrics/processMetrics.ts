// What a process tells of itself, once for all servers that it has: a watch of the event loop and of
// collections ends with the process only, and each collection would be told to every one of them.
import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
