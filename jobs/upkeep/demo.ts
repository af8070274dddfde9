// The demo workspace: ordinary ingestion jobs for files of the npm package vega-datasets.
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import { createWorkspace } from '../../store/lake/datasetEdits.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Runner } from '../run/runner.ts';

const DEMO_WORKSPACE = 'DEMO';

interface Demo {
  readonly file: string;
  readonly dataset: string;
  readonly mapping: ColumnMapping;
}

/** The three million flights come last: they load in the background while the others can be queried. */
const DEMOS: readonly Demo[] = [
  { file: 'stocks.csv', dataset: 'STOCKS', mapping: { key: 'symbol', date: 'date' } },
  { file: 'sp500-2000.csv', dataset: 'SP500', mapping: { date: 'date' } },
  { file: 'us-employment.csv', dataset: 'US_EMPLOYMENT', mapping: { date: 'month' } },
  {
    file: 'flights-3m.parquet',
    dataset: 'FLIGHTS',
    mapping: { key: 'origin', subkey: 'destination', date: 'date' },
  },
];

/**
 * Creates the workspace and queues the jobs in the order of the table, without waiting for them. A start that
 * was killed halfway repeats it: every record is loaded only once.
 */
export async function loadDemo(
  lake: Lake,
  runner: Runner,
  accountId: string,
  nowMs: number,
): Promise<readonly string[]> {
  const existing = lake.directory.workspace(DEMO_WORKSPACE);
  const { workspace } = existing ?? (await createWorkspace(lake, DEMO_WORKSPACE, accountId, nowMs));
  const jobs: string[] = [];
  // The package exports its built script only; its data folder is beside that of the script.
  const script = fileURLToPath(import.meta.resolve('vega-datasets'));
  const folder = join(dirname(script), '..', 'data');
  for (const { file, dataset, mapping } of DEMOS) {
    const path = join(folder, file);
    const { size } = await stat(path);
    const order = { path, bytes: size, ownFile: false, accountId, workspace, dataset, mapping };
    const source = `vega-datasets ${file}`;
    const rejectsMax = Number.MAX_SAFE_INTEGER;
    jobs.push(await runner.submit({ ...order, source, duplicates: 'ignore', rejectsMax }));
  }
  return jobs;
}
