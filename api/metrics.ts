// What an operator watches, for Prometheus. Gauges are read when they are asked for.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Services } from './endpoint.ts';

export type Observe = (route: string, status: number, ms: number) => void;

export interface Metrics {
  readonly observe: Observe;
  /** The exposition text. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Upper bounds in seconds: hot reads below 1 ms, cold ones below 10, loads up to minutes. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

export function makeMetrics(services: Services): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Counter({
    name: 'tapedeck_requests_total',
    help: 'Answered requests.',
    labelNames: ['route', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'tapedeck_request_seconds',
    help: 'Time to the end of the answer.',
    labelNames: ['route'],
    buckets: BUCKETS,
    registers,
  });
  addGauges(services, registers);
  return {
    observe: (route, status, ms) => {
      requests.inc({ route, status });
      seconds.observe({ route }, ms / 1000);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function addGauges(
  { lake, ledger, runner, series, ingestion }: Services,
  registers: Registry[],
): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({
      name: `tapedeck_${name}`,
      help,
      registers,
      collect: (): void => made.set(read()),
    });
  };
  const pools = { read: series.pool, ingest: ingestion.pool };
  for (const [kind, pool] of Object.entries(pools)) {
    gauge(`${kind}_children_running`, 'Children with a request.', () => pool.load().running);
    gauge(`${kind}_children_waiting`, 'Requests before the children.', () => pool.load().waiting);
    gauge(`${kind}_children_lost`, 'Children that ended.', () => pool.load().lost);
  }
  gauge('jobs_running', 'Jobs and edits that run.', () => runner.load().running);
  gauge('jobs_waiting', 'Jobs and edits that wait.', () => runner.load().waiting);
  gauge('ledger_charges_waiting', 'Charges that wait to be written.', () => ledger.waiting);
  gauge('lake_snapshot', 'Newest snapshot.', () => lake.snapshot);
}
