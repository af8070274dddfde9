// Checks that every answer must pass, for any request.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { localDisk } from '../../../../store/base/disk.ts';
import { loaded, read } from '../../../base/client.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

interface Suspect {
  readonly status: number;
  readonly body: string;
}

/** Words that only a fault of the product puts into an answer. */
const INNARDS = [
  'INTERNAL Error',
  'Assertion',
  'FATAL',
  'node_modules',
  '.ts:',
  'Cannot read prop',
  'is not a function',
  'is not iterable',
  'ended in ERROR: null',
  '[object Object]',
  'Maximum call stack',
  'Unexpected token',
  'Binder Error',
  'Parser Error',
  'Catalog Error',
  'Out of Memory',
  'SET threads',
  'Invalid Input Error',
  'Invalid Error',
  'IO Error',
  'TProtocol',
  'Conversion Error',
  'maximum_object_size',
  'typed array',
  'out of bounds',
  'TypeError',
  'RangeError',
  'incorrect header',
  'read_json',
  'read_parquet',
] as const;
/** Words of DuckDB that are only allowed in answers to queries. */
const OF_QUERIES = ['Malformed JSON', 'read_csv'] as const;

/** The fault of an answer to untrusted input; undefined if it has none. */
export function faultOf(
  { status, body }: Suspect,
  folder: string,
  of: 'file' | 'query' = 'file',
): string | undefined {
  if (status === 0) return 'no answer';
  if (status >= 500) return `status ${status}: ${body.slice(0, 500)}`;
  if (status >= 400 && body.trim() === '') return `status ${status} with an empty body`;
  if (body.includes(folder)) return `the answer names our folder: ${body.slice(0, 500)}`;
  if (status < 400) return undefined;
  const words = of === 'file' ? [...INNARDS, ...OF_QUERIES] : INNARDS;
  const word = words.find((innard) => body.includes(innard));
  return word === undefined ? undefined : `the refusal contains ${word}: ${body.slice(0, 500)}`;
}

/** A server with a dataset that no fuzzing touches, and the bytes that it returns. */
export interface Arena extends AsyncDisposable {
  readonly server: TestServer;
  readonly port: number;
  /** Faults of the server after the run; empty if it has none. */
  faults(): Promise<readonly string[]>;
}

const UNTOUCHED = '/data/WS/UNTOUCHED?limit=100';

export async function openArena(): Promise<Arena> {
  const loose: string[] = [];
  // The test runner survives errors that would end a server: uncaught ones are recorded here.
  const note = (error: unknown): void => void loose.push(`uncaught ${String(error)}`);
  process.on('uncaughtExceptionMonitor', note);
  process.on('unhandledRejection', note);
  const server = await startServer();
  const rows = Array.from({ length: 50 }, (_, at) => `K${at % 5},2024-01-${10 + (at % 19)},${at}`);
  await loaded(server, 'UNTOUCHED', `symbol,date,v\n${rows.join('\n')}\n`);
  const bytes = await read(server, UNTOUCHED);
  assert.ok(bytes.length > 500);
  const faults = async (): Promise<readonly string[]> => {
    const problems = [...loose];
    const status = await fetch(`${server.base}/v1/status`);
    if (!(await status.text()).includes('"up"')) problems.push(`the server is ${status.status}`);
    const now = await read(server, UNTOUCHED);
    if (now !== bytes) problems.push(`another dataset answers other bytes: ${now.slice(0, 200)}`);
    return [...problems, ...(await remains(server.folder))];
  };
  const port = Number(new URL(server.base).port);
  const close = async (): Promise<void> => {
    await server.close();
    process.off('uncaughtExceptionMonitor', note);
    process.off('unhandledRejection', note);
  };
  return { server, port, faults, [Symbol.asyncDispose]: close };
}

/** Time limit for a server to become idle: flushes have to end, which takes longer on a loaded machine. */
const IDLE_MS = 30_000;

/** Files that an idle server should have removed. */
export async function remains(folder: string): Promise<readonly string[]> {
  const left = async (): Promise<readonly string[]> => {
    const parts = ['tmp', 'spool'].map((part) => join(folder, part));
    const files = parts.map(async (part) =>
      (await localDisk.list(part)).map((name) => join(part, name)),
    );
    return (await Promise.all(files)).flat();
  };
  for (let ms = 0; ms < IDLE_MS && (await left()).length > 0; ms += 100) await sleep(100);
  return (await left()).map((name) => `left behind: ${name}`);
}
