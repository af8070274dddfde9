// Attribution and disclaimers that must be shown beside the data (SPEC.md "What the service does").
import { Type } from '../../../reads/request/schema.ts';
import { readableDatasets } from '../../../reads/rights/access.ts';
import type { Endpoint } from '../../request/endpoint.ts';

/** Texts that must be shown beside values of these names, wherever they are displayed. */
const DISCLAIMERS = [
  { fields: ['delayedPrice', 'delayedPriceTime'], text: '15 minute delayed price' },
  { fields: ['latestVolume'], text: 'Consolidated Volume in Real-time' },
] as const;

const RULE =
  'Credit the source beside the data and link to it; where there is no room, in your terms of service.';

export const getAttribution: Endpoint = {
  id: 'getAttribution',
  method: 'GET',
  path: '/attribution',
  token: 'publishable',
  always: true,
  inTest: true,
  summary: 'The sources of the readable datasets, and the disclaimers that must be shown.',
  weight: 'free',
  parameters: [],
  answer: Type.Object({
    rule: Type.String(),
    attribution: Type.String(),
    disclaimers: Type.Array(
      Type.Object({ fields: Type.Array(Type.String()), text: Type.String() }),
    ),
    datasets: Type.Array(
      Type.Object({
        workspace: Type.String(),
        datasetId: Type.String(),
        source: Type.String(),
        license: Type.String(),
      }),
    ),
  }),
  failures: 'data',
  handle: async (call, { lake, settings }) => {
    const { attribution } = settings;
    const datasets = readableDatasets(call.caller, lake).map((item) => ({
      workspace: item.workspace,
      datasetId: item.dataset,
      source: item.source === '' ? attribution : item.source,
      license: item.license,
    }));
    const value = { rule: RULE, attribution, disclaimers: DISCLAIMERS, datasets };
    return { kind: 'json', value, metering: 'free' };
  },
};
