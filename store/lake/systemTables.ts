// Defines the program's own datasets: readable by every account, each its own lines.
import type { DatasetDraft } from './datasetEdits.ts';
import { DATASET_DEFAULTS } from './datasets/datasets.ts';

export const SYSTEM_WORKSPACE = '_SYSTEM';

const text = { type: 'string' } as const;
const whole = { type: 'integer' } as const;

/**
 * The log of every workspace, by account, line and time. Its lines are catalog rows, not files: a purge
 * removes them with the records that they may quote.
 */
export const LOGS: DatasetDraft = {
  workspace: SYSTEM_WORKSPACE,
  dataset: 'LOGS',
  ...DATASET_DEFAULTS,
  title: 'What jobs logged',
  weight: 0,
  schema: {
    type: 'object',
    properties: {
      accountId: text,
      lineId: text,
      time: { type: 'string', format: 'date-time' },
      workspace: text,
      severity: text,
      level: whole,
      jobId: text,
      message: text,
    },
    required: ['accountId', 'lineId', 'time'],
  },
  mapping: { key: 'accountId', subkey: 'lineId', date: 'time' },
};

/** The journal of charged calls, by account, request and time (journal.ts `CallLine`). */
export const CALLS: DatasetDraft = {
  workspace: SYSTEM_WORKSPACE,
  dataset: 'CALLS',
  ...DATASET_DEFAULTS,
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
