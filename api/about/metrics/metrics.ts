// What an operator watches, for Prometheus. Gauges are read when they are asked for.
import { Registry } from 'prom-client';
import type { Services } from '../../request/endpoint.ts';
import { addFailing, addGauges, addStreamGauges } from './gauges.ts';
import { addJobMetrics, addQuarantineGauge } from './jobMetrics.ts';
import { addPlaceGauges, addScheduleGauges, addUpstreamGauges } from './placeMetrics.ts';
import { processMetrics } from './processMetrics.ts';
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
  /** The exposition text; what names datasets of accounts only for the operator. */
  text(isOperator: boolean): Promise<string>;
  readonly contentType: string;
}

export function makeMetrics(services: MetricsServices): Metrics {
  const registry = new Registry();
  const ofProcess = processMetrics();
  const registers = [registry];
  const times = makeRequestTimes();
  addGauges(services, registers);
  addStreamGauges(services.streams, registers);
  const named = new Registry();
  addScheduleGauges(services.scheduler, [named]);
  addFailing(services, registers);
  addJobMetrics(services.jobEnds, registers);
  addQuarantineGauge(services, [named]);
  addPlaceGauges(services, [named]);
  addUpstreamGauges(services.upstreams, [named]);
  return {
    observe: times.observe,
    text: async (isOperator) => {
      const names = isOperator ? `${await named.metrics()}\n` : '';
      const told = `${await ofProcess.metrics()}\n${await registry.metrics()}`;
      return `${told}\n${names}${times.text()}`;
    },
    contentType: registry.contentType,
  };
}
