// A DuckDB child process: one request at a time, on a locked instance of the request's scope.
// It remembers nothing but a few warm instances; the parent may kill it at any moment.
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance, DuckDBResult } from '@duckdb/node-api';
import { contentOf } from '../base/contents.ts';
import { Failure, reasonOf } from '../base/failure.ts';
import { endWithParent, sendToParent } from '../base/parentProcess.ts';
import { isBroken, whyBroken } from './chunks.ts';
import { fileBody, keptBody, parquetBody } from './fileBody.ts';
import { blankInstance, keepProgress, lockedInstance, threadsFor } from './instance.ts';
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
import { columnsOf, renderBody, renderPages } from './render.ts';
import { identifier } from './sqlText.ts';
import { runOne, streamOne } from './statement.ts';

/** Warm instances kept, the ones used last: 3 MB each, and the Parquet footers that it read. */
const INSTANCES_MAX = 12;
/** Files of which one instance keeps the footers: with more it gives way to a new one. */
const FILES_MAX = 1_000;
/** How often memory and progress are told while a statement runs. */
const TELL_MS = 50;

interface Warm {
  readonly instance: DuckDBInstance;
  readonly files: Set<string>;
}

const instances = new Map<string, Warm>();
/** Made while nobody waits. */
let spare: Promise<DuckDBInstance> | undefined = blankInstance();
const jobs = new JobInstances({ blank: takeSpare, gone: makeSpare });
let running: { readonly id: number; readonly connection: DuckDBConnection } | undefined;
/** The request that was interrupted last, also one that had no connection yet. */
let interrupted = -1;

const tell = (message: FromChild): void => sendToParent(message);

process.on('message', (message: ToChild) => {
  if (message.kind === 'request') return void serve(message.request);
  interrupted = message.id;
  if (running?.id === message.id) running.connection.interrupt();
});
endWithParent();

tell({ kind: 'started' });

async function serve(request: Request): Promise<void> {
  const timer = setInterval(() => tellState(request), TELL_MS);
  try {
    tell({ kind: 'answer', id: request.id, answer: await answer(request) });
  } catch (error) {
    const type = error instanceof Failure ? error.type : 'SystemError';
    tell({ kind: 'failure', id: request.id, type, detail: reasonOf(error) });
  } finally {
    clearInterval(timer);
    running = undefined;
    // Whoever has one kept asks next, most often.
    if (!jobs.isKept) makeSpare();
  }
}

function makeSpare(): void {
  spare ??= blankInstance();
}

function takeSpare(): Promise<DuckDBInstance> {
  const taken = spare ?? blankInstance();
  spare = undefined;
  return taken;
}

function tellState(request: Request): void {
  tell({ kind: 'memory', bytes: process.memoryUsage.rss() });
  if (!request.progress || running === undefined) return;
  const percent = Math.min(99, Math.max(0, Math.floor(running.connection.progress.percentage)));
  tell({ kind: 'progress', id: request.id, percent });
}

async function answer(request: Request): Promise<Answer> {
  if (request.answer === 'contents') {
    const contents = [];
    for (const path of request.scope.files) contents.push({ ...(await contentOf(path)) });
    return { kind: 'rows', rows: [contents] };
  }
  if (request.scope.folder === undefined || request.scope.kept === true) {
    const instance = await warmInstance(request.scope);
    const connection = await instance.connect();
    return answerOn(connection, request).finally(() => connection.closeSync());
  }
  return jobs.run(request.scope, (connection) => answerOn(connection, request));
}

async function answerOn(connection: DuckDBConnection, request: Request): Promise<Answer> {
  running = { id: request.id, connection };
  if (interrupted === request.id) throw new Failure('TimedOut', 'interrupted');
  if (request.progress) await keepProgress(connection);
  const last = request.statements.at(-1) ?? '';
  const before = [];
  for (const [at, statement] of request.statements.slice(0, -1).entries()) {
    const rows = await rowsOf(connection, statement, []);
    before.push(rows);
    if (at !== request.endsAt || countOf(rows) > 0) continue;
    const unasked = request.statements.slice(at + 1).map((): readonly Row[] => []);
    return { kind: 'rows', rows: [...before, ...unasked] };
  }
  try {
    return await lastOn(connection, last, request, before);
  } catch (error) {
    if (!isBroken(error) || interrupted === request.id) throw error;
    await whyBroken(connection, last, request.parameters);
    throw error;
  }
}

/** The first value of the first row. */
const countOf = ([row = {}]: readonly Row[]): number => Number(Object.values(row)[0] ?? 0);

/** @param before rows of the statements before the last */
async function lastOn(
  connection: DuckDBConnection,
  last: string,
  request: Request,
  before: readonly (readonly Row[])[],
): Promise<Answer> {
  const { answer, parameters } = request;
  if (answer === 'rows') {
    return { kind: 'rows', rows: [...before, await rowsOf(connection, last, parameters)] };
  }
  if (answer === 'contents') throw new Failure('SystemError', 'contents are no statement');
  if (answer === 'pages' || answer === 'columns') {
    const result = await streamOne(connection, last, parameters);
    if (answer === 'pages') return { kind: 'pages', pages: await renderPages(result) };
    return { kind: 'rows', rows: [columnsOf(result)] };
  }
  return { kind: 'body', body: await bodyOn(connection, last, answer, request) };
}

async function bodyOn(
  connection: DuckDBConnection,
  query: string,
  format: BodyFormat,
  { file, parameters, scope: { folder = '' } }: Request,
): Promise<Body> {
  if (file !== undefined && format !== 'arrow') {
    const { fewRows, name, ...limits } = file;
    const wanted = { query, parameters, path: join(folder, name), ...limits };
    // Only texts come as bytes: to keep the rows of a Parquet file first is a copy for nothing.
    return fewRows === undefined || format === 'parquet'
      ? fileBody(connection, { ...wanted, format })
      : keptBody(connection, { ...wanted, format }, fewRows);
  }
  if (format === 'parquet') return parquetBody(connection, query, parameters, folder);
  const result = await streamOne(connection, query, parameters);
  if (format !== 'arrow') return renderBody(result, format);
  // When it is first asked for: it takes 0.15 s and 22 MB to load.
  const { arrowCasts, arrowFile, renderArrow } = await import('./arrow.ts');
  const render = (rows: DuckDBResult): Promise<Body> =>
    file === undefined
      ? renderArrow(rows)
      : arrowFile(rows, join(folder, file.name), file.bytesMax);
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

async function rowsOf(
  connection: DuckDBConnection,
  statement: string,
  parameters: readonly Bound[],
): Promise<readonly Row[]> {
  return (await runOne(connection, statement, parameters)).getRowObjectsJson();
}

async function warmInstance(scope: Scope): Promise<DuckDBInstance> {
  const { files, folders } = scope;
  const key = JSON.stringify(folders === undefined ? scope : { ...scope, files: [] });
  const known = instances.get(key);
  const full = known !== undefined && known.files.size > FILES_MAX;
  if (full) closeWarm(key);
  const warm = known === undefined || full ? await unattached(scope) : known;
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

async function unattached(scope: Scope): Promise<Warm> {
  const worth = { ...scope, threads: await threadsFor(scope) };
  return { instance: await lockedInstance(worth, takeSpare()), files: new Set() };
}
