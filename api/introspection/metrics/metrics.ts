// The metrics page for Prometheus. Gauges are read at each scrape.
import { Registry } from 'prom-client';
import type { Services } from '../../request/endpoint.ts';
import { addFailureGauges, addGauges, addStreamGauges } from './gauges.ts';
import { addJobMetrics, addQuarantineGauge } from './jobMetrics.ts';
import { addAccountGauges, addScheduleGauges, addUpstreamGauges } from './accountMetrics.ts';
import { getProcessRegistry } from './processMetrics.ts';
import { makeRequestTimes, type Observe } from './requestTimes.ts';

export type MetricsServices = Pick<
  Services,
  | 'accounts'
  | 'clock'
  | 'database'
  | 'fileCheck'
  | 'ingestion'
  | 'loadGiver'
  | 'jobEnds'
  | 'lake'
  | 'lakeClock'
  | 'ledger'
  | 'fileCache'
  | 'proofs'
  | 'runner'
  | 'scheduler'
  | 'series'
  | 'sql'
  | 'storage'
  | 'streams'
  | 'upstreams'
>;

export interface Metrics {
  readonly observe: Observe;
  /** The exposition text; metrics labeled by account or dataset only for the operator. */
  text(isOperator: boolean): Promise<string>;
  readonly contentType: string;
}

export function makeMetrics(services: MetricsServices): Metrics {
  const registry = new Registry();
  const processRegistry = getProcessRegistry();
  const registers = [registry];
  const times = makeRequestTimes();
  addGauges(services, registers);
  addStreamGauges(services.streams, registers);
  const labeledRegistry = new Registry();
  addScheduleGauges(services.scheduler, [labeledRegistry]);
  addFailureGauges(services, registers);
  addJobMetrics(services.jobEnds, registers);
  addQuarantineGauge(services, [labeledRegistry]);
  addAccountGauges(services, [labeledRegistry]);
  addUpstreamGauges(services.upstreams, [labeledRegistry]);
  return {
    observe: times.observe,
    text: async (isOperator) => {
      const names = isOperator ? `${await labeledRegistry.metrics()}\n` : '';
      const metricsText = `${await processRegistry.metrics()}\n${await registry.metrics()}`;
      return `${metricsText}\n${names}${times.text()}`;
    },
    contentType: registry.contentType,
  };
}
