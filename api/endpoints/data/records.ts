// Single records, written by `POST /record` (once `/write`).
import { Type } from '../../request/body/schema.ts';
import {
  CONFIRM_ADJUSTMENT,
  DATE_ORDER,
  DUPLICATE_PARAMETERS,
} from '../../datasets/ingest/loading.ts';
import { REJECTS, SOME_LOAD_COUNTS } from '../../datasets/ingest/loadAnswer.ts';
import { writeRecords } from '../../datasets/ingest/recordWriting.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import type { Parameter } from '../../request/parameters.ts';

const switched = (name: string, help: string): Parameter => ({ kind: 'boolean', name, help });

const COUNT_OR_NULL = Type.Union([Type.Integer(), Type.Null()]);

const WRITTEN = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  ...SOME_LOAD_COUNTS,
  // Of pushes on a unique index: decided when they become a file, within seconds.
  replaced: Type.Optional(COUNT_OR_NULL),
  rejects: Type.Optional(REJECTS),
});

export const writeRecord: Endpoint = {
  id: 'writeRecord',
  method: 'POST',
  path: '/record/:workspace/:id',
  aliases: ['/write/:workspace/:id'],
  deprecated: { '/write/:workspace/:id': '2023-01-01' },
  token: 'granted',
  once: true,
  summary: 'Writes one JSON record or an array of them; makes the dataset when there is none.',
  weight: 'free',
  parameters: [
    ...DUPLICATE_PARAMETERS,
    DATE_ORDER,
    CONFIRM_ADJUSTMENT,
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
