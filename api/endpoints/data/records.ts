// Writes single records with `POST /record` (formerly `/write`).
import { Type } from '../../../reads/request/schema.ts';
import {
  CONFIRM_ADJUSTMENT,
  DATE_ORDER,
  DUPLICATE_PARAMETERS,
} from '../../datasets/ingest/loadParameters.ts';
import { REJECTS, SOME_LOAD_COUNTS } from '../../datasets/ingest/loadAnswer.ts';
import { writeRecords } from '../../datasets/ingest/recordWriting.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import type { Parameter } from '../../../reads/request/parameters.ts';
import { ACCEPTED_HELP } from '../../../reads/series/queryParameters.ts';

const flag = (name: string, help: string): Parameter => ({ kind: 'boolean', name, help });

const COUNT_OR_NULL = Type.Union([Type.Integer(), Type.Null()]);

const WRITE_ANSWER = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  ...SOME_LOAD_COUNTS,
  // Null for pushes on a unique index where it is known at their flush, within seconds.
  stored: Type.Optional(COUNT_OR_NULL),
  replaced: Type.Optional(COUNT_OR_NULL),
  duplicates: Type.Optional(COUNT_OR_NULL),
  rejects: Type.Optional(REJECTS),
  notes: Type.Optional(Type.Array(Type.String())),
});

export const writeRecord: Endpoint = {
  id: 'writeRecord',
  method: 'POST',
  path: '/record/:workspace/:id',
  aliases: ['/write/:workspace/:id'],
  deprecated: { '/write/:workspace/:id': '2023-01-01' },
  token: 'granted',
  once: true,
  summary: 'Writes one JSON record or an array of them; creates a missing dataset.',
  weight: 'free',
  parameters: [
    ...DUPLICATE_PARAMETERS,
    DATE_ORDER,
    CONFIRM_ADJUSTMENT,
    flag('createDatasetOnDemand', 'false: a missing dataset is 404; true by default.'),
    flag('wait', 'Accepted; the answer always waits until the records are stored.'),
    flag('event', ACCEPTED_HELP),
    flag('persist', ACCEPTED_HELP),
    flag('updateState', ACCEPTED_HELP),
  ],
  body: { kind: 'file', json: true },
  answer: WRITE_ANSWER,
  failures: 'workspace',
  handle: writeRecords,
};
