// Origins of data for CORE: a local file, or a data source.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Reading } from '../../pipeline/bytes/reading.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { duplicatesQuery, inQuery } from '../data/readingOptions.ts';
import type { CallData } from '../connect/dataApi.ts';
import type { CallJson } from '../connect/workspaceApi.ts';
import type { DryRun } from './corePreview.ts';
import { findSourceId } from './sources.ts';
import { symbolOfFile } from './fileSymbol.ts';
import { noFileSentence } from '../connect/inputFile.ts';

export interface LoadOptions {
  readonly duplicates?: string;
  readonly dateOrder?: string;
  readonly maxErrors?: string;
}

export interface Origin {
  /** The name in messages. */
  readonly name: string;
  /** The symbol in its name. */
  readonly symbol: string | undefined;
  readonly dryRun: (reading: Reading) => Promise<DryRun>;
  /** Submits the load and returns the id of its job. */
  readonly load: (reading: Reading) => Promise<string>;
  /** The id of a source; undefined for a file, which no schedule reads. */
  readonly sourceId?: string;
}

interface OriginContext {
  /** The input. */
  readonly id: string;
  readonly folder: string;
  readonly options: LoadOptions;
  readonly call: CallJson;
  readonly callData: CallData;
}

/** @throws Failure NotFound if there is neither a file nor a source of the name */
export async function openOrigin(originName: string, context: OriginContext): Promise<Origin> {
  if (originName === '-') {
    const rule = 'core load previews a file before it loads it';
    throw new Failure('InvalidParameter', `${rule}: save the standard input as a file`);
  }
  const path = resolve(context.folder, originName);
  const isFile = await stat(path).then(
    (info) => info.isFile(),
    () => false,
  );
  return isFile ? fileOrigin(path, context) : sourceOrigin(originName, context);
}

interface SubmittedJob {
  readonly jobId: string;
}

function fileOrigin(path: string, { callData, id, options }: OriginContext): Origin {
  const post = async (reading: Reading, isDry: boolean): Promise<unknown> => {
    const query = queryOf(reading, options);
    if (isDry) query.set('dryRun', 'true');
    const where = `/data/${CORE}/${id}?${query}`;
    const body = createReadStream(path);
    const answer = await callData({ method: 'POST', path: where, body });
    return JSON.parse(await text(answer.body));
  };
  return {
    name: basename(path),
    symbol: symbolOfFile(path),
    dryRun: async (reading) => (await post(reading, true)) as DryRun,
    load: async (reading) => ((await post(reading, false)) as SubmittedJob).jobId,
  };
}

function queryOf(reading: Reading, options: LoadOptions): URLSearchParams {
  const { dateOrder, duplicates, maxErrors } = options;
  const query = new URLSearchParams(duplicatesQuery(duplicates));
  if (dateOrder !== undefined) query.set('dateOrder', dateOrder);
  if (maxErrors !== undefined) query.set('maximumValidationErrors', maxErrors);
  for (const [name, value] of Object.entries(reading)) query.set(name, inQuery(name, value));
  return query;
}

async function sourceOrigin(
  originName: string,
  { call, id, options }: OriginContext,
): Promise<Origin> {
  const sourceId = await findSourceId(call, originName).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.type !== 'NotFound') throw error;
    const rule = `and no data source of ${CORE} (tapedeck source add … --workspace ${CORE})`;
    throw new Failure('NotFound', `${noFileSentence(originName)}, ${rule}`);
  });
  const order = (reading: Reading) => ({ ...loadMembers(options), datasetId: id, reading });
  const post = (query: string, reading: Reading): Promise<unknown> =>
    call('POST', `/jobs/ingest${query}`, { ...order(reading), dataSourceId: sourceId });
  return {
    name: originName,
    symbol: undefined,
    dryRun: async (reading) => (await post('?dryRun=true', reading)) as DryRun,
    load: async (reading) => ((await post('', reading)) as SubmittedJob).jobId,
    sourceId,
  };
}

/** Returns members of the body of a job, or of a schedule. */
export function loadMembers({ dateOrder, duplicates, maxErrors }: LoadOptions): object {
  return {
    ...duplicatesQuery(duplicates),
    ...(dateOrder === undefined ? {} : { dateOrder }),
    ...(maxErrors === undefined ? {} : { maximumValidationErrors: Number(maxErrors) }),
  };
}
