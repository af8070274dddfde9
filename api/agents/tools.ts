// Lists all tools.
import { describeDataset, sampleRecords, searchDatasets } from './datasetTools.ts';
import { getChart, getQuotes, listenOnce, searchSymbols, testRule } from './marketTools.ts';
import { allowance, estimateCost, querySql, readSeries } from './queryTools.ts';
import type { Tool } from './tool.ts';

export const TOOLS: readonly Tool[] = [
  searchDatasets,
  describeDataset,
  sampleRecords,
  estimateCost,
  querySql,
  readSeries,
  searchSymbols,
  getQuotes,
  getChart,
  listenOnce,
  testRule,
  allowance,
];
