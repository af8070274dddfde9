// The one table of endpoints (DESIGN.md idea 8).
import type { Endpoint } from '../endpoint.ts';
import {
  getMetadata,
  getUsage,
  removeMessageBudget,
  setMessageBudget,
  setPayAsYouGo,
} from './account.ts';
import {
  backUp,
  changeAccount,
  changeAccountToken,
  createAccount,
  createAccountToken,
  getAccount,
  getAccountUsage,
  getAudit,
  heal,
  listAccounts,
  rotateAccountToken,
  verify,
  verifyFiles,
} from './admin.ts';
import { getAttribution } from './attribution.ts';
import { getCalls } from './calls.ts';
import {
  changeDataset,
  createDataset,
  deleteDataset,
  getDataset,
  listDatasets,
  renameDataset,
} from './datasets.ts';
import {
  changeCredential,
  createCredential,
  deleteCredential,
  getCredential,
  listCredentialsOf,
} from './credentials.ts';
import { configureAwsS3 } from './onboarding.ts';
import { deleteRecords } from './deletion.ts';
import { cancelExport, createExport, getExport, listExportsOf, resumeExport } from './exports.ts';
import { changeHistory, createHistory, deleteHistory, getHistory, listHistory } from './history.ts';
import { cancelJob, createJob, getInvalidRecords, getJob, listJobsOf, retryJob } from './jobs.ts';
import { createIndex, deleteIndex, getIndex, getMeta, listData } from './lists.ts';
import { loadData } from './load.ts';
import { discardQuarantine, listQuarantine, releaseQuarantine } from './quarantine.ts';
import { queryData, timeSeries, timeSeriesInventory } from './read.ts';
import { writeRecord } from './records.ts';
import { generateSchema, sampleSource, schemaOfSource } from './samples.ts';
import { openApiDocument, status } from './status.ts';
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  runSchedule,
} from './schedules.ts';
import { getSignedToken, signToken } from './signing.ts';
import { changeSource, createSource, deleteSource, getSource, listSourcesOf } from './sources.ts';
import { postSqlQuery, sqlQuery } from './sql.ts';
import { stock, stockBatch } from './stock.ts';
import { changeToken, createToken, disableToken, listTokens, rotateToken } from './tokens.ts';
import { listChanges, listVersions } from './versions.ts';
import {
  callPublished,
  deletePublished,
  listPublished,
  publishQuery,
  workspaceOpenApi,
} from './published.ts';
import { deleteView, getView, listViews, saveView } from './views.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooksOf,
} from './webhooks.ts';
import { changeWorkspace, createWorkspace, getLogs, listWorkspaces } from './workspaces.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  status,
  openApiDocument(() => ENDPOINTS),
  timeSeriesInventory,
  timeSeries,
  listData,
  queryData,
  stockBatch,
  stock,
  sqlQuery,
  postSqlQuery,
  listViews,
  saveView,
  getView,
  deleteView,
  listPublished,
  publishQuery,
  callPublished,
  deletePublished,
  workspaceOpenApi,
  loadData,
  writeRecord,
  deleteRecords,
  listQuarantine,
  releaseQuarantine,
  discardQuarantine,
  listDatasets,
  createDataset,
  getDataset,
  changeDataset,
  deleteDataset,
  renameDataset,
  listVersions,
  listChanges,
  generateSchema,
  schemaOfSource,
  sampleSource,
  listCredentialsOf,
  createCredential,
  getCredential,
  changeCredential,
  deleteCredential,
  configureAwsS3,
  listSourcesOf,
  createSource,
  getSource,
  changeSource,
  deleteSource,
  listSchedules,
  createSchedule,
  getSchedule,
  changeSchedule,
  deleteSchedule,
  runSchedule,
  listHistory,
  createHistory,
  getHistory,
  changeHistory,
  deleteHistory,
  listWebhooksOf,
  createWebhook,
  getWebhook,
  changeWebhook,
  deleteWebhook,
  listExportsOf,
  createExport,
  getExport,
  resumeExport,
  cancelExport,
  listJobsOf,
  createJob,
  retryJob,
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
  changeWorkspace,
  getUsage,
  getCalls,
  getMetadata,
  setMessageBudget,
  removeMessageBudget,
  setPayAsYouGo,
  signToken,
  getSignedToken,
  listTokens,
  createToken,
  changeToken,
  rotateToken,
  disableToken,
  getAttribution,
  listAccounts,
  createAccount,
  getAccount,
  changeAccount,
  getAccountUsage,
  createAccountToken,
  changeAccountToken,
  rotateAccountToken,
  getAudit,
  verify,
  verifyFiles,
  heal,
  backUp,
];
