// The one table of endpoints (DESIGN.md idea 8).
import type { AnyEndpoint } from '../request/endpoint.ts';
import { withAnswerForms } from './answerForms.ts';
import { withFilling } from '../request/marketFilling.ts';
import {
  getAllowance,
  getMetadata,
  getUsage,
  removeMessageBudget,
  setMessageBudget,
  setPayAsYouGo,
} from './accounts/account.ts';
import {
  backUp,
  changeAccount,
  changeAccountToken,
  createAccount,
  createAccountToken,
  listAccountTokens,
  getAccount,
  getAccountUsage,
  getAudit,
  getOperatorStatus,
  rotateDataKey,
  heal,
  listAccounts,
  rotateAccountToken,
  verify,
  verifyFiles,
} from './accounts/admin.ts';
import { getAttribution } from './accounts/attribution.ts';
import { getCalls } from './accounts/calls.ts';
import {
  changeDataset,
  createDataset,
  deleteDataset,
  getDataset,
  listDatasets,
  renameDataset,
} from './data/datasets.ts';
import {
  changeCredential,
  createCredential,
  deleteCredential,
  getCredential,
  listCredentialsOf,
} from './sources/credentials.ts';
import { configureAwsS3 } from './accounts/onboarding.ts';
import { deleteRecords } from './data/deletion.ts';
import {
  deleteType,
  listOwnFileTypes,
  listPublishedFiles,
  publishFile,
  publishMadeFile,
  saveType,
  withdrawFile,
} from './data/fileTypes.ts';
import { downloadFile, getFileInfo, getFileOnce, listFiles, listRecordings } from './read/files.ts';
import {
  cancelExport,
  createExport,
  getExport,
  listExportsOf,
  resumeExport,
} from './data/exports.ts';
import {
  changeHistory,
  createHistory,
  deleteHistory,
  getHistory,
  listHistory,
} from './data/history.ts';
import {
  cancelJob,
  createJob,
  getInvalidRecords,
  getJob,
  listJobsOf,
  retryJob,
} from './data/jobs.ts';
import {
  createIndex,
  deleteIndex,
  getIndex,
  getMeta,
  listData,
  timeSeriesInventory,
  timeSeriesMetadata,
} from './read/lists.ts';
import { loadData, loadDataset } from './data/load.ts';
import { discardQuarantine, listQuarantine, releaseQuarantine } from './data/quarantine.ts';
import { queryData, timeSeries } from './read/read.ts';
import { writeRecord } from './data/records.ts';
import { listObjects } from './sources/buckets.ts';
import { generateSchema, sampleSource, schemaOfSource } from './sources/samples.ts';
import { openApiDocument, status } from './read/status.ts';
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  runSchedule,
} from './sources/schedules.ts';
import { getSignedToken, signToken } from './accounts/signing.ts';
import {
  changeSource,
  createSource,
  deleteSource,
  getSource,
  listSourcesOf,
} from './sources/sources.ts';
import { postSqlQuery, sqlQuery } from './read/sql.ts';
import { dataPoint, dataPoints } from './read/dataPoints.ts';
import {
  identifierLists,
  referenceList,
  search,
  symbolsOf,
  symbolsOfKind,
  tradingDays,
  venues,
} from './read/refData.ts';
import { marketVolume, stock, stockBatch } from './read/stock.ts';
import {
  changeToken,
  createToken,
  disableToken,
  listTokens,
  rotateToken,
} from './accounts/tokens.ts';
import { getChangelog } from './read/changelog.ts';
import { EXCHANGE_ENDPOINTS } from './read/exchange.ts';
import { MONEY_ENDPOINTS } from './read/money.ts';
import { REPLAYS } from './read/replays.ts';
import { STREAMS } from './read/streams.ts';
import { listChanges, listVersions } from './read/versions.ts';
import {
  callPublished,
  deletePublished,
  listPublished,
  publishQuery,
  workspaceOpenApi,
} from './read/published.ts';
import { deleteView, getView, listViews, saveView } from './read/views.ts';
import { listAlerts, listDeliveries, redeliverAlert, ruleSecret, whyRule } from './rules/alerts.ts';
import {
  backtestRule,
  createRule,
  deleteRule,
  listRules,
  pauseRule,
  resumeRule,
  ruleInfo,
  ruleOutput,
  rulesLookup,
  rulesSchema,
} from './rules/rules.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooksOf,
} from './sources/webhooks.ts';
import { changeWorkspace, createWorkspace, getLogs, listWorkspaces } from './data/workspaces.ts';

const ROWS: readonly AnyEndpoint[] = [
  status,
  openApiDocument(() => ENDPOINTS),
  getChangelog,
  timeSeriesInventory,
  timeSeriesMetadata,
  listFiles,
  getFileInfo,
  downloadFile,
  getFileOnce,
  listRecordings,
  timeSeries,
  listData,
  queryData,
  stockBatch,
  stock,
  marketVolume,
  tradingDays,
  ...identifierLists,
  referenceList,
  symbolsOfKind,
  symbolsOf,
  venues,
  search,
  dataPoints,
  dataPoint,
  ...MONEY_ENDPOINTS,
  ...EXCHANGE_ENDPOINTS,
  ...STREAMS,
  ...REPLAYS,
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
  loadDataset,
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
  listObjects,
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
  rulesSchema,
  rulesLookup,
  backtestRule,
  createRule,
  pauseRule,
  resumeRule,
  listRules,
  ruleInfo,
  ruleOutput,
  listAlerts,
  listDeliveries,
  redeliverAlert,
  ruleSecret,
  whyRule,
  deleteRule,
  createWebhook,
  getWebhook,
  changeWebhook,
  deleteWebhook,
  listExportsOf,
  listOwnFileTypes,
  saveType,
  deleteType,
  listPublishedFiles,
  publishFile,
  publishMadeFile,
  withdrawFile,
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
  getAllowance,
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
  listAccountTokens,
  createAccountToken,
  changeAccountToken,
  rotateAccountToken,
  getAudit,
  getOperatorStatus,
  rotateDataKey,
  verify,
  verifyFiles,
  heal,
  backUp,
];

export const ENDPOINTS: readonly AnyEndpoint[] = ROWS.map(withFilling).map(withAnswerForms);
