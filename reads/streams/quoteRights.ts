// The rights of a stream of quotes.
import type { QuoteRights } from '../../market/live/liveQuotes.ts';
import { planNeeds, type ReadableInputs, runReadPlan } from '../market/inputReads.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { currentMoment } from '../series/moments.ts';
import type { StreamServices } from './streamAccess.ts';

/** Builds rights that belong to the stream and outlive the request that opened it. */
export function buildRights(
  readable: ReadableInputs,
  call: ReadRequest,
  services: StreamServices,
): QuoteRights {
  const lasting = { ...call, query: {}, path: {}, departure: () => new AbortController().signal };
  return {
    tableIds: [...readable.values()].map(({ tableId }) => tableId),
    read: async (needs) => {
      const moment = currentMoment(services);
      const planned = await planNeeds(lasting, services, readable, needs, moment);
      return runReadPlan(planned, services, lasting);
    },
  };
}
