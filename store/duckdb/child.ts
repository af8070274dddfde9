// A DuckDB child process. It runs one request at a time on a locked instance of the request's scope.
// Its only state is a few warm instances; the parent may kill it at any time.
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance, DuckDBResult } from '@duckdb/node-api';
import { digestFile } from '../base/fileDigest.ts';
import { Failure, reasonOf } from '../base/failure.ts';
import { endWithParent, sendToParent } from '../base/parentProcess.ts';
import { isIncompleteResult, rethrowReason } from './chunks.ts';
import { fileBody, bufferedBody, parquetBody } from './fileBody.ts';
import { blankInstance, trackProgress, lockedInstance, chooseThreads } from './instance.ts';
import { JobInstances } from './jobInstance.ts';
import type {
  Answer,
  Body,
  BodyFormat,
  Bound,
  FromChild,
  Request,
  Row,
  Scope,
  ToChild,
} from './protocol.ts';
import { describeColumns, renderBody, renderPages } from './render.ts';
import { identifier } from './sqlText.ts';
import { runOne, streamOne } from './statement.ts';

/** Warm instances, evicted by least recent use: 3 MB each, and the Parquet footers they have read. */
const INSTANCES_MAX = 12;
/** Files of which one instance caches the footers: with more it is replaced by a new one. */
const FILES_MAX = 1_000;
/** Interval of memory and progress reports while a statement runs. */
const REPORT_INTERVAL_MS = 50;

interface WarmInstance {
  readonly instance: DuckDBInstance;
  readonly files: Set<string>;
}

const instances = new Map<string, WarmInstance>();
/** An instance that is created ahead, while no request waits. */
let spare: Promise<DuckDBInstance> | undefined = blankInstance();
const jobs = new JobInstances({ blank: takeSpare, onNoneShared: makeSpare });
let running: { readonly id: number; readonly connection: DuckDBConnection } | undefined;
/** Id of the last interrupted request, which may not have a connection yet. */
let interrupted = -1;

const report = (message: FromChild): void => sendToParent(message);

process.on('message', (message: ToChild) => {
  if (message.kind === 'request') return void serve(message.request);
  interrupted = message.id;
  if (running?.id === message.id) running.connection.interrupt();
});
endWithParent();

report({ kind: 'started' });

async function serve(request: Request): Promise<void> {
  const timer = setInterval(() => reportState(request), REPORT_INTERVAL_MS);
  try {
    report({ kind: 'answer', id: request.id, answer: await answer(request) });
  } catch (error) {
    const type = error instanceof Failure ? error.type : 'SystemError';
    report({ kind: 'failure', id: request.id, type, detail: reasonOf(error) });
  } finally {
    clearInterval(timer);
    running = undefined;
    // With a shared instance the next request most likely uses it.
    if (!jobs.hasShared) makeSpare();
  }
}

function makeSpare(): void {
  spare ??= blankInstance();
}

function takeSpare(): Promise<DuckDBInstance> {
  const instance = spare ?? blankInstance();
  spare = undefined;
  return instance;
}

function reportState(request: Request): void {
  report({ kind: 'memory', bytes: process.memoryUsage.rss() });
  if (!request.progress || running === undefined) return;
  const percent = Math.min(99, Math.max(0, Math.floor(running.connection.progress.percentage)));
  report({ kind: 'progress', id: request.id, percent });
}

async function answer(request: Request): Promise<Answer> {
  if (request.answer === 'contents') {
    const contents = [];
    for (const path of request.scope.files) contents.push({ ...(await digestFile(path)) });
    return { kind: 'rows', rows: [contents] };
  }
  if (request.scope.folder === undefined || request.scope.isKept === true) {
    const instance = await warmInstance(request.scope);
    const connection = await instance.connect();
    return runRequest(connection, request).finally(() => connection.closeSync());
  }
  return jobs.run(request.scope, (connection) => runRequest(connection, request));
}

async function runRequest(connection: DuckDBConnection, request: Request): Promise<Answer> {
  running = { id: request.id, connection };
  if (interrupted === request.id) throw new Failure('TimedOut', 'interrupted');
  if (request.progress) await trackProgress(connection);
  const last = request.statements.at(-1) ?? '';
  const before = [];
  for (const [at, statement] of request.statements.slice(0, -1).entries()) {
    const rows = await runRows(connection, statement, []);
    before.push(rows);
    if (at !== request.endsAt || firstValue(rows) > 0) continue;
    const skipped = request.statements.slice(at + 1).map((): readonly Row[] => []);
    return { kind: 'rows', rows: [...before, ...skipped] };
  }
  try {
    return await runLast(connection, last, request, before);
  } catch (error) {
    if (!isIncompleteResult(error) || interrupted === request.id) throw error;
    await rethrowReason(connection, last, request.parameters);
    throw error;
  }
}

