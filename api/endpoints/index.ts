// The one table of endpoints (DESIGN.md idea 8).
import type { Endpoint } from '../endpoint.ts';
import { getUsage } from './account.ts';
import {
  changeDataset,
  createDataset,
  deleteDataset,
  getDataset,
  listDatasets,
  renameDataset,
} from './datasets.ts';
import { cancelJob, getInvalidRecords, getJob, listJobsOf } from './jobs.ts';
import { createIndex, deleteIndex, getIndex, getMeta, listData } from './lists.ts';
import { loadData } from './load.ts';
import { queryData, timeSeries, timeSeriesInventory } from './read.ts';
import { deleteRecords, writeRecord } from './records.ts';
import { generateSchema } from './schema.ts';
import { openApiDocument, status } from './status.ts';
import { createWorkspace, getLogs, listWorkspaces } from './workspaces.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  status,
  openApiDocument(() => ENDPOINTS),
  timeSeriesInventory,
  timeSeries,
  listData,
  queryData,
  loadData,
  writeRecord,
  deleteRecords,
  listDatasets,
  createDataset,
  getDataset,
  changeDataset,
  deleteDataset,
  renameDataset,
  generateSchema,
  listJobsOf,
  getJob,
  getInvalidRecords,
  cancelJob,
  getLogs,
  getMeta,
  getIndex,
  createIndex,
  deleteIndex,
  listWorkspaces,
  createWorkspace,
  getUsage,
];
