// What is loaded into CORE: a file of this machine, or what a data source has.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Reading } from '../../pipeline/bytes/reading.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { duplicatesQuery, inQuery } from '../data/readingOptions.ts';
import type { AskData } from '../reach/dataApi.ts';
import type { AskValue } from '../reach/workspaceApi.ts';
import type { DryRun } from './corePreview.ts';
import { sourceNamed } from './sources.ts';
import { symbolOfFile } from './symbolOfFile.ts';

export interface LoadOptions {
  readonly duplicates?: string;
  readonly dateOrder?: string;
  readonly maxErrors?: string;
}

export interface Origin {
  /** As it is told. */
  readonly name: string;
  /** That its name says. */
  readonly symbol: string | undefined;
  readonly dryRun: (reading: Reading) => Promise<DryRun>;
  /** The id of its job. */
  readonly load: (reading: Reading) => Promise<string>;
  /** The id of a source; undefined for a file, which no schedule reads. */
  readonly sourceId?: string;
}

interface Asking {
  /** The input. */
  readonly id: string;
  readonly folder: string;
  readonly options: LoadOptions;
  readonly ask: AskValue;
  readonly askData: AskData;
}

/** @throws Failure NotFound where there is neither a file nor a source of the name. */
export async function originOf(given: string, asking: Asking): Promise<Origin> {
  if (given === '-') {
    const rule = 'core load looks at a file before it loads it';
    throw new Failure('InvalidParameter', `${rule}: save the standard input as a file`);
  }
  const path = resolve(asking.folder, given);
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  return isFile ? fileOrigin(path, asking) : sourceOrigin(given, asking);
}

interface JobMade {
  readonly jobId: string;
}

function fileOrigin(path: string, { askData, id, options }: Asking): Origin {
  const post = async (reading: Reading, isDry: boolean): Promise<unknown> => {
    const query = queryOf(reading, options);
    if (isDry) query.set('dryRun', 'true');
    const where = `/data/${CORE}/${id}?${query}`;
    const body = createReadStream(path);
    const answer = await askData({ method: 'POST', path: where, body });
    return JSON.parse(await text(answer.body));
  };
  return {
    name: basename(path),
    symbol: symbolOfFile(path),
    dryRun: async (reading) => (await post(reading, true)) as DryRun,
    load: async (reading) => ((await post(reading, false)) as JobMade).jobId,
  };
}

function queryOf(reading: Reading, options: LoadOptions): URLSearchParams {
  const { dateOrder, duplicates, maxErrors } = options;
  const query = new URLSearchParams(duplicatesQuery(duplicates));
  if (dateOrder !== undefined) query.set('dateOrder', dateOrder);
  if (maxErrors !== undefined) query.set('maximumValidationErrors', maxErrors);
  for (const [name, said] of Object.entries(reading)) query.set(name, inQuery(name, said));
  return query;
}

async function sourceOrigin(given: string, { ask, id, options }: Asking): Promise<Origin> {
  const sourceId = await sourceNamed(ask, given).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.type !== 'NotFound') throw error;
    const rule = `and no data source of ${CORE} (tapedeck source add … --workspace ${CORE})`;
    throw new Failure('NotFound', `there is no file ${given}, ${rule}`);
  });
  const order = (reading: Reading) => ({ ...loadingOf(options), datasetId: id, reading });
  const post = (query: string, reading: Reading): Promise<unknown> =>
    ask('POST', `/jobs/ingest${query}`, { ...order(reading), dataSourceId: sourceId });
  return {
    name: given,
    symbol: undefined,
    dryRun: async (reading) => (await post('?dryRun=true', reading)) as DryRun,
    load: async (reading) => ((await post('', reading)) as JobMade).jobId,
    sourceId,
  };
}

/** Members of the body of a job, or of a schedule. */
export function loadingOf({ dateOrder, duplicates, maxErrors }: LoadOptions): object {
  return {
    ...duplicatesQuery(duplicates),
    ...(dateOrder === undefined ? {} : { dateOrder }),
    ...(maxErrors === undefined ? {} : { maximumValidationErrors: Number(maxErrors) }),
  };
}