/** The first value of the first row. */
const firstValue = ([row = {}]: readonly Row[]): number => Number(Object.values(row)[0] ?? 0);

/** @param before rows of the statements before the last */
async function runLast(
  connection: DuckDBConnection,
  last: string,
  request: Request,
  before: readonly (readonly Row[])[],
): Promise<Answer> {
  const { answer, parameters } = request;
  if (answer === 'rows') {
    return { kind: 'rows', rows: [...before, await runRows(connection, last, parameters)] };
  }
  if (answer === 'contents') throw new Failure('SystemError', 'contents are no statement');
  if (answer === 'pages' || answer === 'columns') {
    const result = await streamOne(connection, last, parameters);
    if (answer === 'pages') return { kind: 'pages', pages: await renderPages(result) };
    return { kind: 'rows', rows: [describeColumns(result)] };
  }
  return { kind: 'body', body: await renderLast(connection, last, answer, request) };
}

async function renderLast(
  connection: DuckDBConnection,
  query: string,
  format: BodyFormat,
  { file, parameters, scope: { folder = '' } }: Request,
): Promise<Body> {
  if (file !== undefined && format !== 'arrow') {
    const { fewRows, name, ...limits } = file;
    const target = { query, parameters, path: join(folder, name), ...limits };
    // Only texts may be returned as bytes: to buffer the rows of a Parquet file would be a useless copy.
    return fewRows === undefined || format === 'parquet'
      ? fileBody(connection, { ...target, format })
      : bufferedBody(connection, { ...target, format }, fewRows);
  }
  if (format === 'parquet') return parquetBody(connection, query, parameters, folder);
  const result = await streamOne(connection, query, parameters);
  if (format !== 'arrow') return renderBody(result, format);
  // Loaded on first use: it takes 0.15 s and 22 MB.
  const { arrowCasts, writeArrowFile, renderArrow } = await import('./arrow.ts');
  const render = (rows: DuckDBResult): Promise<Body> =>
    file === undefined
      ? renderArrow(rows)
      : writeArrowFile(rows, join(folder, file.name), file.bytesMax);
  const casts = arrowCasts(result);
  if (casts === undefined) return render(result);
  const names = result.columnNames();
  const list = casts.map((type, at) => {
    const value = type === '' ? `c${at}` : `CAST(c${at} AS ${type})`;
    return `${value} AS ${identifier(names[at] ?? '')}`;
  });
  const places = casts.map((_, at) => `c${at}`).join(', ');
  const cast = `SELECT ${list.join(', ')} FROM (${query}) AS answer(${places})`;
  return render(await streamOne(connection, cast, parameters));
}

async function runRows(
  connection: DuckDBConnection,
  statement: string,
  parameters: readonly Bound[],
): Promise<readonly Row[]> {
  return (await runOne(connection, statement, parameters)).getRowObjectsJson();
}

async function warmInstance(scope: Scope): Promise<DuckDBInstance> {
  const { files, folders } = scope;
  const key = JSON.stringify(folders === undefined ? scope : { ...scope, files: [] });
  const cached = instances.get(key);
  const isFull = cached !== undefined && cached.files.size > FILES_MAX;
  if (isFull) closeWarm(key);
  const warm = cached === undefined || isFull ? await createWarm(scope) : cached;
  for (const file of folders === undefined ? [] : files) warm.files.add(file);
  instances.delete(key);
  instances.set(key, warm);
  const [oldest] = instances.keys();
  if (instances.size > INSTANCES_MAX && oldest !== undefined) closeWarm(oldest);
  return warm.instance;
}

function closeWarm(key: string): void {
  instances.get(key)?.instance.closeSync();
  instances.delete(key);
}

async function createWarm(scope: Scope): Promise<WarmInstance> {
  const adjusted = { ...scope, threads: await chooseThreads(scope) };
  return { instance: await lockedInstance(adjusted, takeSpare()), files: new Set() };
}
