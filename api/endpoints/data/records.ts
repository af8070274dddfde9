// Single records, written by `POST /record` (once `/write`).
import { Type } from '../../request/body/schema.ts';
import { DUPLICATES } from '../../datasets/ingest/loading.ts';
import { writeRecords } from '../../datasets/ingest/recordWriting.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import type { Parameter } from '../../request/parameters.ts';

const switched = (name: string, help: string): Parameter => ({ kind: 'boolean', name, help });

const WRITTEN = Type.Object({ success: Type.Literal(true), message: Type.String() });

export const writeRecord: Endpoint = {
  id: 'writeRecord',
  method: 'POST',
  path: '/record/:workspace/:id',
  aliases: ['/write/:workspace/:id'],
  deprecated: { '/write/:workspace/:id': '2023-01-01' },
  token: 'granted',
  summary: 'Writes one JSON record or an array of them; makes the dataset when there is none.',
  weight: 'free',
  parameters: [
    DUPLICATES,
    switched('createDatasetOnDemand', 'false: a missing dataset is 404; true by default.'),
    switched('wait', 'Accepted; the answer always waits until the records are stored.'),
    switched('event', 'Accepted for clients of the original.'),
    switched('persist', 'Accepted for clients of the original.'),
    switched('updateState', 'Accepted for clients of the original.'),
  ],
  body: { kind: 'file', json: true },
  answer: WRITTEN,
  failures: 'workspace',
  handle: writeRecords,
};
