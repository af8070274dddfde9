// Starts a server to measure and fills datasets of daily closes.
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTapedeck, type Tapedeck } from '../../app/main.ts';
import { createWorkspace } from '../../store/lake/datasetEdits.ts';
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import { readSettings } from '../../store/base/settings/settings.ts';
import type { RequestSpec } from '../http/order.ts';
import { bareDuckDb } from './measure.ts';
import type { Core, Seams } from '../../app/core.ts';

/**
 * Number of keys of a filled dataset: `S0000` to `S4999`, with one record per key and day from 2000-01-01.
 */
export const SYMBOLS = 5_000;

export const symbolOf = (at: number): string => `S${String(at).padStart(4, '0')}`;

/**
 * Starts a server without logs and demo data on its own folder, with workspace WS.
 * @param hopKey signing key of nodes that forward to it
 */
export async function startBench(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
  seams: Seams = {},
  isNew = true,
  hopKey?: string,
): Promise<Tapedeck> {
  const tapedeck = await startTapedeck(
    readSettings({
      TAPEDECK_DATA: folder,
      TAPEDECK_PORT: '0',
      TAPEDECK_DEMO: 'off',
      TAPEDECK_LOG: 'silent',
      TAPEDECK_RATE_LIMIT: 'off',
      ...settings,
    }),
    seams,
    hopKey === undefined ? undefined : { servers: {}, hopKey },
  );
  if (isNew) await createWorkspace(tapedeck.services.lake, 'WS', tapedeck.accountId, 0);
  return tapedeck;
}

/** Loads a file into a dataset of WS by a job; returns the number of ingested records. */
export async function loadFile(
  { services, accountId }: Core,
  path: string,
  dataset: string,
  mapping?: ColumnMapping,
): Promise<number> {
  const { size: bytes } = await stat(path);
  const order = { path, bytes, ownFile: false, accountId, workspace: 'WS', dataset };
  const how = { duplicates: 'ignore', rejectsMax: 0, ...(mapping ? { mapping } : {}) } as const;
  const { runner } = services;
  const job = await runner.ended(await runner.submit({ ...order, ...how }));
  if (job.status !== 'INGESTED') throw new Error(String(job.error));
  return job.records_ingested;
}

/** Fills a dataset with `rows` records of symbol, date, close, volume, through `folder`. */
export async function fillDaily(
  tapedeck: Tapedeck,
  folder: string,
  dataset: string,
  rows: number,
  symbols = SYMBOLS,
): Promise<void> {
  const path = join(folder, `${dataset}.parquet`);
  await bareDuckDb(`COPY (SELECT 'S' || lpad((i % ${symbols})::VARCHAR, 4, '0') AS symbol,
    (DATE '2000-01-01' + (i // ${symbols})::INTEGER)::DATE AS date,
    round(50 + random() * 100, 2) AS close, (random() * 1000000)::BIGINT AS volume
    FROM range(${rows}) t(i)) TO '${path}' (FORMAT parquet)`);
  await loadFile(tapedeck, path, dataset, { key: 'symbol', date: 'date' });
  await writeFile(path, '');
}

/** Fills a dataset with `rows` minute records of symbol, date, close, volume for the same keys. */
export async function fillMinutes(
  tapedeck: Tapedeck,
  folder: string,
  dataset: string,
  rows: number,
): Promise<void> {
  const path = join(folder, `${dataset}.parquet`);
  await bareDuckDb(`COPY (SELECT 'S' || lpad((i % ${SYMBOLS})::VARCHAR, 4, '0') AS symbol,
    TIMESTAMP '2024-03-04 14:30:00' + to_minutes((i // ${SYMBOLS})::BIGINT) AS date,
    round(50 + random() * 100, 2) AS close, (random() * 1000000)::BIGINT AS volume
    FROM range(${rows}) t(i)) TO '${path}' (FORMAT parquet)`);
  await loadFile(tapedeck, path, dataset, { key: 'symbol', date: 'date' });
  await writeFile(path, '');
}

/** Builds a load request of CSV into a dataset of WS that replaces records and waits. */
export const loadRequest = (dataset: string, csv: string, token: string): RequestSpec => {
  const how = 'wait=true&duplicateKeyHandling=replace&key=symbol&date=date';
  const path = `/v1/data/WS/${dataset}?${how}&token=${token}`;
  return { path, method: 'POST', body: csv };
};

/** Sends a load from this process, without measuring it. */
export async function send(tapedeck: Tapedeck, dataset: string, csv: string): Promise<void> {
  const { path } = loadRequest(dataset, csv, await findToken(tapedeck, 'secret'));
  const answer = await fetch(`${tapedeck.base}${path}`, { method: 'POST', body: csv });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Returns the local paths of a dataset's files. */
export async function listFiles(
  { services }: Tapedeck,
  dataset: string,
): Promise<readonly string[]> {
  const { folder, lake } = services;
  const entry = lake.directory.dataset('WS', dataset);
  const table = entry === undefined ? undefined : await lake.table(entry.tableId);
  return (table?.files ?? []).map((file) => join(folder.lake, file.path));
}

/** Returns the first account's token of a kind. */
export async function findToken(
  { services, accountId }: Tapedeck,
  tokenKind: 'publishable' | 'secret',
): Promise<string> {
  const tokens = await services.accounts.tokens(accountId);
  return tokens.find(({ kind, test }) => kind === tokenKind && !test)?.text ?? '';
}
