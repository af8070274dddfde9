// What the program keeps as datasets of its own: readable by every account, each its own lines.
import type { DatasetDraft } from './datasetEdits.ts';
import { UNSAID } from './datasets.ts';

export const SYSTEM_WORKSPACE = '_SYSTEM';

const text = { type: 'string' } as const;
const whole = { type: 'integer' } as const;

/** The journal of charged calls, by account, request and time (journal.ts `CallLine`). */
export const CALLS: DatasetDraft = {
  workspace: SYSTEM_WORKSPACE,
  dataset: 'CALLS',
  ...UNSAID,
  title: 'Charged calls',
  weight: 0,
  schema: {
    type: 'object',
    properties: {
      accountId: text,
      requestId: text,
      time: { type: 'string', format: 'date-time' },
      month: text,
      tokenId: text,
      endpoint: text,
      usageKey: text,
      objects: whole,
      weight: whole,
      messages: whole,
      premium: whole,
    },
    required: ['accountId', 'requestId', 'time'],
  },
  mapping: { key: 'accountId', subkey: 'requestId', date: 'time' },
};
