// The one table of endpoints (DESIGN.md idea 8).
import type { Endpoint } from '../endpoint.ts';
import { getUsage } from './account.ts';
import { createDataset } from './datasets.ts';
import { getJob } from './jobs.ts';
import { loadData } from './load.ts';
import { queryData, timeSeries, timeSeriesInventory } from './read.ts';
import { openApiDocument, status } from './status.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  status,
  openApiDocument(() => ENDPOINTS),
  timeSeriesInventory,
  timeSeries,
  queryData,
  loadData,
  createDataset,
  getJob,
  getUsage,
];
